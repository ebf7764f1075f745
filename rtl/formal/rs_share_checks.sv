// SPDX-License-Identifier: Apache-2.0
// Checks bound into rs_port_share: who waits sees fewer than Cores transfers of others begin; a free port is not left
// idle while cores wait; words go to the cores that the transfer was granted to.
//
// Transfers that pass a waiting core, cycles that the port is left idle and the cores of a transfer are counted here,
// from the ports. The assertions on the inside make the proof inductive: turns run from first_q on, and a core that was
// passed once is nearer to its turn after each further transfer.
module rs_share_checks
  import rs_bundle_pkg::*;
#(
  parameter int unsigned Cores = 3,
  parameter int unsigned CoreBits = 2
) (
  input logic                     clk_i,
  input logic                     rst_ni,
  input port_req_t [   Cores-1:0] core_i,
  input port_rsp_t [   Cores-1:0] core_o,
  input logic      [   Cores-1:0] busy_o,
  input port_req_t                port_o,
  input port_rsp_t                port_i,
  // Inside.
  input logic      [         1:0] state_q,
  input logic      [CoreBits-1:0] owner_q,
  input logic      [CoreBits-1:0] first_q,
  input logic      [   Cores-1:0] part_q,
  input logic      [   Cores-1:0] live_q
);
  // The cores' signals, a bit for each: they ask, are granted a transfer, get a word or the end of one.
  logic [Cores-1:0] asks, granted, served;
  for (genvar c = 0; c < Cores; c++) begin : gen_core
    assign asks[c]    = core_i[c].transfer.valid;
    assign granted[c] = core_o[c].ready;
    assign served[c]  = core_o[c].ld_valid || core_o[c].st_ready || core_o[c].st_done || busy_o[c];
  end

  // As in rs_port_share.
  localparam logic [1:0] Choose = 2'd0;
  localparam logic [1:0] Offer = 2'd1;
  localparam logic [1:0] Move = 2'd2;

  // Transfers that passed each core since it asked; cores of the transfer; cycles that a free port was left idle.
  logic [Cores-1:0][3:0] passed_q;
  logic [Cores-1:0] granted_q, waiting_q;
  logic [1:0] idle_q;
  logic begins, left_idle, withdrawn;
  assign begins    = port_o.transfer.valid && port_i.ready;
  assign withdrawn = (waiting_q & ~asks) != '0;
  assign left_idle = state_q != Move && port_i.ready && asks != '0 && !begins;

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
      waiting_q <= asks & ~granted;
      idle_q    <= left_idle && !withdrawn ? idle_q + 1'b1 : '0;
      if (begins) granted_q <= granted;
      for (int unsigned c = 0; c < Cores; c++) begin
        if (!asks[c] || granted[c]) passed_q[c] <= '0;
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
      assert ((granted != '0) == begins);
      if (begins) begin
        assert (granted[owner_q] && (granted & ~asks) == '0);
        if (port_o.transfer.store) assert ((granted & (granted - 1'b1)) == '0);
        assert (busy_o == '0);
      end
      // Words and ends go to the cores that the transfer was granted to.
      assert ((served & ~granted_q) == '0);
      assert (state_q <= Move && 32'(owner_q) < Cores && 32'(first_q) < Cores);
      assert ((live_q & ~granted_q) == '0 && part_q == granted_q);
      if (state_q != Move) assert (live_q == '0);
    end
  end
endmodule
