// SPDX-License-Identifier: Apache-2.0
// Delay line without reset: data_o is data_i, Stages cycles later.
//
// Short lines are kept in flip-flops; longer ones may map to shift-register LUTs, one a bit, and have no reset on
// purpose.
module rs_delay #(
  // Bits a cycle, 1 or more.
  parameter int unsigned Width = 8,
  // Cycles of delay, 0 (a wire) or more.
  parameter int unsigned Stages = 1,
  // Most stages of a short line.
  parameter int unsigned ShortStages = 2
) (
  input  logic             clk_i,
  input  logic [Width-1:0] data_i,
  output logic [Width-1:0] data_o
);

  if (Width < 1) begin : gen_width_check
    $error("%m: Width must be 1 or more");
  end

  if (Stages == 0) begin : gen_wire
    assign data_o = data_i;
    logic unused_clk;
    assign unused_clk = clk_i;
  end else if (Stages <= ShortStages) begin : gen_short
    (* keep *) logic [Stages-1:0][Width-1:0] line_q;
    always_ff @(posedge clk_i) begin
      line_q[0] <= data_i;
      for (int i = 1; i < int'(Stages); i++) line_q[i] <= line_q[i-1];
    end
    assign data_o = line_q[Stages-1];
  end else begin : gen_line
    logic [Stages-1:0][Width-1:0] line_q;
    always_ff @(posedge clk_i) begin
      line_q[0] <= data_i;
      for (int i = 1; i < int'(Stages); i++) line_q[i] <= line_q[i-1];
    end
    assign data_o = line_q[Stages-1];
  end

endmodule
