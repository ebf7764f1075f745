// SPDX-License-Identifier: Apache-2.0
// Checks bound into rs_port_share: who waits sees fewer than Cores transfers of others begin; a free port is not left
// idle while cores wait; words go to the cores that the transfer was granted to.
//
// Transfers that pass a waiting core, cycles that the port is left idle and the cores of a transfer are counted here,
// from the ports. The assertions on the inside make the proof inductive: turns run from first_q on, and a core that was
// passed once is nearer to its turn after each further transfer.
module rs_share_checks #(
  parameter int unsigned Cores = 3,
  parameter int unsigned CoreBits = 2
) (
  input logic                clk_i,
  input logic                rst_ni,
  input logic [   Cores-1:0] req_valid_i,
  input logic [   Cores-1:0] req_ready_o,
  input logic [   Cores-1:0] ld_valid_o,
  input logic [   Cores-1:0] st_ready_o,
  input logic [   Cores-1:0] st_done_o,
  input logic [   Cores-1:0] busy_o,
  input logic                req_valid_o,
  input logic                req_ready_i,
  input logic                req_store_o,
  // Inside.
  input logic [         1:0] state_q,
  input logic [CoreBits-1:0] owner_q,
  input logic [CoreBits-1:0] first_q,
  input logic [   Cores-1:0] part_q,
  input logic [   Cores-1:0] live_q
);
  // As in rs_port_share.
  localparam logic [1:0] Choose = 2'd0;
  localparam logic [1:0] Offer = 2'd1;
  localparam logic [1:0] Move = 2'd2;

  // Transfers that passed each core since it asked; cores of the transfer; cycles that a free port was left idle.
  logic [Cores-1:0][3:0] passed_q;
  logic [Cores-1:0] granted_q, waiting_q;
  logic [1:0] idle_q;
  logic begins, left_idle, withdrawn;
  assign begins    = req_valid_o && req_ready_i;
  assign withdrawn = (waiting_q & ~req_valid_i) != '0;
  assign left_idle = state_q != Move && req_ready_i && req_valid_i != '0 && !begins;

  // Turns until a core's.
  function automatic logic [3:0] turns(input logic [3:0] core);
    turns = core >= 4'(first_q) ? core - 4'(first_q) : core + 4'(Cores) - 4'(first_q);
  endfunction

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      passed_q  <= '0;
      granted_q <= '0;
      waiting_q <= '0;
      idle_q    <= '0;
    end else begin
      waiting_q <= req_valid_i & ~req_ready_o;
      idle_q    <= left_idle && !withdrawn ? idle_q + 1'b1 : '0;
      if (begins) granted_q <= req_ready_o;
      for (int unsigned c = 0; c < Cores; c++) begin
        if (!req_valid_i[c] || req_ready_o[c]) passed_q[c] <= '0;
        else if (begins) passed_q[c] <= passed_q[c] + 1'b1;
      end
    end
  end

  always_comb begin
    if (rst_ni) begin
      for (int unsigned c = 0; c < Cores; c++) begin
        // None starves.
        assert (32'(passed_q[c]) < Cores);
        if (passed_q[c] != '0) begin
          assert (32'(passed_q[c]) + 32'(turns(4'(c))) < Cores);
          if (state_q == Offer) assert (turns(4'(owner_q)) <= turns(4'(c)));
          assert (waiting_q[c]);
        end
      end
      // A free port is left idle for one cycle, to choose; for longer only if the core that was chosen withdraws.
      assert (!left_idle || withdrawn || idle_q == '0);
      if (state_q == Choose) assert (idle_q == '0);
      if (state_q == Offer) assert (waiting_q[owner_q]);
      // The first of the turn, and one store at a time.
      assert ((req_ready_o != '0) == begins);
      if (begins) begin
        assert (req_ready_o[owner_q] && (req_ready_o & ~req_valid_i) == '0);
        if (req_store_o) assert ((req_ready_o & (req_ready_o - 1'b1)) == '0);
        assert (busy_o == '0);
      end
      // Words and ends go to the cores that the transfer was granted to.
      assert (((ld_valid_o | st_ready_o | st_done_o | busy_o) & ~granted_q) == '0);
      assert (state_q <= Move && 32'(owner_q) < Cores && 32'(first_q) < Cores);
      assert ((live_q & ~granted_q) == '0 && part_q == granted_q);
      if (state_q != Move) assert (live_q == '0);
    end
  end
endmodule
