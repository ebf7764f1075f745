// SPDX-License-Identifier: Apache-2.0
// rs_msub_tile without a DSP block: r = c - a * b modulo 2^Width; a, b unsigned, c of either sign.
//
//   rows of bits, four at a time --|reg|--> product --|reg|--> c - product --|reg|--> Extra registers
//
// Two additions deep in each stage but where b has more than 16 bits. Latency 3 + Extra; a result every cycle.
module rs_msub_luts #(
  // Bits of a and b; b at most 32.
  parameter int unsigned AWidth = 17,
  parameter int unsigned BWidth = 13,
  // Bits of c and r.
  parameter int unsigned Width  = 44,
  // Registers behind the result.
  parameter int unsigned Extra  = 0
) (
  input  logic              clk_i,
  input  logic [AWidth-1:0] a_i,
  input  logic [BWidth-1:0] b_i,
  input  logic [ Width-1:0] c_i,
  output logic [ Width-1:0] r_o
);

  localparam int unsigned Groups = (BWidth + 3) / 4;
  localparam int unsigned ProductBits = AWidth + BWidth;
  localparam int unsigned GroupBits = AWidth + 4;

  if (BWidth > 32) begin : gen_width_check
    $error("%m: BWidth must be at most 32");
  end

  // Rows in pairs, so that a LUT before each carry takes two of them.
  logic [4*Groups-1:0] b;
  logic [Groups-1:0][GroupBits-1:0] group_q;
  assign b = (4 * Groups)'(b_i);
  for (genvar g = 0; g < Groups; g++) begin : gen_group
    logic [3:0][GroupBits-1:0] row;
    for (genvar i = 0; i < 4; i++) begin : gen_row
      assign row[i] = b[4*g+i] ? GroupBits'(a_i) << i : '0;
    end
    (* keep *) logic [GroupBits-1:0] low, high;
    assign low  = row[0] + row[1];
    assign high = row[2] + row[3];
    always_ff @(posedge clk_i) group_q[g] <= low + high;
  end

  logic [ProductBits-1:0] product, product_q;
  always_comb begin
    product = '0;
    for (int g = 0; g < int'(Groups); g++) product += ProductBits'(group_q[g]) << 4 * g;
  end
  always_ff @(posedge clk_i) product_q <= product;

  logic [Width-1:0] c_late, difference_q;
  rs_delay #(
    .Width (Width),
    .Stages(2)
  ) u_c (
    .clk_i,
    .data_i(c_i),
    .data_o(c_late)
  );
  always_ff @(posedge clk_i) difference_q <= c_late - Width'(product_q);
  rs_delay #(
    .Width (Width),
    .Stages(Extra)
  ) u_result (
    .clk_i,
    .data_i(difference_q),
    .data_o(r_o)
  );

endmodule
