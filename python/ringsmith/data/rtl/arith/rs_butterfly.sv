// SPDX-License-Identifier: Apache-2.0
// One butterfly: Cooley-Tukey, Gentleman-Sande with halving, or one lane of every pointwise instruction.
//
//   u,v --> first sums --> multiplier (y side) --> second sums --> x,y
//           |                                       ^
//           +---- delay of the x side --------------+
//
//   mode            first sums                 second sums                 used for
//   cross=0         x = u;  y = v              x + y*w;     x - y*w        NTT; PMAC (x = u + v*w), PMODMUL (u = 0)
//   cross=1         x = u+v; y = (v-u)/2       x + e0;      y*w + e1       INTT (halve=1: x too; w = -1/w), PMODADD (x)
//   cross=1 sub=1   x = u-v                    x + e0                      PMODSUB (x)
//
// Inputs u, v, w in [0, m); v of a product (cross=0) any word. e0 and e1 in [0, m) come addend_latency = addsub_latency
// + mod_mul_latency later than u, v, w, as do the second sums' mode bits, which travel inside. Outputs are fully
// reduced. product=1 (KeepProduct builds only; u = 0, any v and w) gives x, y = low, high word of v*w instead. Latency:
// butterfly_latency.
module rs_butterfly
  import rs_latency_pkg::*;
#(
  // Bits of a word.
  parameter int unsigned W = 32,
  // 0 Barrett, 1 word-level Montgomery.
  parameter int unsigned MulKind = 0,
  // 0 asic, 1 dsp26x17, 2 dsp18x18, 3 combinational (Barrett only).
  parameter int unsigned MulStyle = 1,
  // Barrett: bits of the smallest modulus, 5 to W.
  parameter int unsigned ModMinBits = 5,
  // Montgomery: the modulus is 1 modulo 2^MontW, 2 to W - 2.
  parameter int unsigned MontW = 8,
  // 1: the unreduced product can be had.
  parameter bit KeepProduct = 1'b0,
  // 1: see rs_mod_montgomery.
  parameter bit StepLuts = 1'b0
) (
  input  logic         clk_i,
  input  logic [W-1:0] modulus_i,
  input  logic [W+2:0] aux_i,
  input  logic [  7:0] mod_bits_i,
  // Mode, valid with u, v, w.
  input  logic         cross_i,
  input  logic         sub_i,
  input  logic         halve_i,
  input  logic         product_i,
  input  logic [W-1:0] u_i,
  input  logic [W-1:0] v_i,
  input  logic [W-1:0] w_i,
  input  logic [W-1:0] e0_i,
  input  logic [W-1:0] e1_i,
  output logic [W-1:0] x_o,
  output logic [W-1:0] y_o
);

  localparam int unsigned SumLatency = 32'(addsub_latency(int'(MulStyle)));
  localparam int unsigned MulLatency = 32'(mod_mul_latency(
    int'(MulKind), int'(MulStyle), int'(W), int'(ModMinBits), int'(MontW)
  ));

  // First sums; without cross each side passes its own operand: u as u + 0, v as (v + v) / 2, which needs no choice
  // between halved and not behind the adder. (Crossed, y is of use to transforms only, and there it is halved.)
  logic [W-1:0] first_x, first_y, w_late;

  rs_mod_addsub #(
    .W(W),
    .MulStyle(MulStyle)
  ) u_first_x (
    .clk_i,
    .modulus_i,
    .sub_i,
    .halve_i,
    .whole_i (1'b0),
    .a_i     (u_i),
    .b_i     (cross_i ? {1'b0, v_i} : '0),
    .result_o(first_x)
  );

  rs_mod_addsub #(
    .W(W),
    .MulStyle(MulStyle),
    .TakeOff(1'b0)
  ) u_first_y (
    .clk_i,
    .modulus_i,
    .sub_i   (cross_i),
    .halve_i (1'b1),
    .whole_i (1'b0),
    .a_i     (v_i),
    .b_i     (cross_i ? {1'b0, u_i} : {1'b0, v_i}),
    .result_o(first_y)
  );

  // Builds of wide words are short of LUTs first, not of flip-flops.
  rs_delay #(
    .Width      (W),
    .Stages     (SumLatency),
    .ShortStages(W > 32 ? 3 : 2)
  ) u_factor (
    .clk_i,
    .data_i(w_i),
    .data_o(w_late)
  );

  // Multiplier and the x side beside it.
  logic [W:0] scaled;
  logic [W-1:0] second_x;
  logic [2*W-1:0] product;
  logic cross_late;

  rs_mod_mul #(
    .W          (W),
    .MulKind    (MulKind),
    .MulStyle   (MulStyle),
    .ModMinBits (ModMinBits),
    .MontW      (MontW),
    .KeepProduct(KeepProduct),
    .StepLuts   (StepLuts)
  ) u_mul (
    .clk_i,
    .modulus_i,
    .aux_i,
    .mod_bits_i,
    .a_i      (first_y),
    .b_i      (w_late),
    .result_o (scaled),
    .product_o(product)
  );

  rs_delay #(
    .Width (W),
    .Stages(MulLatency)
  ) u_side (
    .clk_i,
    .data_i(first_x),
    .data_o(second_x)
  );

  rs_delay #(
    .Width (1),
    .Stages(SumLatency + MulLatency)
  ) u_cross (
    .clk_i,
    .data_i(cross_i),
    .data_o(cross_late)
  );

  // Second sums. A product that is not reduced passes through them as it is.
  logic product_late;
  if (KeepProduct) begin : gen_product
    rs_delay #(
      .Width (1),
      .Stages(SumLatency + MulLatency)
    ) u_product (
      .clk_i,
      .data_i(product_i),
      .data_o(product_late)
    );
  end else begin : gen_no_product
    logic unused_product;
    assign unused_product = product_i;
    assign product_late   = 1'b0;
  end

  // What is added to the x side, which is 0 under a product; what the multiplier's result is added to.
  logic [  W:0] addend;
  logic [W-1:0] base;
  assign addend = product_late ? {1'b0, product[W-1:0]} : cross_late ? {1'b0, e0_i} : scaled;
  assign base   = product_late ? product[2*W-1:W] : cross_late ? e1_i : second_x;

  rs_mod_addsub #(
    .W(W),
    .MulStyle(MulStyle),
    .KeepWhole(KeepProduct)
  ) u_second_x (
    .clk_i,
    .modulus_i,
    .sub_i   (1'b0),
    .halve_i (1'b0),
    .whole_i (product_late),
    .a_i     (second_x),
    .b_i     (addend),
    .result_o(x_o)
  );

  rs_mod_addsub #(
    .W(W),
    .MulStyle(MulStyle),
    .KeepWhole(KeepProduct)
  ) u_second_y (
    .clk_i,
    .modulus_i,
    .sub_i   (!cross_late && !product_late),
    .halve_i (1'b0),
    .whole_i (product_late),
    .a_i     (base),
    .b_i     (product_late ? '0 : scaled),
    .result_o(y_o)
  );

endmodule
