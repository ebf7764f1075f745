// SPDX-License-Identifier: Apache-2.0
// AXI4-Lite shell of the 8-point accelerators: registers of spec/ntt8.rdl around one engine.
//
// A write of CONTROL with bit 0 set starts a transform of INPUT; STATUS bit 0 rises when its result stands in OUTPUT.
// Reads and writes take one cycle; a write needs address and data at once and is answered the cycle after. Addresses
// outside the map answer SLVERR, and so do writes of part of a word. INPUT may be rewritten while a transform runs: the
// engine took its copy; CONTROL, MODULUS, BARRETT and TWIDDLE may not (SLVERR). A refused write changes nothing.
module rs_ntt8_axil
  import rs_ntt8_pkg::*;
  import rs_build_pkg::*;
  import rs_latency_pkg::*;
#(
  // VariantCn, VariantPn3, VariantPn1 or VariantPn3d.
  parameter int unsigned Variant = VariantCn,
  // Bits of a word, 14 to 32.
  parameter int unsigned W = 32,
  // Multiplier of the pipelined variant: 0 asic, 1 dsp26x17, 2 dsp18x18.
  parameter int unsigned MulStyle = 1,
  // Bits of the smallest modulus, 5 to W.
  parameter int unsigned ModMinBits = 5
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        s_axil_awvalid_i,
  output logic        s_axil_awready_o,
  input  logic [ 7:0] s_axil_awaddr_i,
  input  logic        s_axil_wvalid_i,
  output logic        s_axil_wready_o,
  input  logic [31:0] s_axil_wdata_i,
  input  logic [ 3:0] s_axil_wstrb_i,
  output logic        s_axil_bvalid_o,
  input  logic        s_axil_bready_i,
  output logic [ 1:0] s_axil_bresp_o,
  input  logic        s_axil_arvalid_i,
  output logic        s_axil_arready_o,
  input  logic [ 7:0] s_axil_araddr_i,
  output logic        s_axil_rvalid_o,
  input  logic        s_axil_rready_i,
  output logic [31:0] s_axil_rdata_o,
  output logic [ 1:0] s_axil_rresp_o
);

  localparam int unsigned Latency = 32'(ntt8_latency(int'(Variant), int'(MulStyle), int'(W), int'(ModMinBits)));
  localparam logic [1:0] Okay = 2'b00;
  localparam logic [1:0] SlvErr = 2'b10;

  logic [W-1:0] modulus_q;
  logic [7:0] mod_bits_q;
  logic [1:0][31:0] barrett_q;
  logic [7:0][W-1:0] twiddle_q, input_q, output_q;
  logic start_q, busy_q, inverse_q, done_q;
  // Cycles since the engine took the operand, and those of the last finished transform.
  logic [7:0] running_q, taken_q;

  logic ready, result_valid;
  logic [7:0][W-1:0] result;
  logic [63:0] barrett;
  assign barrett = barrett_q;

  rs_ntt8_engine #(
    .Variant   (Variant),
    .W         (W),
    .MulStyle  (MulStyle),
    .ModMinBits(ModMinBits)
  ) u_engine (
    .clk_i,
    .rst_ni,
    .modulus_i (modulus_q),
    .mu_i      (barrett[W+2:0]),
    .mod_bits_i(mod_bits_q),
    .twiddle_i (twiddle_q),
    .valid_i   (start_q),
    .ready_o   (ready),
    .inverse_i (inverse_q),
    .data_i    (input_q),
    .valid_o   (result_valid),
    .data_o    (result)
  );

  // Writes.
  logic write, accepted;
  logic [5:0] write_word;
  logic [2:0] write_lane;
  assign write            = s_axil_awvalid_i && s_axil_wvalid_i && (!s_axil_bvalid_o || s_axil_bready_i);
  assign write_word       = s_axil_awaddr_i[7:2];
  assign write_lane       = write_word[2:0];
  assign s_axil_awready_o = write;
  assign s_axil_wready_o  = write;

  logic writable;
  always_comb begin
    unique case (write_word)
      WordControl, WordModulus, WordModulusBits, WordBarrett, WordBarrett + 6'd1: writable = 1'b1;
      default: writable = write_word[5:3] == WordTwiddle[5:3] || write_word[5:3] == WordInput[5:3];
    endcase
  end

  assign accepted = write && writable && s_axil_wstrb_i == 4'hF && (!busy_q || write_word[5:3] == WordInput[5:3]);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      s_axil_bvalid_o <= 1'b0;
      start_q         <= 1'b0;
      busy_q          <= 1'b0;
      done_q          <= 1'b0;
    end else begin
      if (write) s_axil_bvalid_o <= 1'b1;
      else if (s_axil_bready_i) s_axil_bvalid_o <= 1'b0;
      start_q <= (accepted && write_word == WordControl && s_axil_wdata_i[0]) || (start_q && !ready);
      // From the write that starts a transform to its result.
      if (accepted && write_word == WordControl) busy_q <= s_axil_wdata_i[0];
      else if (result_valid) busy_q <= 1'b0;
      if (start_q) done_q <= 1'b0;
      else if (result_valid) done_q <= 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    running_q <= start_q ? 8'd1 : running_q + 8'd1;
    if (result_valid) begin
      output_q <= result;
      taken_q  <= running_q;
    end
    if (write) s_axil_bresp_o <= accepted ? Okay : SlvErr;
    if (accepted) begin
      if (write_word == WordControl) inverse_q <= s_axil_wdata_i[1];
      if (write_word == WordModulus) modulus_q <= s_axil_wdata_i[W-1:0];
      if (write_word == WordModulusBits) mod_bits_q <= s_axil_wdata_i[7:0];
      if (write_word == WordBarrett) barrett_q[0] <= s_axil_wdata_i;
      if (write_word == WordBarrett + 6'd1) barrett_q[1] <= s_axil_wdata_i;
      if (write_word[5:3] == WordTwiddle[5:3]) twiddle_q[write_lane] <= s_axil_wdata_i[W-1:0];
      if (write_word[5:3] == WordInput[5:3]) input_q[write_lane] <= s_axil_wdata_i[W-1:0];
    end
  end

  // Reads. OUTPUT shows a result in the cycle in which it comes, so STATUS and OUTPUT never disagree.
  logic read, readable;
  logic [ 5:0] read_word;
  logic [ 2:0] read_lane;
  logic [31:0] read_data;
  assign read             = s_axil_arvalid_i && (!s_axil_rvalid_o || s_axil_rready_i);
  assign read_word        = s_axil_araddr_i[7:2];
  assign read_lane        = read_word[2:0];
  assign s_axil_arready_o = read;

  always_comb begin
    readable  = 1'b1;
    read_data = '0;
    unique case (read_word)
      WordMagic:          read_data = Magic;
      WordShape:          read_data = {8'h00, 8'(Latency), 4'h0, 4'(Variant), 8'(W)};
      WordStatus:         read_data = {16'h0, taken_q, 7'h0, done_q};
      WordModulus:        read_data = 32'(modulus_q);
      WordModulusBits:    read_data = 32'(mod_bits_q);
      WordBarrett:        read_data = barrett_q[0];
      WordBarrett + 6'd1: read_data = barrett_q[1];
      default: begin
        unique case (read_word[5:3])
          WordTwiddle[5:3]: read_data = 32'(twiddle_q[read_lane]);
          WordInput[5:3]:   read_data = 32'(input_q[read_lane]);
          WordOutput[5:3]:  read_data = 32'(output_q[read_lane]);
          default:          readable = 1'b0;
        endcase
      end
    endcase
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) s_axil_rvalid_o <= 1'b0;
    else if (read) s_axil_rvalid_o <= 1'b1;
    else if (s_axil_rready_i) s_axil_rvalid_o <= 1'b0;
  end

  always_ff @(posedge clk_i) begin
    if (read) begin
      s_axil_rdata_o <= read_data;
      s_axil_rresp_o <= readable ? Okay : SlvErr;
    end
  end

  logic unused_bits;
  assign unused_bits = ^{s_axil_awaddr_i[1:0], s_axil_araddr_i[1:0], barrett[63:W+3]};

`ifndef SYNTHESIS
  logic armed;
  rs_reset_seen u_armed (
    .clk_i,
    .rst_ni,
    .seen_o(armed)
  );
  AnswerStays :
  assert property (@(posedge clk_i) disable iff (!armed) s_axil_rvalid_o && !s_axil_rready_i |=> s_axil_rvalid_o && $stable(
    s_axil_rdata_o
  ))
  else $error("%m: a read answer must stay until it is taken");
  WriteAnswerStays :
  assert property (@(posedge clk_i) disable iff (!armed) s_axil_bvalid_o && !s_axil_bready_i |=> s_axil_bvalid_o && $stable(
    s_axil_bresp_o
  ))
  else $error("%m: a write answer must stay until it is taken");
  ResultIsWanted :
  assert property (@(posedge clk_i) disable iff (!armed) result_valid |-> busy_q)
  else $error("%m: a result comes only to a transform that was started");
`endif

endmodule
