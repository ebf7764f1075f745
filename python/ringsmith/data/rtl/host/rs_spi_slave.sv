// SPDX-License-Identifier: Apache-2.0
// SPI slave, mode 0, most significant bit first: bytes in and out of the core's clock domain.
//
// The shift registers run on the SPI clock itself, so the link may be nearly as fast as the core (a byte must take at
// least 8 core cycles); whole bytes cross by a toggle each way. A byte to send must be offered before the byte before
// it is over; otherwise 0x00 goes out. The first byte of a frame is always 0x00. Raising spi_csn_i ends the frame.
//
//   spi_mosi_i -> rx shift (posedge sck) -> byte + toggle -> synchroniser -> rx_valid_o, rx_data_o
//   tx_data_i  -> hold (clk)             -> tx shift (negedge sck)        -> spi_miso_o
module rs_spi_slave (
  input  logic       clk_i,
  input  logic       rst_ni,
  input  logic       spi_sck_i,
  input  logic       spi_csn_i,
  input  logic       spi_mosi_i,
  output logic       spi_miso_o,
  // A frame is open.
  output logic       active_o,
  // A byte came in (one cycle).
  output logic       rx_valid_o,
  output logic [7:0] rx_data_o,
  input  logic       tx_valid_i,
  output logic       tx_ready_o,
  input  logic [7:0] tx_data_i
);
  // ------------------------------------------------------------------------------------------------ SPI clock domain
  logic [6:0] rx_shift_q;
  logic [7:0] rx_byte_q, tx_shift_q;
  logic [2:0] bit_q;
  logic rx_toggle_q, taken_toggle_q;
  logic [1:0] offered_q;
  logic [7:0] hold_q;
  logic full_q;

  always_ff @(posedge spi_sck_i or posedge spi_csn_i) begin
    if (spi_csn_i) begin
      bit_q      <= '0;
      rx_shift_q <= '0;
      offered_q  <= '0;
    end else begin
      bit_q      <= bit_q + 3'd1;
      rx_shift_q <= {rx_shift_q[5:0], spi_mosi_i};
      offered_q  <= {offered_q[0], full_q};
    end
  end

  always_ff @(posedge spi_sck_i or negedge rst_ni) begin
    if (!rst_ni) begin
      rx_toggle_q <= 1'b0;
      rx_byte_q   <= '0;
    end else if (bit_q == 3'd7) begin
      rx_toggle_q <= ~rx_toggle_q;
      rx_byte_q   <= {rx_shift_q, spi_mosi_i};
    end
  end

  always_ff @(negedge spi_sck_i or posedge spi_csn_i) begin
    if (spi_csn_i) tx_shift_q <= '0;
    else if (bit_q == '0) tx_shift_q <= offered_q[1] ? hold_q : 8'h00;
    else tx_shift_q <= {tx_shift_q[6:0], 1'b0};
  end

  always_ff @(negedge spi_sck_i or negedge rst_ni) begin
    if (!rst_ni) taken_toggle_q <= 1'b0;
    else if (bit_q == '0 && offered_q[1]) taken_toggle_q <= ~taken_toggle_q;
  end

  assign spi_miso_o = tx_shift_q[7];

  // ----------------------------------------------------------------------------------------------- core clock domain
  logic [2:0] rx_sync_q, taken_sync_q, csn_sync_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      rx_sync_q    <= '0;
      taken_sync_q <= '0;
      csn_sync_q   <= '1;
    end else begin
      rx_sync_q    <= {rx_sync_q[1:0], rx_toggle_q};
      taken_sync_q <= {taken_sync_q[1:0], taken_toggle_q};
      csn_sync_q   <= {csn_sync_q[1:0], spi_csn_i};
    end
  end

  assign rx_valid_o = rx_sync_q[2] ^ rx_sync_q[1];
  assign rx_data_o  = rx_byte_q;
  assign active_o   = !csn_sync_q[2];
  assign tx_ready_o = !full_q;

  // The held byte is stable from the cycle it is offered to the cycle after it was taken; the end of a frame drops it.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      full_q <= 1'b0;
      hold_q <= '0;
    end else if (!active_o || (taken_sync_q[2] ^ taken_sync_q[1])) begin
      full_q <= 1'b0;
    end else if (tx_valid_i && tx_ready_o) begin
      full_q <= 1'b1;
      hold_q <= tx_data_i;
    end
  end

`ifndef SYNTHESIS
  logic armed;
  rs_reset_seen u_armed (
    .clk_i,
    .rst_ni,
    .seen_o(armed)
  );
  assert property (@(posedge clk_i) disable iff (!armed) full_q && active_o && $past(full_q) |-> $stable(hold_q));
  assert property (@(posedge clk_i) disable iff (!armed) rx_valid_o |=> !rx_valid_o);
`endif
endmodule
