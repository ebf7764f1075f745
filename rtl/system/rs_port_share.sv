// SPDX-License-Identifier: Apache-2.0
// Arbiter of one data port for several cores: round robin, and broadcast of a LOAD to all that wait for the same.
//
//   core 0 req --+                 +--> req            words of a LOAD --> every core that shares it
//   core 1 req --+--> round robin -+    data port      words of a STORE <-- the owner
//   ...          --+               +<-- idle
//
// A core becomes the owner at most Cores - 1 transfers after its request: none starves. Cores that request the owner's
// LOAD (same address, same degree) share it: its words are fetched once and go to all of them, each when all are ready.
//
// Cycles: a request is chosen in one, offered to the port from the next on; the port is free again once it is idle and
// its last word is taken (the port forgets a LOAD with its last beat, one word ahead of the core).
// With one core: wires.
//
// A core that is reset (core_rst_ni) leaves its transfer, which ends with abort_o when no core is left in it; busy_o
// stays until the port is idle.
module rs_port_share
  import rs_bundle_pkg::*;
#(
  // Cores, 1 to 8.
  parameter  int unsigned Cores    = 2,
  // Bits of a beat of the cores.
  parameter  int unsigned PortBits = 32,
  localparam int unsigned CoreBits = Cores > 1 ? $clog2(Cores) : 1
) (
  input  logic                                   clk_i,
  input  logic                                   rst_ni,
  // Cores: the reset of each one's data port, where its host buffers begin, and its data port as rs_core has it.
  input  logic      [   Cores-1:0]               core_rst_ni,
  input  logic      [   Cores-1:0][        63:0] base_i,
  input  port_req_t [   Cores-1:0]               core_i,
  output port_rsp_t [   Cores-1:0]               core_o,
  input  logic      [   Cores-1:0][PortBits-1:0] st_data_i,
  // A transfer of this core is in flight.
  output logic      [   Cores-1:0]               busy_o,
  // Data port, as rs_axi_dma has it.
  output logic      [        63:0]               base_o,
  output logic                                   abort_o,
  input  logic                                   idle_i,
  output port_req_t                              port_o,
  input  port_rsp_t                              port_i,
  output logic      [PortBits-1:0]               st_data_o
);
  if (Cores < rs_build_pkg::CoresLeast || Cores > rs_build_pkg::CoresMost) begin : gen_check_cores
    $fatal(1, "%m: Cores must be %0d to %0d", rs_build_pkg::CoresLeast, rs_build_pkg::CoresMost);
  end

  if (Cores == 1) begin : gen_one
    assign base_o    = base_i[0];
    assign abort_o   = !core_rst_ni[0];
    assign port_o    = core_i[0];
    assign core_o    = port_i;
    assign st_data_o = st_data_i[0];
    assign busy_o    = !idle_i;
    logic unused_one;
    assign unused_one = clk_i ^ rst_ni;
  end else begin : gen_share
    typedef enum logic [1:0] {
      Choose,
      Offer,
      Move
    } state_e;
    state_e state_q;

    // Owner, highest priority of the next choice, sharers, and those of them not reset since.
    logic [CoreBits-1:0] owner_q, first_q, chosen;
    logic [Cores-1:0] part_q, live_q, live, joins;
    logic start, free;
    transfer_t wanted;
    // The cores' signals, a bit for each.
    logic [Cores-1:0] asks, ld_ready, st_valid;

    // The first request, from first_q on.
    always_comb begin
      chosen = first_q;
      for (int unsigned i = Cores; i > 0; i--) begin
        automatic int unsigned at = 32'(first_q) + i - 1;
        if (at >= Cores) at -= Cores;
        if (asks[at]) chosen = CoreBits'(at);
      end
    end

    // Cores with the same request as the owner.
    always_comb begin
      for (int unsigned c = 0; c < Cores; c++) begin
        joins[c] = asks[c] && (owner_q == CoreBits'(c) || (!wanted.store && !core_i[c].transfer.store &&
            {base_i[c], core_i[c].transfer.buf_idx, core_i[c].transfer.log2_n} == {base_o, wanted.buf_idx, wanted.log2_n}));
      end
    end

    // The owner's request.
    assign wanted  = core_i[owner_q].transfer;
    assign base_o  = base_i[owner_q];
    assign start   = port_o.transfer.valid && port_i.ready;
    assign live    = live_q & core_rst_ni;
    assign abort_o = state_q == Move && live == '0;
    assign busy_o  = state_q == Move ? part_q : '0;
    assign free    = idle_i && !port_i.ld_valid;

    assign st_data_o = st_data_i[owner_q];
    assign port_o    = '{
            transfer: '{
                valid: state_q == Offer && wanted.valid,
                store: wanted.store,
                buf_idx: wanted.buf_idx,
                log2_n: wanted.log2_n
            },
            ld_ready: live != '0 && (live & ~ld_ready) == '0,
            st_valid: |(st_valid & live),
            st_last: core_i[owner_q].st_last
        };
    for (genvar c = 0; c < Cores; c++) begin : gen_core
      assign asks[c]     = core_i[c].transfer.valid;
      assign ld_ready[c] = core_i[c].ld_ready;
      assign st_valid[c] = core_i[c].st_valid;
      assign core_o[c]   = '{
              ready: start && joins[c],
              ld_valid: port_i.ld_valid && port_o.ld_ready && live[c],
              ld_err: port_i.ld_err,
              st_ready: port_i.st_ready && live[c],
              st_done: port_i.st_done && live[c],
              st_err: port_i.st_err
          };
    end

    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        state_q <= Choose;
        owner_q <= '0;
        first_q <= '0;
        part_q  <= '0;
        live_q  <= '0;
      end else begin
        unique case (state_q)
          Choose: begin
            owner_q <= chosen;
            if (asks != '0) state_q <= Offer;
          end
          Offer: begin
            if (start) begin
              state_q <= Move;
              part_q  <= joins;
              live_q  <= joins;
              first_q <= owner_q == CoreBits'(Cores - 1) ? '0 : owner_q + 1'b1;
            end else if (!wanted.valid) begin
              state_q <= Choose;
            end
          end
          default: begin
            live_q <= free ? '0 : live;
            if (free) state_q <= Choose;
          end
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
    // None starves: while a core waits, fewer than Cores transfers of others begin.
    for (genvar c = 0; c < Cores; c++) begin : gen_wait
      logic [CoreBits:0] passed_q;
      always_ff @(posedge clk_i or negedge rst_ni) begin
        if (!rst_ni) passed_q <= '0;
        else if (!asks[c] || core_o[c].ready) passed_q <= '0;
        else if (start) passed_q <= passed_q + 1'b1;
      end
      assert property (@(posedge clk_i) disable iff (!armed) 32'(passed_q) < Cores)
      else $error("%m: a core starves");
    end
    assert property (@(posedge clk_i) disable iff (!armed) start && wanted.store |-> $onehot(joins))
    else $error("%m: two cores store at a time");
    assert property (@(posedge clk_i) disable iff (!armed) port_i.ld_valid |-> state_q == Move)
    else $error("%m: a loaded word without a request");
    assert property (@(posedge clk_i) disable iff (!armed) port_i.st_done |-> state_q == Move)
    else $error("%m: a store ends that no core began");
`endif
  end
endmodule
