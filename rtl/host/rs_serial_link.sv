// SPDX-License-Identifier: Apache-2.0
// The serial host's lines: SPI, UART and a byte-wide port, one frame at a time from any of them.
//
// A line owns the link from the first byte of a frame to the end of its answer. Raising the SPI select, or a break on
// the UART, aborts that line's frame. The byte port (valid/ready, one byte a cycle) is for test equipment and for a
// host on the same die; it carries the same frames.
module rs_serial_link #(
  // Core cycles per UART bit: 4 to 65535.
  parameter int unsigned UartDivisor = 64
) (
  input  logic       clk_i,
  input  logic       rst_ni,
  input  logic       spi_sck_i,
  input  logic       spi_csn_i,
  input  logic       spi_mosi_i,
  output logic       spi_miso_o,
  input  logic       uart_rx_i,
  output logic       uart_tx_o,
  input  logic       byte_in_valid_i,
  output logic       byte_in_ready_o,
  input  logic [7:0] byte_in_data_i,
  output logic       byte_out_valid_o,
  input  logic       byte_out_ready_i,
  output logic [7:0] byte_out_data_o,
  // To the frame parser (see rs_serial_frames).
  output logic       abort_o,
  input  logic       between_i,
  output logic       rx_valid_o,
  input  logic       rx_ready_i,
  output logic [7:0] rx_data_o,
  input  logic       tx_valid_i,
  output logic       tx_ready_o,
  input  logic [7:0] tx_data_i
);
  typedef enum logic [1:0] {
    Spi,
    Uart,
    Byte
  } line_e;
  line_e owner_q, owner;

  logic spi_active, spi_active_q, spi_valid, spi_ready, uart_valid, uart_ready, uart_break;
  logic [7:0] spi_data, uart_data;

  rs_spi_slave u_spi (
    .clk_i,
    .rst_ni,
    .spi_sck_i,
    .spi_csn_i,
    .spi_mosi_i,
    .spi_miso_o,
    .active_o  (spi_active),
    .rx_valid_o(spi_valid),
    .rx_data_o (spi_data),
    .tx_valid_i(tx_valid_i && owner_q == Spi),
    .tx_ready_o(spi_ready),
    .tx_data_i
  );

  rs_uart_rx #(
    .Divisor(UartDivisor)
  ) u_uart_rx (
    .clk_i,
    .rst_ni,
    .uart_rx_i,
    .rx_valid_o(uart_valid),
    .rx_data_o (uart_data),
    .break_o   (uart_break)
  );

  rs_uart_tx #(
    .Divisor(UartDivisor)
  ) u_uart_tx (
    .clk_i,
    .rst_ni,
    .tx_valid_i(tx_valid_i && owner_q == Uart),
    .tx_ready_o(uart_ready),
    .tx_data_i,
    .uart_tx_o
  );

  // Between frames the line that speaks becomes the owner; the lines themselves cannot wait, the byte port can.
  always_comb begin
    owner = owner_q;
    if (between_i) begin
      if (spi_valid) owner = Spi;
      else if (uart_valid) owner = Uart;
      else if (byte_in_valid_i) owner = Byte;
    end
  end

  always_comb begin
    unique case (owner)
      Spi: begin
        rx_valid_o = spi_valid;
        rx_data_o  = spi_data;
      end
      Uart: begin
        rx_valid_o = uart_valid;
        rx_data_o  = uart_data;
      end
      default: begin
        rx_valid_o = byte_in_valid_i;
        rx_data_o  = byte_in_data_i;
      end
    endcase
  end

  assign byte_in_ready_o  = owner == Byte && rx_ready_i;
  assign byte_out_valid_o = tx_valid_i && owner_q == Byte;
  assign byte_out_data_o  = tx_data_i;
  assign tx_ready_o       = (owner_q == Spi) ? spi_ready : (owner_q == Uart) ? uart_ready : byte_out_ready_i;
  assign abort_o          = (owner_q == Spi && spi_active_q && !spi_active) || (owner_q == Uart && uart_break);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      owner_q      <= Byte;
      spi_active_q <= 1'b0;
    end else begin
      owner_q      <= owner;
      spi_active_q <= spi_active;
    end
  end

`ifndef SYNTHESIS
  logic armed;
  rs_reset_seen u_armed (
    .clk_i,
    .rst_ni,
    .seen_o(armed)
  );
  // The owner does not change within a frame.
  assert property (@(posedge clk_i) disable iff (!armed) !between_i |-> owner == owner_q);
`endif
endmodule
