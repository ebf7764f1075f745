// SPDX-License-Identifier: Apache-2.0
// The slots that a unit with one instruction at a time holds, from the cycle after it takes one to that of its end.
module rs_hold
  import rs_core_pkg::*;
#(
  // 0: the build has no such unit; nothing is ever held.
  parameter bit Present = 1'b1
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic                take_i,
  input  logic [MaxSlots-1:0] slots_i,
  input  logic                done_i,
  output logic [MaxSlots-1:0] slots_o,
  output logic                busy_o
);

  if (Present) begin : gen_present
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        slots_o <= '0;
        busy_o  <= 1'b0;
      end else if (take_i) begin
        slots_o <= slots_i;
        busy_o  <= 1'b1;
      end else if (done_i) begin
        slots_o <= '0;
        busy_o  <= 1'b0;
      end
    end
  end else begin : gen_absent
    logic unused_inputs;
    assign unused_inputs = ^{clk_i, rst_ni, take_i, slots_i, done_i};
    assign slots_o = '0;
    assign busy_o  = 1'b0;
  end

endmodule
