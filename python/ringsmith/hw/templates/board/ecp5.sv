// SPDX-License-Identifier: Apache-2.0
// The preset $preset on the board $board: its oscillator of $clock MHz made into $core MHz, its reset button,
// its serial port at $baud baud, its lamp. The lamp shines while the device is ready and asks for no interrupt.
module rs_board (
  input  logic clk_i,
  input  logic rst_ni,
  input  logic uart_rx_i,
  output logic uart_tx_o,
  output logic led_o
);
  logic clk, locked, rst_n, irq;

  rs_ecp5_pll #(
    .InputDiv($input),
    .FeedbackDiv($feedback),
    .OutputDiv($output)
  ) u_pll (
    .clk_i,
    .clk_o(clk),
    .locked_o(locked)
  );

  rs_reset_sync #(
    .Stages(4)
  ) u_reset (
    .clk_i(clk),
    .rst_ni(rst_ni && locked),
    .rst_no(rst_n)
  );

  rs_top_serial #(
$parameters
  ) u_top (
    .clk_i(clk),
    .rst_ni(rst_n),
    .irq_o(irq),
    .spi_sck_i(1'b0),
    .spi_csn_i(1'b1),
    .spi_mosi_i(1'b0),
    .spi_miso_o(),
    .uart_rx_i,
    .uart_tx_o,
    .byte_in_valid_i(1'b0),
    .byte_in_ready_o(),
    .byte_in_data_i('0),
    .byte_out_valid_o(),
    .byte_out_ready_i(1'b0),
    .byte_out_data_o(),
    .ev_start_o(),
    .ev_end_o(),
    .ev_start_idx_o(),
    .ev_end_idx_o(),
    .ev_start_cmd_o(),
    .cycles_o()
  );
  assign led_o = $lamp;
endmodule
