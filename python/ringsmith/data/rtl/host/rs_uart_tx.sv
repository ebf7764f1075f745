// SPDX-License-Identifier: Apache-2.0
// UART transmitter: 8 data bits, no parity, one stop bit, least significant bit first, Divisor cycles per bit.
//
// A byte takes 10 bits; the next one may be offered while it is sent and follows without a gap.
module rs_uart_tx #(
  // Core cycles per bit: 4 to 65535.
  parameter int unsigned Divisor = 64
) (
  input  logic       clk_i,
  input  logic       rst_ni,
  input  logic       tx_valid_i,
  output logic       tx_ready_o,
  input  logic [7:0] tx_data_i,
  output logic       uart_tx_o
);
  if (Divisor < 4 || Divisor > 65535) begin : gen_check_divisor
    $fatal(1, "%m: Divisor = %0d must be 4 to 65535", Divisor);
  end

  logic [9:0] shift_q;
  logic [3:0] left_q;
  logic [15:0] wait_q;
  logic bit_over;

  assign bit_over   = wait_q == '0;
  assign tx_ready_o = left_q == '0 || (left_q == 4'd1 && bit_over);
  assign uart_tx_o  = (left_q == '0) || shift_q[0];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      left_q  <= '0;
      wait_q  <= '0;
      shift_q <= '1;
    end else if (tx_ready_o) begin
      left_q  <= tx_valid_i ? 4'd10 : '0;
      wait_q  <= 16'(Divisor - 1);
      shift_q <= {1'b1, tx_data_i, 1'b0};
    end else if (bit_over) begin
      left_q  <= left_q - 4'd1;
      wait_q  <= 16'(Divisor - 1);
      shift_q <= {1'b1, shift_q[9:1]};
    end else begin
      wait_q <= wait_q - 16'd1;
    end
  end

`ifndef SYNTHESIS
  logic armed;
  rs_reset_seen u_armed (
    .clk_i,
    .rst_ni,
    .seen_o(armed)
  );
  assert property (@(posedge clk_i) disable iff (!armed) left_q <= 4'd10);
  assert property (@(posedge clk_i) disable iff (!armed) left_q == '0 |-> uart_tx_o);
`endif
endmodule
