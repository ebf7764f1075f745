# SPDX-License-Identifier: Apache-2.0
# Block design: the Zynq UltraScale+ processing system gives clock and reset, reaches the registers by M_AXI_HPM0_FPD,
# and lends its memory by S_AXI_HP0_FPD.
cell zynq_ultra_ps_e ps
apply_bd_automation -rule xilinx.com:bd_rule:zynq_ultra_ps_e -config {apply_board_preset "1"} [get_bd_cells ps]
configure ps PSU__USE__M_AXI_GP0 1 PSU__USE__M_AXI_GP1 0 PSU__USE__M_AXI_GP2 0 PSU__USE__S_AXI_GP2 1 \
  PSU__USE__IRQ0 1 PSU__FPGA_PL0_ENABLE 1 PSU__CRL_APB__PL0_REF_CTRL__FREQMHZ $clock_mhz
cell proc_sys_reset reset
cell smartconnect control NUM_SI 1 NUM_MI 1
cell smartconnect memory NUM_SI 1 NUM_MI 1

wire ps/pl_clk0 core/aclk reset/slowest_sync_clk control/aclk memory/aclk ps/maxihpm0_fpd_aclk ps/saxihp0_fpd_aclk
wire ps/pl_resetn0 reset/ext_reset_in
wire reset/peripheral_aresetn core/aresetn control/aresetn memory/aresetn
wire core/irq ps/pl_ps_irq0

bus ps/M_AXI_HPM0_FPD control/S00_AXI
bus control/M00_AXI core/s_axil
bus core/m_axi memory/S00_AXI
bus memory/M00_AXI ps/S_AXI_HP0_FPD

place core/s_axil/reg0 ps/Data $registers $registers_bytes
place ps/SAXIGP2/HP0_DDR_LOW core/m_axi 0x00000000 $memory_bytes
