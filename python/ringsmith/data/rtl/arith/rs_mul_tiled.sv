// SPDX-License-Identifier: Apache-2.0
// Pipelined unsigned multiplier, tiled to the target's multipliers: p = a * b mod 2^OutWidth, less truncated tiles.
//
//   a, b --> tiles TileA x TileB --|reg|--|reg|--> rows without overlap --> adder tree, a register a level --> p
//
// Truncation: tiles wholly at or above bit OutWidth are not built, nor those whose product ends at or below bit
// DropBelow. With the latter p is too small by less than ceil(BWidth/TileB) * 2^DropBelow: a row j lacks less than
// (a mod 2^x) * b_j * 2^(j*TileB) with its last dropped bit below 2^DropBelow.
//
// Latency: mul_latency(MulStyle, AWidth, BWidth); a result every cycle. Asic: four tiles, their sum in stage two. Whole
// products that leave tiles of dsp26x17 all but empty are formed by rs_mul_strip, those of 54 to 60 bits by
// rs_mul_cross.
module rs_mul_tiled
  import rs_latency_pkg::*;
  import rs_build_pkg::*;
#(
  // Bits of a and b, 1 or more; the wider one should be a.
  parameter int unsigned AWidth = 32,
  parameter int unsigned BWidth = 32,
  // Low bits of the product that are wanted, at most AWidth + BWidth.
  parameter int unsigned OutWidth = AWidth + BWidth,
  // Error allowed, see above; 0 is exact.
  parameter int unsigned DropBelow = 0,
  // 0 asic, 1 dsp26x17 (Xilinx), 2 dsp18x18 (ECP5), 3 combinational.
  parameter int unsigned MulStyle = 1
) (
  input  logic                clk_i,
  input  logic [  AWidth-1:0] a_i,
  input  logic [  BWidth-1:0] b_i,
  output logic [OutWidth-1:0] p_o
);

  if (MulStyle > rs_mult_pkg::MultiplierWires) begin : gen_style_check
    $error("%m: MulStyle must be 0 (asic), 1 (dsp26x17), 2 (dsp18x18) or 3 (combinational)");
  end
  if (AWidth < 1 || BWidth < 1 || OutWidth > AWidth + BWidth) begin : gen_width_check
    $error("%m: AWidth and BWidth must be 1 or more and OutWidth at most their sum");
  end

  localparam bit Whole = OutWidth == AWidth + BWidth && DropBelow == 0;
  localparam bit Strip = Whole && AWidth > 26 && AWidth <= 30 && BWidth > 17 && BWidth <= 34;
  localparam bit Cross = Whole && AWidth >= 54 && AWidth <= 60 && BWidth >= 54 && BWidth <= 60;
  if (MulStyle == MultiplierDsp26x17 && Cross) begin : gen_cross
    rs_mul_cross #(
      .AWidth(AWidth),
      .BWidth(BWidth)
    ) u_cross (
      .clk_i,
      .a_i,
      .b_i,
      .p_o
    );
  end else if (MulStyle == MultiplierDsp26x17 && Strip) begin : gen_strip
    rs_mul_strip #(
      .AWidth(AWidth),
      .BWidth(BWidth)
    ) u_strip (
      .clk_i,
      .a_i,
      .b_i,
      .p_o
    );
  end else begin : gen_tiles
    // Few large tiles, their sum in one step.
    localparam bit Short = MulStyle == MultiplierAsic || MulStyle == rs_mult_pkg::MultiplierWires;
    localparam int unsigned MaxWidth = AWidth > BWidth ? AWidth : BWidth;
    localparam int unsigned Half = (MaxWidth + 1) / 2;
    localparam int unsigned TileA = Short ? Half : MulStyle == MultiplierDsp26x17 ? 26 : 18;
    localparam int unsigned TileB = Short ? Half : MulStyle == MultiplierDsp26x17 ? 17 : 18;
    localparam int unsigned TilesA = (AWidth + TileA - 1) / TileA;
    localparam int unsigned TilesB = (BWidth + TileB - 1) / TileB;
    // Tiles of even and of odd column number in a row do not overlap: each set is one summand.
    localparam int unsigned Sets = TilesA > 1 ? 2 : 1;
    localparam int unsigned Vectors = Sets * TilesB;
    localparam int unsigned Levels = $clog2(Vectors);
    localparam int unsigned Latency = 32'(mul_latency(int'(MulStyle), int'(AWidth), int'(BWidth)));

    logic [OutWidth-1:0] vector[Vectors];

    for (genvar j = 0; j < TilesB; j++) begin : gen_row
      localparam int unsigned WidthB = (j + 1) * TileB > BWidth ? BWidth - j * TileB : TileB;
      for (genvar s = 0; s < Sets; s++) begin : gen_set
        logic [AWidth+BWidth-1:0] full;
        for (genvar i = s; i < TilesA; i += Sets) begin : gen_tile
          localparam int unsigned WidthA = (i + 1) * TileA > AWidth ? AWidth - i * TileA : TileA;
          localparam int unsigned Offset = i * TileA + j * TileB;
          localparam int unsigned Wide = WidthA + WidthB;
          // Bits of full this tile fills: up to where the next tile of the set starts.
          localparam int unsigned Next = i + Sets < TilesA ? Offset + Sets * TileA : AWidth + BWidth;
          if (Offset < OutWidth && Offset + Wide > DropBelow) begin : gen_kept
            // Bits of the product that are wanted.
            localparam int unsigned Kept = Offset + Wide > OutWidth ? OutWidth - Offset : Wide;
            logic [Kept-1:0] product;
            rs_mult_tile #(
              .AWidth  (WidthA),
              .BWidth  (WidthB),
              .OutWidth(Kept),
              .MulStyle(MulStyle)
            ) u_tile (
              .clk_i,
              .a_i(a_i[i*TileA+:WidthA]),
              .b_i(b_i[j*TileB+:WidthB]),
              .p_o(product)
            );
            assign full[Next-1:Offset] = (Next - Offset)'(product);
          end else begin : gen_dropped
            assign full[Next-1:Offset] = '0;
          end
        end
        if (s * TileA + j * TileB > 0) begin : gen_below
          assign full[s*TileA+j*TileB-1:0] = '0;
        end
        assign vector[j*Sets+s] = full[OutWidth-1:0];
        if (OutWidth < AWidth + BWidth) begin : gen_above
          logic unused_full;
          assign unused_full = ^full[AWidth+BWidth-1:OutWidth];
        end
      end
    end

    if (Short) begin : gen_flat_sum
      logic [OutWidth-1:0] sum;
      always_comb begin
        sum = '0;
        for (int v = 0; v < int'(Vectors); v++) sum = sum + vector[v];
      end
      if (MulStyle == rs_mult_pkg::MultiplierWires) begin : gen_wire
        assign p_o = sum;
        logic unused_clk;
        assign unused_clk = clk_i;
      end else begin : gen_last
        always_ff @(posedge clk_i) p_o <= sum;
      end
    end else begin : gen_tree
      // Level l holds ceil(Vectors / 2^l) summands.
      for (genvar l = 0; l <= Levels; l++) begin : gen_level
        localparam int unsigned Count = (Vectors + (1 << l) - 1) >> l;
        logic [OutWidth-1:0] total[Count];
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
      assign p_o = gen_level[Levels].total[0];
    end

    if (!Short && Latency != 2 + Levels) begin : gen_latency_check
      $error("%m: the pipeline and mul_latency of spec/latency.yaml disagree");
    end
  end

  // Operand bits whose tiles are all truncated stay unread.
  logic unused_operands;
  assign unused_operands = ^{a_i, b_i};

endmodule
