
# What each processing system needs: a reset in step with the clock, the way to the registers, the way to its memory.
cell proc_sys_reset reset
cell smartconnect control NUM_SI 1 NUM_MI 1
cell smartconnect memory NUM_SI 1 NUM_MI 1

wire $clock core/aclk reset/slowest_sync_clk control/aclk memory/aclk $control_clock $memory_clock
wire $reset_pin reset/ext_reset_in
wire reset/peripheral_aresetn core/aresetn control/aresetn memory/aresetn
wire core/irq $interrupt

bus $control_port control/S00_AXI
bus control/M00_AXI core/s_axil
bus core/m_axi memory/S00_AXI
bus memory/M00_AXI $memory_port

place core/s_axil/reg0 ps/Data $registers $registers_bytes
place $memory_segment core/m_axi 0x00000000 $memory_bytes
