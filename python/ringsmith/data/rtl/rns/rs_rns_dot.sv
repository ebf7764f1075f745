// SPDX-License-Identifier: Apache-2.0
// Sums of products of RnsRate columns that share their factors: sum_r = sum over steps s of factor[s] * operand[s][r].
//
//   factor --|1|--|1|-- ...            column r works r cycles after column 0, so that the sums end one after another
//      |      |                        and one adder tree serves them all
//   column 0, 1, ... : tiles that add up --> the column that is done --|reg|--> adder tree --> sum_o
//
// No tile is added to another one before the sum is whole: a step costs no adder beside those of the multipliers.
// The last step of a sum of column 0 follows that of the sum before by RnsRate cycles or more. Column r's sum leaves
// dot_latency(MulStyle, FactorBits, OperandBits) + r cycles after column 0's last step.
module rs_rns_dot
  import rs_latency_pkg::*;
  import rs_build_pkg::*;
#(
  // Bits of a factor and of an operand, 1 or more.
  parameter int unsigned FactorBits = 32,
  parameter int unsigned OperandBits = 32,
  // Columns: 1, 2 or 4.
  parameter int unsigned RnsRate = 2,
  // Bits a sum may be longer than one product: log2 of the steps, rounded up.
  parameter int unsigned Guard = 4,
  // 0 asic, 1 dsp26x17, 2 dsp18x18.
  parameter int unsigned MulStyle = 1,
  localparam int unsigned SumBits = FactorBits + OperandBits + Guard
) (
  input  logic                                   clk_i,
  // Of column 0: its factor, whether it is the first or the last of a sum.
  input  logic                                   first_i,
  input  logic                                   last_i,
  input  logic [FactorBits-1:0]                  factor_i,
  // Column r's come r cycles later.
  input  logic [   RnsRate-1:0][OperandBits-1:0] operand_i,
  output logic [   SumBits-1:0]                  sum_o
);

  if (RnsRate != 1 && RnsRate != 2 && RnsRate != 4) begin : gen_rate_check
    $error("%m: RnsRate must be 1, 2 or 4");
  end

  localparam int unsigned MaxBits = FactorBits > OperandBits ? FactorBits : OperandBits;
  localparam int unsigned Half = (MaxBits + 1) / 2;
  localparam int unsigned TileA = MulStyle == MultiplierAsic ? Half : MulStyle == MultiplierDsp26x17 ? 26 : 18;
  localparam int unsigned TileB = MulStyle == MultiplierAsic ? Half : MulStyle == MultiplierDsp26x17 ? 17 : 18;
  localparam int unsigned TilesA = (FactorBits + TileA - 1) / TileA;
  localparam int unsigned TilesB = (OperandBits + TileB - 1) / TileB;
  localparam int unsigned Tiles = TilesA * TilesB;
  // Bits beyond one tile that are too few for a row of their own: one multiplier for the strip that they make with the
  // operand, turned round, and LUTs for the corner.
  localparam bit Strip = MulStyle == MultiplierDsp26x17 && TilesA == 2 && TilesB == 2 && FactorBits <= TileA + 4 &&
                         OperandBits > TileA && OperandBits <= TileA + 4;
  localparam int unsigned AccBits = TileA + TileB + Guard;
  localparam int unsigned MacLatency = 32'(mac_latency(int'(MulStyle)));
  // Sums of tiles this far apart in a row do not overlap.
  localparam int unsigned Stride = (AccBits + TileA - 1) / TileA;
  localparam int unsigned Sets = TilesA < Stride ? TilesA : Stride;
  localparam int unsigned Grid = Sets * TilesB;
  localparam int unsigned Vectors = Strip ? Grid - 1 : Grid;
  localparam int unsigned Levels = $clog2(Vectors);

  // Column r's step, and which column is done.
  logic [RnsRate-1:0][FactorBits-1:0] factor;
  logic [RnsRate-1:0] first;
  logic [RnsRate+MacLatency-2:0] done_q;
  logic [RnsRate-1:0] done;
  assign factor[0] = factor_i;
  assign first[0]  = first_i;
  for (genvar r = 1; r < RnsRate; r++) begin : gen_skew
    always_ff @(posedge clk_i) begin
      factor[r] <= factor[r-1];
      first[r]  <= first[r-1];
    end
  end
  always_ff @(posedge clk_i) done_q <= (RnsRate + MacLatency - 1)'({done_q, last_i});
  assign done = done_q[RnsRate+MacLatency-2:MacLatency-1];

  logic [RnsRate-1:0][Tiles-1:0][AccBits-1:0] acc;
  for (genvar r = 0; r < RnsRate; r++) begin : gen_column
    for (genvar i = 0; i < TilesA; i++) begin : gen_row
      localparam int unsigned WidthA = (i + 1) * TileA > FactorBits ? FactorBits - i * TileA : TileA;
      for (genvar j = 0; j < TilesB; j++) begin : gen_tile
        localparam int unsigned WidthB = (j + 1) * TileB > OperandBits ? OperandBits - j * TileB : TileB;
        // The operand's bits of a strip: all that the longer side of a multiplier takes, then the corner.
        localparam int unsigned Start = Strip && i == 1 ? j * TileA : j * TileB;
        localparam int unsigned Span = !Strip || i == 0 ? WidthB : j == 0 ? TileA : OperandBits - TileA;
        logic [WidthA+Span+Guard-1:0] tile_acc;
        if (Strip && i == 1) begin : gen_strip
          rs_mac_tile #(
            .AWidth  (Span),
            .BWidth  (WidthA),
            .AccWidth(WidthA + Span + Guard),
            .MulStyle(j == 0 ? MulStyle : MultiplierAsic)
          ) u_tile (
            .clk_i,
            .first_i(first[r]),
            .a_i    (operand_i[r][Start+:Span]),
            .b_i    (factor[r][i*TileA+:WidthA]),
            .acc_o  (tile_acc)
          );
        end else begin : gen_block
          rs_mac_tile #(
            .AWidth  (WidthA),
            .BWidth  (Span),
            .AccWidth(WidthA + Span + Guard),
            .MulStyle(MulStyle)
          ) u_tile (
            .clk_i,
            .first_i(first[r]),
            .a_i    (factor[r][i*TileA+:WidthA]),
            .b_i    (operand_i[r][Start+:Span]),
            .acc_o  (tile_acc)
          );
        end
        assign acc[r][j*TilesA+i] = AccBits'(tile_acc);
      end
    end
  end

  // The column that is done.
  logic [Tiles-1:0][AccBits-1:0] done_acc_q;
  always_ff @(posedge clk_i) begin
    done_acc_q <= acc[0];
    for (int r = 1; r < int'(RnsRate); r++) if (done[r]) done_acc_q <= acc[r];
  end

  logic [SumBits-1:0] grid[Grid];
  for (genvar j = 0; j < TilesB; j++) begin : gen_vector_row
    for (genvar s = 0; s < Sets; s++) begin : gen_vector
      always_comb begin
        grid[j*Sets+s] = '0;
        for (int i = s; i < int'(TilesA); i += int'(Sets)) begin
          grid[j*Sets+s] |= SumBits'(done_acc_q[j*int'(TilesA)+i]) <<
              (i * int'(TileA) + j * int'(Strip && i == 1 ? TileA : TileB));
        end
      end
    end
  end
  // The corner lies above the first tile.
  logic [SumBits-1:0] vector[Vectors];
  for (genvar v = 0; v < Vectors; v++) begin : gen_summand
    assign vector[v] = Strip && v == 0 ? grid[0] | grid[Grid-1] : grid[v];
  end

  if (MulStyle == MultiplierAsic) begin : gen_flat
    logic [SumBits-1:0] sum;
    always_comb begin
      sum = '0;
      for (int v = 0; v < int'(Vectors); v++) sum = sum + vector[v];
    end
    always_ff @(posedge clk_i) sum_o <= sum;
  end else begin : gen_tree
    // Level l holds ceil(Vectors / 2^l) summands.
    for (genvar l = 0; l <= Levels; l++) begin : gen_level
      localparam int unsigned Count = (Vectors + (1 << l) - 1) >> l;
      logic [SumBits-1:0] total[Count];
      if (l == 0) begin : gen_leaves
        assign total = vector;
      end else begin : gen_adders
        localparam int unsigned Above = (Vectors + (1 << (l - 1)) - 1) >> (l - 1);
        for (genvar v = 0; v < Count; v++) begin : gen_adder
          if (2 * v + 1 < Above) begin : gen_pair
            always_ff @(posedge clk_i) begin
              total[v] <= gen_level[l-1].total[2*v] + gen_level[l-1].total[2*v+1];
            end
          end else begin : gen_odd
            always_ff @(posedge clk_i) total[v] <= gen_level[l-1].total[2*v];
          end
        end
      end
    end
    assign sum_o = gen_level[Levels].total[0];
    if (Grid != 32'(dot_vectors(int'(MulStyle), int'(FactorBits), int'(OperandBits)))) begin : gen_latency_check
      $error("%m: the adder tree and dot_vectors of spec/latency.yaml disagree");
    end
  end

`ifndef SYNTHESIS
  // Before its first cycles the line of ends holds anything.
  logic [RnsRate+MacLatency-1:0] age_q;
  initial age_q = '0;
  always @(posedge clk_i) age_q <= (RnsRate + MacLatency)'({age_q, 1'b1});
  assert property (@(posedge clk_i) !(&age_q) || $onehot0(done))
  else $error("%m: two sums end at once");
`endif

endmodule
