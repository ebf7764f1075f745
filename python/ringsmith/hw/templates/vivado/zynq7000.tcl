# SPDX-License-Identifier: Apache-2.0
# Block design: the Zynq-7000's processing system gives clock and reset, reaches the registers by M_AXI_GP0, and lends
# its memory by S_AXI_HP0.
cell processing_system7 ps
apply_bd_automation -rule xilinx.com:bd_rule:processing_system7 \
  -config {make_external "FIXED_IO, DDR" apply_board_preset "1"} [get_bd_cells ps]
configure ps PCW_USE_M_AXI_GP0 1 PCW_USE_S_AXI_HP0 1 PCW_USE_FABRIC_INTERRUPT 1 PCW_IRQ_F2P_INTR 1 \
  PCW_EN_CLK0_PORT 1 PCW_FPGA0_PERIPHERAL_FREQMHZ $clock_mhz
set clock ps/FCLK_CLK0
set control_clock ps/M_AXI_GP0_ACLK
set memory_clock ps/S_AXI_HP0_ACLK
set reset_pin ps/FCLK_RESET0_N
set interrupt ps/IRQ_F2P
set control_port ps/M_AXI_GP0
set memory_port ps/S_AXI_HP0
set memory_segment ps/S_AXI_HP0/HP0_DDR_LOWOCM
