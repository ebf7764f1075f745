# SPDX-License-Identifier: Apache-2.0
# Block design: the Zynq UltraScale+ processing system gives clock and reset, reaches the registers by M_AXI_HPM0_FPD,
# and lends its memory by S_AXI_HP0_FPD.
cell zynq_ultra_ps_e ps
apply_bd_automation -rule xilinx.com:bd_rule:zynq_ultra_ps_e -config {apply_board_preset "1"} [get_bd_cells ps]
configure ps PSU__USE__M_AXI_GP0 1 PSU__USE__M_AXI_GP1 0 PSU__USE__M_AXI_GP2 0 PSU__USE__S_AXI_GP2 1 \
  PSU__USE__IRQ0 1 PSU__FPGA_PL0_ENABLE 1 PSU__CRL_APB__PL0_REF_CTRL__FREQMHZ $clock_mhz
set clock ps/pl_clk0
set control_clock ps/maxihpm0_fpd_aclk
set memory_clock ps/saxihp0_fpd_aclk
set reset_pin ps/pl_resetn0
set interrupt ps/pl_ps_irq0
set control_port ps/M_AXI_HPM0_FPD
set memory_port ps/S_AXI_HP0_FPD
set memory_segment ps/SAXIGP2/HP0_DDR_LOW
