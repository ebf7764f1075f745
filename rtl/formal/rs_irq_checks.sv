// SPDX-License-Identifier: Apache-2.0
// Checks bound into rs_host_ctrl: no event is lost, whatever the host writes in the same cycle.
//
// Bit i of each vector is bit i of IRQ_STATUS: done, failed, transfer, overflow. An event is what the pins of the
// module show, a clear is a write of 1 to the bit as the register block decodes it.
module rs_irq_checks #(
  localparam int unsigned Bits = 4
) (
  input logic            clk_i,
  input logic            rst_ni,
  input logic            idle,
  input logic            error_i,
  input logic            transfer_valid,
  input logic            cmd_valid_o,
  input logic            cmd_ready_i,
  input logic            core_rst_no,
  input logic            irq_o,
  // Inside: the register, its enable bits, the bits that a write clears.
  input logic [Bits-1:0] status,
  input logic [Bits-2:0] enable,
  input logic [Bits-1:0] clear
);
  logic idle_q, error_q, transfer_q, started_q;
  logic [Bits-1:0] event_now, event_q, clear_q, status_q;
  assign event_now = {
    cmd_valid_o && (!cmd_ready_i || !core_rst_no), transfer_valid && !transfer_q, error_i && !error_q, idle && !idle_q
  };

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {idle_q, error_q, transfer_q, started_q} <= 4'b1000;
      {event_q, clear_q, status_q}             <= '0;
    end else begin
      {idle_q, error_q, transfer_q, started_q} <= {idle, error_i, transfer_valid, 1'b1};
      {event_q, clear_q, status_q}             <= {event_now, clear, status};
    end
  end

  for (genvar i = 0; i < Bits; i++) begin : gen_bit
    always_comb begin
      if (rst_ni && started_q) begin
        // An event of the last cycle is seen now; without one only a write of 1 to this bit takes it away.
        if (event_q[i])
          assert (status[i]);
          else assert (status[i] == (status_q[i] && !clear_q[i]));
      end
    end
  end
  always_comb begin
    if (rst_ni) assert (irq_o == ((status[Bits-2:0] & enable) != '0));
  end
endmodule
