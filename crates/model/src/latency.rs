// SPDX-License-Identifier: Apache-2.0
// Generated from spec/latency.yaml by `python -m ringsmith.gen`; do not edit.
//! Latencies in cycles as functions of the build, the same formulas as the RTL's package.
#![allow(clippy::all, dead_code, unused_parens)]

/// Smallest k with 2^k >= x (0 for x <= 1).
pub const fn ceil_log2(x: u64) -> u64 {
    if x <= 1 { 0 } else { 64 - (x - 1).leading_zeros() as u64 }
}

/// Summands left of a tiled product once tiles that do not overlap are concatenated.
pub fn tile_vectors(style: u64, aw: u64, bw: u64) -> u64 {
    (if ((style == 0) || (style == 3)) { 4 } else { ((bw).div_ceil((if (style == 1) { 17 } else { 18 })) * (if (aw <= (if (style == 1) { 26 } else { 18 })) { 1 } else { 2 })) })
}

/// rs_mul_tiled: two stages for a tile, then one for each level of the adder tree (asic: all in the second).
pub fn mul_latency(style: u64, aw: u64, bw: u64) -> u64 {
    (if (style == 3) { 0 } else { (if (style == 0) { 2 } else { (2 + ceil_log2(tile_vectors(style, aw, bw))) }) })
}

/// rs_mod_addsub: sum, reduction and correction in one stage (asic) or one each.
pub fn addsub_latency(style: u64) -> u64 {
    (if (style == 3) { 0 } else { (if (style == 0) { 1 } else { 3 }) })
}

/// rs_mul_barrett: the alignment of the product to the modulus.
pub fn shift_latency(style: u64, w: u64, minbits: u64) -> u64 {
    (if ((style == 0) || (style == 3) || (minbits >= w)) { 0 } else { 2 })
}

/// rs_mod_barrett: alignment, quotient, quotient times modulus, two subtractions.
pub fn reduce_barrett_latency(style: u64, w: u64, minbits: u64, guard: u64) -> u64 {
    (((shift_latency(style, w, minbits) + mul_latency(style, ((w + guard) + 3), ((w + guard) + 2))) + mul_latency(style, (w + (guard).min(1)), w)) + (if (style == 3) { 0 } else { (if (style == 0) { 1 } else { 2 }) }))
}

/// rs_mul_barrett: product and reduction.
pub fn barrett_latency(style: u64, w: u64, minbits: u64) -> u64 {
    (mul_latency(style, w, w) + reduce_barrett_latency(style, w, minbits, 0))
}

/// rs_mod_montgomery: a small product and a subtraction for each word.
pub fn reduce_montgomery_latency(style: u64, w: u64, mw: u64, guard: u64) -> u64 {
    (((w + guard)).div_ceil(mw) * (mul_latency(style, (w - mw), mw) + 1))
}

/// rs_mul_montgomery: product and reduction.
pub fn montgomery_latency(style: u64, w: u64, mw: u64) -> u64 {
    (mul_latency(style, w, w) + reduce_montgomery_latency(style, w, mw, 0))
}

/// rs_mod_reduce: the selected reduction of a sum of products.
pub fn reduce_latency(kind: u64, style: u64, w: u64, minbits: u64, mw: u64, guard: u64) -> u64 {
    (if (kind == 0) { reduce_barrett_latency(style, w, minbits, guard) } else { reduce_montgomery_latency(style, w, mw, guard) })
}

/// rs_mod_mul: the selected reduction.
pub fn mod_mul_latency(kind: u64, style: u64, w: u64, minbits: u64, mw: u64) -> u64 {
    (if (kind == 0) { barrett_latency(style, w, minbits) } else { montgomery_latency(style, w, mw) })
}

/// rs_butterfly: Gentleman-Sande sums, multiplier, Cooley-Tukey sums.
pub fn butterfly_latency(kind: u64, style: u64, w: u64, minbits: u64, mw: u64) -> u64 {
    ((2 * addsub_latency(style)) + mod_mul_latency(kind, style, w, minbits, mw))
}

/// Cycles from the issue of a read to the first issue that sees the result: memory, operand register, butterfly, write.
pub fn pipe_latency(kind: u64, style: u64, w: u64, minbits: u64, mw: u64) -> u64 {
    (butterfly_latency(kind, style, w, minbits, mw) + 3)
}

/// rs_pointwise: memory, operand register, multiplier, sum, write.
pub fn pointwise_pipe(kind: u64, style: u64, w: u64, minbits: u64, mw: u64) -> u64 {
    ((mod_mul_latency(kind, style, w, minbits, mw) + addsub_latency(style)) + 3)
}

/// rs_mac_tile: product and accumulator; the multipliers of style 2 have two registers of their own.
pub fn mac_latency(style: u64) -> u64 {
    (if (style == 2) { 3 } else { 2 })
}

/// Summands left of a sum of tiled products once tiles that do not overlap are concatenated.
pub fn dot_vectors(style: u64, aw: u64, bw: u64) -> u64 {
    (if (style == 0) { 4 } else { (if (style == 1) { ((bw).div_ceil(17) * ((aw).div_ceil(26)).min(2)) } else { ((bw).div_ceil(18) * ((aw).div_ceil(18)).min(3)) }) })
}

/// rs_rns_dot: accumulators, choice of the column, adder tree (asic: all in one stage).
pub fn dot_latency(style: u64, aw: u64, bw: u64) -> u64 {
    ((mac_latency(style) + 1) + (if (style == 0) { 1 } else { ceil_log2(dot_vectors(style, aw, bw)) }))
}

/// Bits of C_i = round(2^F / q_i), F = 51 + bits of the narrowest q_i: C_i reaches 2^52 where a modulus has 54 bits.
pub fn reciprocal_bits(w: u64) -> u64 {
    (if (w > 53) { 53 } else { 52 })
}

/// rs_rns_factor: multiplier and correction.
pub fn factor_latency(kind: u64, style: u64, w: u64, minbits: u64, mw: u64) -> u64 {
    (mod_mul_latency(kind, style, w, minbits, mw) + 1)
}

/// rs_rns_quotient: sum of products, alignment, rounding.
pub fn quotient_latency(style: u64, w: u64) -> u64 {
    (dot_latency(style, reciprocal_bits(w), w) + 2)
}

/// rs_rns: from the last step of a base conversion to the write of its last coefficient, first read included.
pub fn convert_pipe(kind: u64, style: u64, w: u64, minbits: u64, mw: u64, p: u64, rate: u64) -> u64 {
    ((((((((rate / p)).max(1) + rate) + 1) + factor_latency(kind, style, w, minbits, mw)) + dot_latency(style, w, w)) + reduce_latency(kind, style, w, minbits, mw, 4)) + addsub_latency(style))
}

/// Cycles from one group of `rate` coefficients of a base conversion to the next; terms: input primes, and one for kept
/// residues.
pub fn convert_steps(terms: u64, rate: u64) -> u64 {
    (terms).max(rate)
}

/// LIFT, SCALE alone, pipe = convert_pipe: from its start to the last write.
pub fn convert(log2n: u64, terms: u64, rate: u64, pipe: u64) -> u64 {
    ((((((1 << log2n) / rate) - 1) * convert_steps(terms, rate)) + terms) + pipe)
}

/// AUTO, DECOMP: a word a cycle.
pub fn move_words(log2n: u64, p: u64) -> u64 {
    (((1 << log2n) / p) + 6)
}

/// Idle cycles between two stages of a transform: a stage needs its predecessor's words n/(4P) cycles later.
pub fn stage_gap(log2n: u64, p: u64, pipe: u64) -> u64 {
    (if (pipe > ((1 << log2n) / (4 * p))) { (pipe - ((1 << log2n) / (4 * p))) } else { 0 })
}

/// Cycles in which a transform occupies the issue of the compute unit.
pub fn transform_issue(log2n: u64, p: u64, pipe: u64) -> u64 {
    ((log2n * ((1 << log2n) / (2 * p))) + ((log2n - 1) * stage_gap(log2n, p, pipe)))
}

/// Cycles in which a pointwise instruction occupies the issue of the compute unit.
pub fn pointwise_issue(log2n: u64, p: u64) -> u64 {
    ((1 << log2n) / p)
}

/// Cycles from a word entering the empty command FIFO of an idle core to the start of its instruction.
pub fn dispatch_latency() -> u64 {
    3
}

/// NTT alone: from its start to the last write.
pub fn ntt(log2n: u64, p: u64, pipe: u64) -> u64 {
    (transform_issue(log2n, p, pipe) + pipe)
}

/// INTT alone, with or without the fused addition: from its start to the last write.
pub fn intt(log2n: u64, p: u64, pipe: u64) -> u64 {
    (transform_issue(log2n, p, pipe) + pipe)
}

/// Pointwise instruction alone: from its start to the last write.
pub fn pointwise(log2n: u64, p: u64, pipe: u64) -> u64 {
    (pointwise_issue(log2n, p) + pipe)
}

/// PMUL alone: both halves are written side by side.
pub fn pmul(log2n: u64, p: u64, pipe: u64) -> u64 {
    (pointwise_issue(log2n, p) + pipe)
}

/// MEMCPY: one word a cycle.
pub fn memcpy(log2n: u64, p: u64) -> u64 {
    (((1 << log2n) / p) + 3)
}

/// MEMCPYR: one coefficient a cycle.
pub fn memcpyr(log2n: u64) -> u64 {
    ((1 << log2n) + 3)
}

/// LOAD with data always ready, the host's own time not included.
pub fn load(log2n: u64, p: u64, lanes: u64) -> u64 {
    ((lanes * ((1 << log2n) / p)) + 2)
}

/// STORE into a sink that is always ready, the host's own time not included.
pub fn store(log2n: u64, p: u64, lanes: u64) -> u64 {
    ((lanes * ((1 << log2n) / p)) + 6)
}

/// SYNC once all units are idle.
pub fn sync() -> u64 {
    1
}

/// rs_ntt8_unrolled: registered once or after every row if combinational, else three pipelined butterflies.
pub fn ntt8_unrolled_latency(style: u64, w: u64, minbits: u64, registers: u64) -> u64 {
    (if (style == 3) { (if (registers == 1) { 3 } else { 1 }) } else { (3 * butterfly_latency(0, style, w, minbits, 0)) })
}

/// rs_ntt8_engine: cn 1, pn3 and pn1 3, pn3d and stream three pipelined butterflies (variants of spec/build.yaml).
pub fn ntt8_latency(variant: u64, style: u64, w: u64, minbits: u64) -> u64 {
    (if (variant == 0) { 1 } else { (if (variant < 3) { 3 } else { ntt8_unrolled_latency(style, w, minbits, 0) }) })
}
