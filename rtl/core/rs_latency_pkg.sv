// SPDX-License-Identifier: Apache-2.0
// Generated from spec/latency.yaml by `python -m ringsmith.gen`; do not edit.
// Latencies in cycles as functions of the build: parents, sequencer and assertions ask these, none repeats them.
package rs_latency_pkg;

  function automatic int lat_ceil_div(int a, int b);
    return (a + b - 1) / b;
  endfunction

  function automatic int lat_max(int a, int b);
    return (a > b) ? a : b;
  endfunction

  function automatic int lat_min(int a, int b);
    return (a < b) ? a : b;
  endfunction

  // Summands left of a tiled product once tiles that do not overlap are concatenated.
  function automatic int tile_vectors(int style, int aw, int bw);
    return (((style == 0) || (style == 3)) ? 4 : (lat_ceil_div(bw, ((style == 1) ? 17 : 18)) * ((aw <= ((style == 1) ? 26 : 18)) ? 1 : 2)));
  endfunction

  // rs_mul_tiled: two stages for a tile, then one for each level of the adder tree (asic: all in the second).
  function automatic int mul_latency(int style, int aw, int bw);
    return ((style == 3) ? 0 : ((style == 0) ? 2 : (2 + $clog2(tile_vectors(style, aw, bw)))));
  endfunction

  // rs_mod_addsub: sum, reduction and correction in one stage (asic) or one each.
  function automatic int addsub_latency(int style);
    return ((style == 3) ? 0 : ((style == 0) ? 1 : 3));
  endfunction

  // rs_mul_barrett: the alignment of the product to the modulus.
  function automatic int shift_latency(int style, int w, int minbits);
    return (((style == 0) || (style == 3) || (minbits >= w)) ? 0 : 2);
  endfunction

  // rs_mod_barrett: alignment, quotient, quotient times modulus, two subtractions.
  function automatic int reduce_barrett_latency(int style, int w, int minbits, int guard);
    return (((shift_latency(style, w, minbits) + mul_latency(style, ((w + guard) + 3), ((w + guard) + 2))) + mul_latency(style, (w + lat_min(guard, 1)), w)) + ((style == 3) ? 0 : ((style == 0) ? 1 : 2)));
  endfunction

  // rs_mul_barrett: product and reduction.
  function automatic int barrett_latency(int style, int w, int minbits);
    return (mul_latency(style, w, w) + reduce_barrett_latency(style, w, minbits, 0));
  endfunction

  // rs_mod_montgomery: a small product and a subtraction for each word.
  function automatic int reduce_montgomery_latency(int style, int w, int mw, int guard);
    return (lat_ceil_div((w + guard), mw) * (mul_latency(style, (w - mw), mw) + 1));
  endfunction

  // rs_mul_montgomery: product and reduction.
  function automatic int montgomery_latency(int style, int w, int mw);
    return (mul_latency(style, w, w) + reduce_montgomery_latency(style, w, mw, 0));
  endfunction

  // rs_mod_reduce: the selected reduction of a sum of products.
  function automatic int reduce_latency(int kind, int style, int w, int minbits, int mw, int guard);
    return ((kind == 0) ? reduce_barrett_latency(style, w, minbits, guard) : reduce_montgomery_latency(style, w, mw, guard));
  endfunction

  // rs_mod_mul: the selected reduction.
  function automatic int mod_mul_latency(int kind, int style, int w, int minbits, int mw);
    return ((kind == 0) ? barrett_latency(style, w, minbits) : montgomery_latency(style, w, mw));
  endfunction

  // rs_butterfly: Gentleman-Sande sums, multiplier, Cooley-Tukey sums.
  function automatic int butterfly_latency(int kind, int style, int w, int minbits, int mw);
    return ((2 * addsub_latency(style)) + mod_mul_latency(kind, style, w, minbits, mw));
  endfunction

  // Cycles from the issue of a read to the first issue that sees the result: memory, operand register, butterfly,
  // write.
  function automatic int pipe_latency(int kind, int style, int w, int minbits, int mw);
    return (butterfly_latency(kind, style, w, minbits, mw) + 3);
  endfunction

  // rs_pointwise: memory, operand register, multiplier, sum, write.
  function automatic int pointwise_pipe(int kind, int style, int w, int minbits, int mw);
    return ((mod_mul_latency(kind, style, w, minbits, mw) + addsub_latency(style)) + 3);
  endfunction

  // rs_mac_tile: product and accumulator; the multipliers of style 2 have two registers of their own.
  function automatic int mac_latency(int style);
    return ((style == 2) ? 3 : 2);
  endfunction

  // Summands left of a sum of tiled products once tiles that do not overlap are concatenated.
  function automatic int dot_vectors(int style, int aw, int bw);
    return ((style == 0) ? 4 : ((style == 1) ? (lat_ceil_div(bw, 17) * lat_min(lat_ceil_div(aw, 26), 2)) : (lat_ceil_div(bw, 18) * lat_min(lat_ceil_div(aw, 18), 3))));
  endfunction

  // rs_rns_dot: accumulators, choice of the column, adder tree (asic: all in one stage).
  function automatic int dot_latency(int style, int aw, int bw);
    return ((mac_latency(style) + 1) + ((style == 0) ? 1 : $clog2(dot_vectors(style, aw, bw))));
  endfunction

  // Bits of C_i = round(2^F / q_i), F = 51 + bits of the narrowest q_i: C_i reaches 2^52 where a modulus has 54 bits.
  function automatic int reciprocal_bits(int w);
    return ((w > 53) ? 53 : 52);
  endfunction

  // rs_rns_factor: multiplier and correction.
  function automatic int factor_latency(int kind, int style, int w, int minbits, int mw);
    return (mod_mul_latency(kind, style, w, minbits, mw) + 1);
  endfunction

  // rs_rns_quotient: sum of products, alignment, rounding.
  function automatic int quotient_latency(int style, int w);
    return (dot_latency(style, reciprocal_bits(w), w) + 2);
  endfunction

  // rs_rns: from the last step of a base conversion to the write of its last coefficient, first read included.
  function automatic int convert_pipe(int kind, int style, int w, int minbits, int mw, int p, int rate);
    return ((((((lat_max((rate / p), 1) + rate) + 1) + factor_latency(kind, style, w, minbits, mw)) + dot_latency(style, w, w)) + reduce_latency(kind, style, w, minbits, mw, 4)) + addsub_latency(style));
  endfunction

  // Cycles from one group of `rate` coefficients of a base conversion to the next; terms: input primes, and one for
  // kept residues.
  function automatic int convert_steps(int terms, int rate);
    return lat_max(terms, rate);
  endfunction

  // LIFT, SCALE alone, pipe = convert_pipe: from its start to the last write.
  function automatic int convert(int log2n, int terms, int rate, int pipe);
    return ((((((1 << log2n) / rate) - 1) * convert_steps(terms, rate)) + terms) + pipe);
  endfunction

  // AUTO, DECOMP: a word a cycle.
  function automatic int move_words(int log2n, int p);
    return (((1 << log2n) / p) + 6);
  endfunction

  // Idle cycles between two stages of a transform: a stage needs its predecessor's words n/(4P) cycles later.
  function automatic int stage_gap(int log2n, int p, int pipe);
    return ((pipe > ((1 << log2n) / (4 * p))) ? (pipe - ((1 << log2n) / (4 * p))) : 0);
  endfunction

  // Cycles in which a transform occupies the issue of the compute unit.
  function automatic int transform_issue(int log2n, int p, int pipe);
    return ((log2n * ((1 << log2n) / (2 * p))) + ((log2n - 1) * stage_gap(log2n, p, pipe)));
  endfunction

  // Cycles in which a pointwise instruction occupies the issue of the compute unit.
  function automatic int pointwise_issue(int log2n, int p);
    return ((1 << log2n) / p);
  endfunction

  // Cycles from a word entering the empty command FIFO of an idle core to the start of its instruction.
  function automatic int dispatch_latency();
    return 3;
  endfunction

  // NTT alone: from its start to the last write.
  function automatic int ntt(int log2n, int p, int pipe);
    return (transform_issue(log2n, p, pipe) + pipe);
  endfunction

  // INTT alone, with or without the fused addition: from its start to the last write.
  function automatic int intt(int log2n, int p, int pipe);
    return (transform_issue(log2n, p, pipe) + pipe);
  endfunction

  // Pointwise instruction alone: from its start to the last write.
  function automatic int pointwise(int log2n, int p, int pipe);
    return (pointwise_issue(log2n, p) + pipe);
  endfunction

  // PMUL alone: both halves are written side by side.
  function automatic int pmul(int log2n, int p, int pipe);
    return (pointwise_issue(log2n, p) + pipe);
  endfunction

  // MEMCPY: one word a cycle.
  function automatic int memcpy(int log2n, int p);
    return (((1 << log2n) / p) + 3);
  endfunction

  // MEMCPYR: one coefficient a cycle.
  function automatic int memcpyr(int log2n);
    return ((1 << log2n) + 3);
  endfunction

  // LOAD with data always ready, the host's own time not included.
  function automatic int load(int log2n, int p, int lanes);
    return ((lanes * ((1 << log2n) / p)) + 2);
  endfunction

  // STORE into a sink that is always ready, the host's own time not included.
  function automatic int store(int log2n, int p, int lanes);
    return ((lanes * ((1 << log2n) / p)) + 6);
  endfunction

  // SYNC once all units are idle.
  function automatic int sync();
    return 1;
  endfunction

  // rs_ntt8_unrolled: registered once or after every row if combinational, else three pipelined butterflies.
  function automatic int ntt8_unrolled_latency(int style, int w, int minbits, int registers);
    return ((style == 3) ? ((registers == 1) ? 3 : 1) : (3 * butterfly_latency(0, style, w, minbits, 0)));
  endfunction

  // rs_ntt8_engine: cn 1, pn3 and pn1 3, pn3d and stream three pipelined butterflies (variants of spec/build.yaml).
  function automatic int ntt8_latency(int variant, int style, int w, int minbits);
    return ((variant == 0) ? 1 : ((variant < 3) ? 3 : ntt8_unrolled_latency(style, w, minbits, 0)));
  endfunction

endpackage
