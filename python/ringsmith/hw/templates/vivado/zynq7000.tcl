# SPDX-License-Identifier: Apache-2.0
# Block design: the Zynq-7000's processing system gives clock and reset, reaches the registers by M_AXI_GP0, and lends
# its memory by S_AXI_HP0.
cell processing_system7 ps
apply_bd_automation -rule xilinx.com:bd_rule:processing_system7 \
  -config {make_external "FIXED_IO, DDR" apply_board_preset "1"} [get_bd_cells ps]
configure ps PCW_USE_M_AXI_GP0 1 PCW_USE_S_AXI_HP0 1 PCW_USE_FABRIC_INTERRUPT 1 PCW_IRQ_F2P_INTR 1 \
  PCW_EN_CLK0_PORT 1 PCW_FPGA0_PERIPHERAL_FREQMHZ $clock_mhz
cell proc_sys_reset reset
cell smartconnect control NUM_SI 1 NUM_MI 1
cell smartconnect memory NUM_SI 1 NUM_MI 1

wire ps/FCLK_CLK0 core/aclk reset/slowest_sync_clk control/aclk memory/aclk ps/M_AXI_GP0_ACLK ps/S_AXI_HP0_ACLK
wire ps/FCLK_RESET0_N reset/ext_reset_in
wire reset/peripheral_aresetn core/aresetn control/aresetn memory/aresetn
wire core/irq ps/IRQ_F2P

bus ps/M_AXI_GP0 control/S00_AXI
bus control/M00_AXI core/s_axil
bus core/m_axi memory/S00_AXI
bus memory/M00_AXI ps/S_AXI_HP0

place core/s_axil/reg0 ps/Data $registers $registers_bytes
place ps/S_AXI_HP0/HP0_DDR_LOWOCM core/m_axi 0x00000000 $memory_bytes
