// SPDX-License-Identifier: Apache-2.0
// Moduli with their reduction constants, and factors, of every lane; written by the host, selected by index:
// tables in LUT RAM.
//
// sel_i: 0 the modulus m; 1 Barrett floor(2^(k+W+2) / m), Montgomery (m - 1) >> MontW; 2 Barrett k (the bits of
// m), Montgomery minus one in Montgomery form; 3 a constant. A modulus counts as configured once the last lane has it.
// The chosen modulus comes a cycle after its index; the constant in the same cycle as its index.
module rs_config
  import rs_build_pkg::*;
#(
  // Bits of a coefficient.
  parameter int unsigned W = 32,
  // 1 to 15.
  parameter int unsigned Lanes = 1,
  // Modulus indices, 1 to 16; constants, 1 to 32.
  parameter int unsigned Moduli = 1,
  parameter int unsigned Consts = 1,
  // 0 Barrett, 1 word-level Montgomery.
  parameter int unsigned MulKind = 0
) (
  input  logic                    clk_i,
  input  logic                    rst_ni,
  input  logic                    we_i,
  input  logic [      1:0]        sel_i,
  input  logic [      3:0]        lane_i,
  input  logic [      4:0]        idx_i,
  input  logic [    W+2:0]        data_i,
  output logic [     15:0]        configured_o,
  input  logic [      3:0]        mod_idx_i,
  output logic [Lanes-1:0][W-1:0] modulus_o,
  output logic [Lanes-1:0][W+2:0] aux_o,
  output logic [Lanes-1:0][  7:0] mod_bits_o,
  output logic [Lanes-1:0][W-1:0] minus_one_o,
  input  logic [      4:0]        const_idx_i,
  output logic [Lanes-1:0][W-1:0] constant_o
);

  if (Lanes < LanesLeast || Lanes > LanesMost) begin : gen_lanes_check
    $error("%m: Lanes must be %0d to %0d", LanesLeast, LanesMost);
  end
  if (Moduli < ModuliLeast || Moduli > ModuliMost) begin : gen_moduli_check
    $error("%m: Moduli must be %0d to %0d", ModuliLeast, ModuliMost);
  end
  if (Consts < ConstsLeast || Consts > ConstsMost) begin : gen_consts_check
    $error("%m: Consts must be %0d to %0d", ConstsLeast, ConstsMost);
  end

  // The third entry of a modulus: k, or minus one.
  localparam int unsigned ThirdBits = MulKind == ReductionBarrett ? 8 : W;

  // Tables of two words at least; what lies beyond the build is not written.
  localparam int unsigned ModuliWords = Moduli < 2 ? 2 : Moduli;
  localparam int unsigned ConstsWords = Consts < 2 ? 2 : Consts;
  localparam int unsigned MBits = $clog2(ModuliWords);
  localparam int unsigned CBits = $clog2(ConstsWords);
  logic there, constant_there;
  assign there          = int'(idx_i) < int'(Moduli);
  assign constant_there = int'(idx_i) < int'(Consts);
  // The index waits, not the words of every lane.
  logic [MBits-1:0] mod_idx_q;
  always_ff @(posedge clk_i) mod_idx_q <= mod_idx_i[MBits-1:0];
  logic unused_idx;
  assign unused_idx = ^{mod_idx_i, const_idx_i};

  for (genvar l = 0; l < Lanes; l++) begin : gen_lane
    logic [ThirdBits-1:0] third;
    logic mine;
    assign mine = we_i && lane_i == 4'(l);

    rs_table #(
      .Width     (W),
      .DepthWords(ModuliWords),
      .Registered(1'b0)
    ) u_moduli (
      .clk_i,
      .rd_addr_i(mod_idx_q),
      .rd_data_o(modulus_o[l]),
      .wr_en_i  (mine && sel_i == 2'd0 && there),
      .wr_addr_i(idx_i[MBits-1:0]),
      .wr_data_i(data_i[W-1:0])
    );
    rs_table #(
      .Width     (W + 3),
      .DepthWords(ModuliWords),
      .Registered(1'b0)
    ) u_aux (
      .clk_i,
      .rd_addr_i(mod_idx_q),
      .rd_data_o(aux_o[l]),
      .wr_en_i  (mine && sel_i == 2'd1 && there),
      .wr_addr_i(idx_i[MBits-1:0]),
      .wr_data_i(data_i)
    );
    rs_table #(
      .Width     (ThirdBits),
      .DepthWords(ModuliWords),
      .Registered(1'b0)
    ) u_third (
      .clk_i,
      .rd_addr_i(mod_idx_q),
      .rd_data_o(third),
      .wr_en_i  (mine && sel_i == 2'd2 && there),
      .wr_addr_i(idx_i[MBits-1:0]),
      .wr_data_i(data_i[ThirdBits-1:0])
    );
    rs_table #(
      .Width     (W),
      .DepthWords(ConstsWords),
      .Registered(1'b0)
    ) u_constants (
      .clk_i,
      .rd_addr_i(const_idx_i[CBits-1:0]),
      .rd_data_o(constant_o[l]),
      .wr_en_i  (mine && sel_i == 2'd3 && constant_there),
      .wr_addr_i(idx_i[CBits-1:0]),
      .wr_data_i(data_i[W-1:0])
    );

    if (MulKind == ReductionBarrett) begin : gen_barrett
      // m is odd wherever minus one is used.
      assign mod_bits_o[l]  = third;
      assign minus_one_o[l] = {modulus_o[l][W-1:1], 1'b0};
    end else begin : gen_montgomery
      assign mod_bits_o[l]  = '0;
      assign minus_one_o[l] = third;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) configured_o <= '0;
    else if (we_i && sel_i == 2'd0 && lane_i == 4'(Lanes - 1) && there) begin
      configured_o[idx_i[3:0]] <= 1'b1;
    end
  end

endmodule
