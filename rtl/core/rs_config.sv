// SPDX-License-Identifier: Apache-2.0
// Moduli with their reduction constants, and factors, of every lane; written by the host, selected by index.
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

  for (genvar l = 0; l < Lanes; l++) begin : gen_lane
    logic [W-1:0] modulus_q[Moduli];
    logic [W+2:0] aux_q[Moduli];
    logic [ThirdBits-1:0] third_q[Moduli];
    logic [W-1:0] constant_q[Consts];
    logic [ThirdBits-1:0] third_chosen_q;
    logic mine;
    assign mine = we_i && lane_i == 4'(l);

    always_ff @(posedge clk_i) begin
      for (int i = 0; i < int'(Moduli); i++) begin
        if (mine && sel_i == 2'd0 && idx_i == 5'(i)) modulus_q[i] <= data_i[W-1:0];
        if (mine && sel_i == 2'd1 && idx_i == 5'(i)) aux_q[i] <= data_i;
        if (mine && sel_i == 2'd2 && idx_i == 5'(i)) third_q[i] <= data_i[ThirdBits-1:0];
        if (mod_idx_i == 4'(i)) begin
          modulus_o[l]   <= modulus_q[i];
          aux_o[l]       <= aux_q[i];
          third_chosen_q <= third_q[i];
        end
      end
      for (int i = 0; i < int'(Consts); i++) begin
        if (mine && sel_i == 2'd3 && idx_i == 5'(i)) constant_q[i] <= data_i[W-1:0];
      end
    end

    always_comb begin
      constant_o[l] = '0;
      for (int i = 0; i < int'(Consts); i++) begin
        if (const_idx_i == 5'(i)) constant_o[l] = constant_q[i];
      end
    end

    if (MulKind == ReductionBarrett) begin : gen_barrett
      // m is odd wherever minus one is used.
      assign mod_bits_o[l]  = third_chosen_q;
      assign minus_one_o[l] = {modulus_o[l][W-1:1], 1'b0};
    end else begin : gen_montgomery
      assign mod_bits_o[l]  = '0;
      assign minus_one_o[l] = third_chosen_q;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) configured_o <= '0;
    else if (we_i && sel_i == 2'd0 && lane_i == 4'(Lanes - 1) && int'(idx_i) < int'(Moduli)) begin
      configured_o[idx_i[3:0]] <= 1'b1;
    end
  end

endmodule
