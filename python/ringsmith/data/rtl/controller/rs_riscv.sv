// SPDX-License-Identifier: Apache-2.0
// The controller's processor: RV32I without interrupts and without CSRs, two buses. The only module that knows which
// core it is: SERV, bit-serial, of the package pythondata-cpu-serv (ISC licence; docs/controller.md says why).
//
// ibus, dbus: cyc stays high until ack, which is high for one cycle; read data come with it. Both are never high at
// once. While rst_i is high (from a cycle after on) both are low, whatever was asked for; then it begins at address 0.
// An instruction takes about 35 cycles, a branch, shift, load or store about 70.
module rs_riscv (
  input  logic        clk_i,
  // Synchronous, high.
  input  logic        rst_i,
  output logic        ibus_cyc_o,
  output logic [31:0] ibus_addr_o,
  input  logic        ibus_ack_i,
  input  logic [31:0] ibus_rdata_i,
  output logic        dbus_cyc_o,
  output logic        dbus_we_o,
  output logic [31:0] dbus_addr_o,
  output logic [31:0] dbus_wdata_o,
  // Bytes of the word that count.
  output logic [ 3:0] dbus_strb_o,
  input  logic        dbus_ack_i,
  input  logic [31:0] dbus_rdata_i
);
  logic ibus_cyc, dbus_cyc;
  // Of interfaces for extensions.
  logic [31:0] ext_rs1, ext_rs2;
  logic [2:0] ext_funct3;
  logic mdu_valid;

  serv_rf_top #(
    .RESET_PC(32'd0),
    .WITH_CSR(0)
  ) u_serv (
    .clk         (clk_i),
    .i_rst       (rst_i),
    .i_timer_irq (1'b0),
    .o_ibus_adr  (ibus_addr_o),
    .o_ibus_cyc  (ibus_cyc),
    .i_ibus_rdt  (ibus_rdata_i),
    .i_ibus_ack  (ibus_ack_i),
    .o_dbus_adr  (dbus_addr_o),
    .o_dbus_dat  (dbus_wdata_o),
    .o_dbus_sel  (dbus_strb_o),
    .o_dbus_we   (dbus_we_o),
    .o_dbus_cyc  (dbus_cyc),
    .i_dbus_rdt  (dbus_rdata_i),
    .i_dbus_ack  (dbus_ack_i),
    .o_ext_rs1   (ext_rs1),
    .o_ext_rs2   (ext_rs2),
    .o_ext_funct3(ext_funct3),
    .i_ext_rd    ('0),
    .i_ext_ready (1'b0),
    .o_mdu_valid (mdu_valid)
  );

  assign ibus_cyc_o = ibus_cyc && !rst_i;
  assign dbus_cyc_o = dbus_cyc && !rst_i;

  logic unused;
  assign unused = ^{ext_rs1, ext_rs2, ext_funct3, mdu_valid};

`ifndef SYNTHESIS
  assert property (@(posedge clk_i) !(ibus_cyc_o && dbus_cyc_o))
  else $error("%m: two accesses at once");
`endif
endmodule
