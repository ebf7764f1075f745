// SPDX-License-Identifier: Apache-2.0
// UART receiver: 8 data bits, no parity, one stop bit, least significant bit first.
//
// The line is sampled in the middle of each bit, Divisor cycles apart. A low stop bit (a break, or the wrong speed)
// gives break_o instead of a byte; the receiver then waits for the line to be high again.
// Latency: a byte is valid in the middle of its stop bit.
module rs_uart_rx #(
  // Core cycles per bit: 4 to 65535.
  parameter int unsigned Divisor = 64
) (
  input  logic       clk_i,
  input  logic       rst_ni,
  input  logic       uart_rx_i,
  // A byte came in (one cycle).
  output logic       rx_valid_o,
  output logic [7:0] rx_data_o,
  // The stop bit was low (one cycle).
  output logic       break_o
);
  if (Divisor < 4 || Divisor > 65535) begin : gen_check_divisor
    $fatal(1, "%m: Divisor = %0d must be 4 to 65535", Divisor);
  end

  typedef enum logic [1:0] {
    Idle,
    Start,
    Data,
    Stop
  } state_e;
  state_e state_q;

  logic [2:0] line_q;
  logic line;
  logic [15:0] wait_q;
  logic [2:0] bit_q;
  logic [7:0] shift_q;
  logic sample;

  assign line       = line_q[2];
  assign sample     = wait_q == '0;
  assign rx_valid_o = state_q == Stop && sample && line;
  assign break_o    = state_q == Stop && sample && !line;
  assign rx_data_o  = shift_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) line_q <= '1;
    else line_q <= {line_q[1:0], uart_rx_i};
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= Idle;
      wait_q  <= '0;
      bit_q   <= '0;
      shift_q <= '0;
    end else begin
      wait_q <= sample ? 16'(Divisor - 1) : wait_q - 16'd1;
      unique case (state_q)
        Idle: begin
          // A falling edge, not a low line: after a break the line must rise first.
          wait_q <= 16'(Divisor / 2 - 1);
          if (line_q[2] && !line_q[1]) state_q <= Start;
        end
        Start: begin
          bit_q <= '0;
          if (sample) state_q <= line ? Idle : Data;
        end
        Data:
        if (sample) begin
          shift_q <= {line, shift_q[7:1]};
          bit_q   <= bit_q + 3'd1;
          if (bit_q == 3'd7) state_q <= Stop;
        end
        Stop: if (sample) state_q <= Idle;
      endcase
    end
  end

`ifndef SYNTHESIS
  logic armed;
  rs_reset_seen u_armed (
    .clk_i,
    .rst_ni,
    .seen_o(armed)
  );
  assert property (@(posedge clk_i) disable iff (!armed) !(rx_valid_o && break_o));
  assert property (@(posedge clk_i) disable iff (!armed) rx_valid_o |=> state_q == Idle);
`endif
endmodule
