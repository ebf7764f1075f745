// SPDX-License-Identifier: Apache-2.0
// Status of a unit with one instruction at a time that cannot fail: cycles of work, the index of its instruction.
module rs_unit_status #(
  // 0: the build has no such unit; both outputs are 0.
  parameter bit Present = 1'b1
) (
  input  logic        clk_i,
  // The counter starts from 0.
  input  logic        restart_i,
  input  logic        idle_i,
  // An instruction with this index starts.
  input  logic        start_i,
  input  logic [31:0] index_i,
  output logic [63:0] busy_o,
  output logic [31:0] index_o
);

  if (Present) begin : gen_present
    always_ff @(posedge clk_i) begin
      busy_o <= restart_i ? '0 : busy_o + 64'(!idle_i);
      if (start_i) index_o <= index_i;
    end
  end else begin : gen_absent
    logic unused_inputs;
    assign unused_inputs = ^{clk_i, restart_i, idle_i, start_i, index_i};
    assign busy_o  = '0;
    assign index_o = '0;
  end

endmodule
