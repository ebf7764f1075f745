// SPDX-License-Identifier: Apache-2.0
// Reset synchroniser: rst_no falls with rst_ni at once and rises in step with clk_i, Stages edges after rst_ni.
//
// The tops want rst_ni released in step with clk_i; this makes such a reset of any. It is instantiated outside them,
// one for all that shares the clock. Tools that know the attribute keep the stages together.
module rs_reset_sync #(
  // Flip-flops in line, 2 or more.
  parameter int unsigned Stages = 2
) (
  input  logic clk_i,
  input  logic rst_ni,
  output logic rst_no
);

  if (Stages < 2) begin : gen_stages_check
    $error("%m: Stages must be 2 or more");
  end

  (* ASYNC_REG = "TRUE" *)
  logic [Stages-1:0] line_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) line_q <= '0;
    else line_q <= {line_q[Stages-2:0], 1'b1};
  end
  assign rst_no = line_q[Stages-1];

endmodule
