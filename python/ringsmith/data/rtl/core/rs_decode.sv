// SPDX-License-Identifier: Apache-2.0
// Decoder: from an instruction word to the control fields of the units, the slots it touches, and its error.
//
// Combinational. Checks here are static; whether a slot was ever written is known at issue only.
// Error codes (error_e), in the order they are looked for: opcode, degree, slot, index, combination.
module rs_decode
  import rs_build_pkg::*;
  import rs_isa_pkg::*;
  import rs_core_pkg::*;
  import rs_error_pkg::*;
#(
  // The parameters of the core: see rs_build_pkg.
  parameter core_cfg_t Cfg = SmallCore
) (
  input  logic     [63:0] word_i,
  // Modulus indices whose modulus was written.
  input  logic     [15:0] configured_i,
  // Base conversions that were written, and which of them take kept residues.
  input  logic     [31:0] conversions_i,
  input  logic     [31:0] own_i,
  // Automorphisms and digits that were written.
  input  logic     [31:0] automorphisms_i,
  input  logic     [31:0] digits_i,
  output decoded_t        decoded_o
);

  // Smallest log2 n: 8 points, four words.
  localparam int unsigned NMinLog2 = 2 + $clog2(Cfg.P) > 3 ? 2 + $clog2(Cfg.P) : 3;
  localparam logic [MaxSlots-1:0] WorkSlots = 32'h3;
  localparam logic [MaxSlots-1:0] AllSlots = Cfg.Slots == MaxSlots ? '1 : (MaxSlots'(1) << Cfg.Slots) - 1'b1;

  instr_t  instr;
  opcode_e opcode;
  assign instr  = word_i;
  assign opcode = opcode_e'(instr.opcode);

  function automatic source_t source(logic [5:0] slot);
    return '{zero: slot == ZeroSlot, slot: slot[4:0]};
  endfunction
  function automatic logic readable(logic [5:0] slot);
    return slot == ZeroSlot || int'(slot) < int'(Cfg.Slots);
  endfunction

  logic transform, reads_a, reads_b, reads_c, writes_dst, writes_c, table_dst;
  logic addend, dst_work, src_work, memory, compute, rns, moves, stream_dst, stream_src, apart;
  assign transform  = op_transform(instr.opcode);
  assign memory     = op_unit(instr.opcode) == UnitMemory;
  assign compute    = op_unit(instr.opcode) == UnitCompute;
  assign rns        = op_unit(instr.opcode) == UnitRns;
  // In the unit of pointwise instructions.
  assign apart      = Cfg.EnPointwise && compute && !transform && opcode != OpPmul;
  assign moves      = opcode inside {OpAuto, OpDecomp};
  assign reads_a    = op_reads_a(instr.opcode);
  assign reads_b    = op_reads_b(instr.opcode);
  assign addend     = opcode == OpIntt;
  assign reads_c    = op_reads_c(instr.opcode);
  assign writes_dst = op_writes_dst(instr.opcode);
  assign writes_c   = op_writes_c(instr.opcode);
  assign table_dst  = opcode == OpLoad && instr.dst == TwiddleSlot;
  assign stream_dst = Cfg.EnStream && opcode == OpLoad && instr.dst == StreamSlot;
  assign stream_src = Cfg.EnStream && opcode inside {OpPmodmul, OpPmac} && instr.src_b == StreamSlot;
  assign dst_work   = instr.dst < 6'd2;
  assign src_work   = instr.src_a < 6'd2;

  // Slots touched.
  logic [MaxSlots-1:0] mask_a, mask_b, mask_c, mask_dst, early, late, writes;
  assign mask_a   = reads_a ? slot_mask(instr.src_a) : '0;
  assign mask_b   = reads_b && !stream_src ? slot_mask(instr.src_b) : '0;
  assign mask_c   = reads_c || addend ? slot_mask(instr.src_c) : '0;
  assign mask_dst = writes_dst && !table_dst && !stream_dst ? slot_mask(instr.dst) : '0;
  assign late     = addend ? mask_c : '0;
  assign early    = mask_a | mask_b | (addend ? '0 : mask_c);
  assign writes   = mask_dst | (writes_c ? slot_mask(instr.src_c) : '0);

  // The work slot written first: not the source's, and such that the last stage does not read the result's.
  logic first_work, parity_clash;
  always_comb begin
    if (src_work) first_work = ~instr.src_a[0];
    else if (dst_work) first_work = ~instr.dst[0] ^ instr.log2_n[0];
    else first_work = 1'b0;
    parity_clash = dst_work && (first_work ^ instr.log2_n[0]) == instr.dst[0];
  end

  error_e error;
  logic in_place_clash, work_addend, same_dst, same_src, no_entry;
  always_comb begin
    if (opcode == OpAuto) no_entry = !automorphisms_i[instr.const_idx];
    else if (opcode == OpDecomp) no_entry = !digits_i[instr.const_idx];
    else no_entry = !conversions_i[instr.const_idx] || own_i[instr.const_idx] != (opcode == OpScale);
  end
  // A single-port slot can be source and result at once only if read in the first stage and written in the last.
  assign in_place_clash = |(writes & Cfg.SinglePort & (transform ? late : early));
  assign work_addend    = |(late & WorkSlots);
  assign same_dst       = (opcode == OpPmul && instr.dst == instr.src_c) ||
                          (opcode inside {OpMemcpyr, OpAuto} && instr.dst == instr.src_a);
  // A slot has one read port a bank, and the two sources are read at different times.
  assign same_src       = opcode == OpScale && instr.src_a == instr.src_b;

  always_comb begin
    error = ErrNone;
    if (!op_implemented(instr.opcode)) error = ErrOpcode;
    else if (opcode == OpPmul && !Cfg.EnPmul) error = ErrOpcode;
    else if (transform && instr.cyclic[0] && !Cfg.EnCyclic) error = ErrOpcode;
    else if (rns && (moves ? Cfg.Moves : Cfg.RnsRate) == 0) error = ErrOpcode;
    else if (opcode == OpSync) error = ErrNone;
    else if (int'(instr.log2_n) < int'(NMinLog2) || int'(instr.log2_n) > int'(Cfg.NMaxLog2)) error = ErrDegree;
    else if (reads_a && !readable(instr.src_a)) error = ErrSlot;
    else if (reads_b && !stream_src && !readable(instr.src_b)) error = ErrSlot;
    else if ((reads_c || addend) && !readable(instr.src_c)) error = ErrSlot;
    else if (writes_dst && !table_dst && !stream_dst && int'(instr.dst) >= int'(Cfg.Slots)) error = ErrSlot;
    else if (writes_c && int'(instr.src_c) >= int'(Cfg.Slots)) error = ErrSlot;
    else if ((compute || table_dst) && int'(instr.mod_idx) >= int'(Cfg.Moduli)) error = ErrIndex;
    else if (compute && opcode != OpPmul && !configured_i[instr.mod_idx]) error = ErrIndex;
    else if (opcode == OpCmodmul && int'(instr.const_idx) >= int'(Cfg.Consts)) error = ErrIndex;
    else if (rns && no_entry) error = ErrIndex;
    else if (in_place_clash || work_addend || same_dst || same_src || (transform && parity_clash))
      error = ErrCombination;
  end

  always_comb begin
    decoded_o             = '0;
    decoded_o.compute     = compute && !apart;
    decoded_o.pointwise   = apart;
    decoded_o.memory      = memory;
    decoded_o.rns         = third_unit(Cfg) && rns;
    decoded_o.sync        = opcode == OpSync;
    decoded_o.error       = error;
    decoded_o.mod_idx     = instr.mod_idx;
    decoded_o.needs_table = transform;
    decoded_o.reads       = (early | late) & AllSlots;
    decoded_o.late        = late & AllSlots;
    decoded_o.writes      = writes & AllSlots;
    decoded_o.works       = transform ? WorkSlots : '0;

    // Operand roles: sums take (u, v) = (a, b), products v*w + u = a*b + c.
    decoded_o.c.transform  = transform;
    decoded_o.c.inverse    = opcode == OpIntt;
    decoded_o.c.cyclic     = instr.cyclic[0];
    decoded_o.c.crossed    = opcode inside {OpIntt, OpPmodadd, OpPmodsub};
    decoded_o.c.sub        = opcode == OpPmodsub;
    decoded_o.c.product    = opcode == OpPmul;
    decoded_o.c.constant   = opcode == OpCmodmul;
    decoded_o.c.first_work = first_work;
    decoded_o.c.stream     = stream_src;
    decoded_o.c.v          = source(instr.src_a);
    decoded_o.c.w          = source(ZeroSlot);
    decoded_o.c.u          = source(ZeroSlot);
    decoded_o.c.e          = source(ZeroSlot);
    decoded_o.c.dst        = instr.dst[4:0];
    decoded_o.c.high       = instr.src_c[4:0];
    decoded_o.c.log2_n     = instr.log2_n;
    decoded_o.c.const_idx  = instr.const_idx;
    unique case (opcode)
      OpIntt: decoded_o.c.e = source(instr.src_c);
      OpPmodadd, OpPmodsub: begin
        decoded_o.c.u = source(instr.src_a);
        decoded_o.c.v = source(instr.src_b);
      end
      OpCmodmul: decoded_o.c.u = source(instr.src_c);
      OpPmodmul, OpPmul: decoded_o.c.w = source(stream_src ? ZeroSlot : instr.src_b);
      OpPmodsqr: decoded_o.c.w = source(instr.src_a);
      OpPmac: begin
        decoded_o.c.w = source(stream_src ? ZeroSlot : instr.src_b);
        decoded_o.c.u = source(instr.src_c);
      end
      default: ;
    endcase

    decoded_o.m.load      = opcode == OpLoad;
    decoded_o.m.store     = opcode == OpStore;
    decoded_o.m.reverse   = opcode == OpMemcpyr;
    decoded_o.m.table_dst = table_dst;
    decoded_o.m.stream    = stream_dst;
    decoded_o.m.src       = source(instr.src_a);
    decoded_o.m.dst       = instr.dst[4:0];
    decoded_o.m.log2_n    = instr.log2_n;
    decoded_o.m.mod_idx   = instr.mod_idx;
    decoded_o.m.buf_idx   = instr.buf_idx;

    if (third_unit(Cfg)) begin
      decoded_o.r.moves  = moves;
      decoded_o.r.automorphism = opcode == OpAuto;
      decoded_o.r.x      = source(instr.src_a);
      decoded_o.r.own    = source(instr.src_b);
      decoded_o.r.dst    = instr.dst[4:0];
      decoded_o.r.log2_n = instr.log2_n;
      decoded_o.r.entry  = instr.const_idx;
    end
  end

`ifndef SYNTHESIS
  // Invariants of every word; of a legal one, all that its unit relies on.
  logic fine, pointwise;
  assign fine      = decoded_o.error == ErrNone;
  assign pointwise = compute && !transform;
  always_comb begin
    assert (!fine || $onehot({decoded_o.compute, decoded_o.memory, decoded_o.rns, decoded_o.pointwise, decoded_o.sync}))
    else $error("%m: an instruction without a unit of its own");
    assert ((decoded_o.late & ~decoded_o.reads) == '0)
    else $error("%m: a slot read late that is not read");
    assert (((decoded_o.reads | decoded_o.writes | decoded_o.works) & ~AllSlots) == '0)
    else $error("%m: a slot that is not there");
    assert (!fine || decoded_o.sync || (int'(instr.log2_n) >= int'(NMinLog2) && int'(instr.log2_n) <= int'(Cfg.NMaxLog2)))
    else $error("%m: a degree out of range");
    assert (!fine || !compute || int'(decoded_o.mod_idx) < int'(Cfg.Moduli))
    else $error("%m: a modulus index out of range");
    assert (!fine || !(pointwise || decoded_o.m.load && !table_dst && !stream_dst) || decoded_o.writes != '0)
    else $error("%m: a result without a slot");
    assert (!fine || !(pointwise || decoded_o.rns) || (decoded_o.reads & decoded_o.writes & Cfg.SinglePort) == '0)
    else $error("%m: a single-port slot is read and written");
    assert (!fine || !transform || !src_work || first_work != instr.src_a[0])
    else $error("%m: a transform writes the slot it reads");
  end
`endif

endmodule
