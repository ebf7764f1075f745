# SPDX-License-Identifier: Apache-2.0
# Block design: AMD's DMA for PCI Express reaches the registers by its AXI4-Lite master and a bank of the card's memory by
# its AXI4 master; the core shares that bank, and has a clock of its own.
cell util_ds_buf pcie_clock USE_BOARD_FLOW true DIFF_CLK_IN_BOARD_INTERFACE pcie_refclk C_BUF_TYPE IBUFDSGTE
cell xdma dma PCIE_BOARD_INTERFACE pci_express_x16 SYS_RST_N_BOARD_INTERFACE pcie_perstn \
  xdma_axi_intf_mm AXI_Memory_Mapped pl_link_cap_max_link_width X16 pl_link_cap_max_link_speed 8.0_GT/s \
  axi_data_width 512_bit axisten_freq 250 axilite_master_en true axilite_master_scale Kilobytes \
  axilite_master_size 64 xdma_num_usr_irq 1
foreach {rule pin} {pcie_refclk pcie_clock/CLK_IN_D pci_express_x16 dma/pcie_mgt} {
  apply_bd_automation -rule xilinx.com:bd_rule:board -config "Board_Interface $rule" [get_bd_intf_pins $pin]
}
apply_bd_automation -rule xilinx.com:bd_rule:board -config {Board_Interface pcie_perstn} [get_bd_pins dma/sys_rst_n]
cell ddr4 bank C0_CLOCK_BOARD_INTERFACE default_300mhz_clk0 C0_DDR4_BOARD_INTERFACE ddr4_sdram_c0
foreach {rule pin} {default_300mhz_clk0 bank/C0_SYS_CLK ddr4_sdram_c0 bank/C0_DDR4} {
  apply_bd_automation -rule xilinx.com:bd_rule:board -config "Board_Interface $rule" [get_bd_intf_pins $pin]
}
cell clk_wiz clock CLKOUT1_REQUESTED_OUT_FREQ $clock_mhz PRIM_SOURCE No_buffer RESET_TYPE ACTIVE_LOW \
  RESET_PORT resetn
cell proc_sys_reset reset
cell proc_sys_reset bank_reset
cell smartconnect control NUM_SI 1 NUM_MI 1 NUM_CLKS 2
cell smartconnect memory NUM_SI 2 NUM_MI 1 NUM_CLKS 3
cell util_vector_logic not_reset C_OPERATION not C_SIZE 1

wire pcie_clock/IBUF_DS_ODIV2 dma/sys_clk
wire pcie_clock/IBUF_OUT dma/sys_clk_gt
wire dma/axi_aclk clock/clk_in1 control/aclk memory/aclk
wire dma/axi_aresetn clock/resetn control/aresetn memory/aresetn reset/ext_reset_in not_reset/Op1
wire clock/clk_out1 core/aclk reset/slowest_sync_clk control/aclk1 memory/aclk1
wire clock/locked reset/dcm_locked
wire reset/peripheral_aresetn core/aresetn
wire not_reset/Res bank/sys_rst
wire bank/c0_ddr4_ui_clk memory/aclk2 bank_reset/slowest_sync_clk
wire bank/c0_ddr4_ui_clk_sync_rst bank_reset/ext_reset_in
configure bank_reset C_EXT_RESET_HIGH 1
wire bank_reset/peripheral_aresetn bank/c0_ddr4_aresetn
wire core/irq dma/usr_irq_req

bus dma/M_AXI_LITE control/S00_AXI
bus control/M00_AXI core/s_axil
bus dma/M_AXI memory/S00_AXI
bus core/m_axi memory/S01_AXI
bus memory/M00_AXI bank/C0_DDR4_S_AXI

place core/s_axil/reg0 dma/M_AXI_LITE $registers $registers_bytes
place bank/C0_DDR4_MEMORY_MAP/C0_DDR4_ADDRESS_BLOCK dma/M_AXI 0x00000000 16G
place bank/C0_DDR4_MEMORY_MAP/C0_DDR4_ADDRESS_BLOCK core/m_axi 0x00000000 $memory_bytes
