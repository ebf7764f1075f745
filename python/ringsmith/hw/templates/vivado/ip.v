// SPDX-License-Identifier: Apache-2.0
// The preset $preset for Vivado's block designs: ports by the names that they know, a reset in step with the clock.
// In Verilog, because a block design takes no module of SystemVerilog.
module $module (
$ports
);

  wire rst_n;
  rs_reset_sync u_reset (
    .clk_i (aclk),
    .rst_ni(aresetn),
    .rst_no(rst_n)
  );

  rs_top_axi u_core (
    .clk_i(aclk),
    .rst_ni(rst_n),
    .ev_start_o(),
    .ev_end_o(),
    .ev_start_idx_o(),
    .ev_end_idx_o(),
    .ev_start_cmd_o(),
    .cycles_o(),
$joined
  );

  // What the core leaves to the platform.
$constants

  // Not looked at: every access is answered alike.
  wire unused = &{1'b0, $unused};

endmodule
