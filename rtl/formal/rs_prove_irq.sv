// SPDX-License-Identifier: Apache-2.0
// Proof: each bit of IRQ_STATUS keeps every event until software clears it afterwards (see rs_irq_checks), with any
// traffic on the registers.
bind rs_host_ctrl rs_irq_checks u_checks (
  .clk_i,
  .rst_ni,
  .idle,
  .error_i,
  .transfer_valid(transfer_i.valid),
  .cmd_valid_o,
  .cmd_ready_i,
  .core_rst_no,
  .irq_o,
  .status({
    hw_out.irq_status.overflow.value,
    hw_out.irq_status.transfer.value,
    hw_out.irq_status.failed.value,
    hw_out.irq_status.done.value
  }),
  .enable({hw_out.irq_enable.transfer.value, hw_out.irq_enable.failed.value, hw_out.irq_enable.done.value}),
  .clear(
    u_regs.decoded_reg_strb.irq_status && u_regs.decoded_req_is_wr ?
        u_regs.decoded_wr_data[3:0] & u_regs.decoded_wr_biten[3:0] : 4'd0
  )
);

module rs_prove_irq (
  input logic                     clk_i,
  input logic                     rst_ni,
  input rs_axil_pkg::axil_req_t   axil_i,
  input logic                     cmd_ready_i,
  input logic                     busy_i,
  input logic                     error_i,
  input logic                     port_busy_i,
  input rs_bundle_pkg::transfer_t transfer_i
);
  rs_host_ctrl u_dut (
    .clk_i,
    .rst_ni,
    .axil_i,
    .axil_o      (),
    .irq_o       (),
    .core_rst_no (),
    .clear_o     (),
    .cmd_valid_o (),
    .cmd_ready_i,
    .cmd_o       (),
    .cmd_level_i ('0),
    .constant_o  (),
    .busy_i,
    .error_i,
    .failure_i   ('0),
    .counters_i  ('0),
    .dma_base_o  (),
    .dma_room_o  (),
    .port_busy_i,
    .port_read_i (1'b0),
    .port_write_i(1'b0),
    .transfer_i
  );

  // The first step is a reset, and no other comes.
  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;
  always_comb assume (rst_ni == started_q);
endmodule
