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
module rs_port_share #(
  // Cores, 1 to 8.
  parameter  int unsigned Cores    = 2,
  // Bits of a beat of the cores.
  parameter  int unsigned PortBits = 32,
  localparam int unsigned CoreBits = Cores > 1 ? $clog2(Cores) : 1
) (
  input  logic                              clk_i,
  input  logic                              rst_ni,
  // Cores: the reset of each one's data port, where its host buffers begin, and its data port as rs_core has it.
  input  logic [   Cores-1:0]               core_rst_ni,
  input  logic [   Cores-1:0][        63:0] base_i,
  input  logic [   Cores-1:0]               req_valid_i,
  output logic [   Cores-1:0]               req_ready_o,
  input  logic [   Cores-1:0]               req_store_i,
  input  logic [   Cores-1:0][        19:0] req_buf_i,
  input  logic [   Cores-1:0][         3:0] req_logn_i,
  output logic [   Cores-1:0]               ld_valid_o,
  input  logic [   Cores-1:0]               ld_ready_i,
  input  logic [   Cores-1:0]               st_valid_i,
  output logic [   Cores-1:0]               st_ready_o,
  input  logic [   Cores-1:0][PortBits-1:0] st_data_i,
  output logic [   Cores-1:0]               st_done_o,
  // A transfer of this core is in flight.
  output logic [   Cores-1:0]               busy_o,
  // Data port, as rs_axi_dma has it.
  output logic [        63:0]               base_o,
  output logic                              abort_o,
  input  logic                              idle_i,
  output logic                              req_valid_o,
  input  logic                              req_ready_i,
  output logic                              req_store_o,
  output logic [        19:0]               req_buf_o,
  output logic [         3:0]               req_logn_o,
  input  logic                              ld_valid_i,
  output logic                              ld_ready_o,
  output logic                              st_valid_o,
  input  logic                              st_ready_i,
  output logic [PortBits-1:0]               st_data_o,
  input  logic                              st_done_i
);
  if (Cores < rs_build_pkg::CoresLeast || Cores > rs_build_pkg::CoresMost) begin : gen_check_cores
    $fatal(1, "%m: Cores must be %0d to %0d", rs_build_pkg::CoresLeast, rs_build_pkg::CoresMost);
  end

  if (Cores == 1) begin : gen_one
    assign base_o      = base_i[0];
    assign abort_o     = !core_rst_ni[0];
    assign req_valid_o = req_valid_i[0];
    assign req_ready_o = req_ready_i;
    assign req_store_o = req_store_i[0];
    assign req_buf_o   = req_buf_i[0];
    assign req_logn_o  = req_logn_i[0];
    assign ld_valid_o  = ld_valid_i;
    assign ld_ready_o  = ld_ready_i[0];
    assign st_valid_o  = st_valid_i[0];
    assign st_ready_o  = st_ready_i;
    assign st_data_o   = st_data_i[0];
    assign st_done_o   = st_done_i;
    assign busy_o      = !idle_i;
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

    // The first request, from first_q on.
    always_comb begin
      chosen = first_q;
      for (int unsigned i = Cores; i > 0; i--) begin
        automatic int unsigned at = 32'(first_q) + i - 1;
        if (at >= Cores) at -= Cores;
        if (req_valid_i[at]) chosen = CoreBits'(at);
      end
    end

    // Cores with the same request as the owner.
    always_comb begin
      for (int unsigned c = 0; c < Cores; c++) begin
        joins[c] = req_valid_i[c] && (owner_q == CoreBits'(c) || (!req_store_o && !req_store_i[c] &&
            {base_i[c], req_buf_i[c], req_logn_i[c]} == {base_o, req_buf_o, req_logn_o}));
      end
    end

    assign base_o      = base_i[owner_q];
    assign req_store_o = req_store_i[owner_q];
    assign req_buf_o   = req_buf_i[owner_q];
    assign req_logn_o  = req_logn_i[owner_q];
    assign req_valid_o = state_q == Offer && req_valid_i[owner_q];
    assign start       = req_valid_o && req_ready_i;
    assign req_ready_o = start ? joins : '0;

    assign live       = live_q & core_rst_ni;
    assign abort_o    = state_q == Move && live == '0;
    assign ld_ready_o = live != '0 && (live & ~ld_ready_i) == '0;
    assign ld_valid_o = ld_valid_i && ld_ready_o ? live : '0;
    assign st_valid_o = |(st_valid_i & live);
    assign st_ready_o = st_ready_i ? live : '0;
    assign st_data_o  = st_data_i[owner_q];
    assign st_done_o  = st_done_i ? live : '0;
    assign busy_o     = state_q == Move ? part_q : '0;
    assign free       = idle_i && !ld_valid_i;

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
            if (req_valid_i != '0) state_q <= Offer;
          end
          Offer: begin
            if (start) begin
              state_q <= Move;
              part_q  <= joins;
              live_q  <= joins;
              first_q <= owner_q == CoreBits'(Cores - 1) ? '0 : owner_q + 1'b1;
            end else if (!req_valid_i[owner_q]) begin
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
        else if (!req_valid_i[c] || req_ready_o[c]) passed_q <= '0;
        else if (start) passed_q <= passed_q + 1'b1;
      end
      assert property (@(posedge clk_i) disable iff (!armed) 32'(passed_q) < Cores)
      else $error("%m: a core starves");
    end
    assert property (@(posedge clk_i) disable iff (!armed) start && req_store_o |-> $onehot(joins))
    else $error("%m: two cores store at a time");
    assert property (@(posedge clk_i) disable iff (!armed) ld_valid_i |-> state_q == Move)
    else $error("%m: a loaded word for nobody");
    assert property (@(posedge clk_i) disable iff (!armed) st_done_i |-> state_q == Move)
    else $error("%m: a store ends that nobody asked for");
`endif
  end
endmodule
