// SPDX-License-Identifier: Apache-2.0
// One polynomial memory: two banks of words of P coefficients.
//
// dual_port: one read and one write port a bank. single_port: one access a bank and cycle. The caller maps a word
// address to a bank (the parity of the address) and to the address in it (the address without its lowest bit).
// Read latency one cycle. Who reads one word takes rd_word_o, so that a choice among slots is not one among banks too.
module rs_slot #(
  // Bits of a word, P times those of a coefficient.
  parameter int unsigned WordBits = 64,
  // Words a bank holds, 2 or more.
  parameter int unsigned BankWords = 8,
  // 1: single_port.
  parameter bit SinglePort = 1'b0,
  localparam int unsigned AddrBits = $clog2(BankWords)
) (
  input  logic                              clk_i,
  input  logic [         1:0]               rd_en_i,
  input  logic [         1:0][AddrBits-1:0] rd_addr_i,
  // The bank of the first or only word that is read.
  input  logic                              rd_first_i,
  output logic [         1:0][WordBits-1:0] rd_data_o,
  // The first or only word read last.
  output logic [WordBits-1:0]               rd_word_o,
  input  logic [         1:0]               wr_en_i,
  input  logic [         1:0][AddrBits-1:0] wr_addr_i,
  input  logic [         1:0][WordBits-1:0] wr_data_i
);

  logic bank_q;
  always_ff @(posedge clk_i) if (|rd_en_i) bank_q <= rd_first_i;
  assign rd_word_o = rd_data_o[bank_q];

  for (genvar b = 0; b < 2; b++) begin : gen_bank
    if (SinglePort) begin : gen_single
      rs_ram_1rw #(
        .Width     (WordBits),
        .DepthWords(BankWords)
      ) u_ram (
        .clk_i,
        .rd_en_i  (rd_en_i[b]),
        .wr_en_i  (wr_en_i[b]),
        .addr_i   (wr_en_i[b] ? wr_addr_i[b] : rd_addr_i[b]),
        .wr_data_i(wr_data_i[b]),
        .rd_data_o(rd_data_o[b])
      );
    end else begin : gen_dual
      rs_ram_1r1w #(
        .Width     (WordBits),
        .DepthWords(BankWords)
      ) u_ram (
        .clk_i,
        .rd_en_i  (rd_en_i[b]),
        .rd_addr_i(rd_addr_i[b]),
        .rd_data_o(rd_data_o[b]),
        .wr_en_i  (wr_en_i[b]),
        .wr_addr_i(wr_addr_i[b]),
        .wr_data_i(wr_data_i[b])
      );
    end
  end

endmodule
