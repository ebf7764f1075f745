// SPDX-License-Identifier: Apache-2.0
// CRC-32 of ISO-HDLC, a byte a cycle: polynomial 0x04C11DB7, least significant bit first, begun and ended inverted.
//
// Sent least significant byte first behind its data, it leaves Residue, whatever the data. Latency: one cycle.
module rs_crc32 (
  input  logic        clk_i,
  input  logic        rst_ni,
  // Begin anew; a byte of this cycle does not count.
  input  logic        clear_i,
  input  logic        valid_i,
  input  logic [ 7:0] data_i,
  output logic [31:0] crc_o,
  // The last four bytes are the CRC of those before.
  output logic        right_o
);
  localparam logic [31:0] Polynomial = 32'hEDB88320;
  localparam logic [31:0] Residue = 32'hDEBB20E3;

  logic [31:0] state_q;

  function automatic logic [31:0] after(logic [31:0] state, logic [7:0] data);
    logic [31:0] next;
    next = state ^ 32'(data);
    for (int i = 0; i < 8; i++) next = (next >> 1) ^ (next[0] ? Polynomial : '0);
    return next;
  endfunction

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) state_q <= '1;
    else if (clear_i) state_q <= '1;
    else if (valid_i) state_q <= after(state_q, data_i);
  end

  assign crc_o   = ~state_q;
  assign right_o = state_q == Residue;

`ifndef SYNTHESIS
  logic armed;
  rs_reset_seen u_armed (
    .clk_i,
    .rst_ni,
    .seen_o(armed)
  );
  assert property (@(posedge clk_i) disable iff (!armed) clear_i |=> crc_o == '0 && !right_o);
  assert property (@(posedge clk_i) disable iff (!armed) !clear_i && !valid_i |=> $stable(crc_o));
`endif
endmodule
