# SPDX-License-Identifier: Apache-2.0
"""Times ringsmith beside the libraries of others: one run, one machine, the same parameters.

`make bench WHAT=peers` installs the peers from package registries into `target/peers`, builds them, runs each pinned to
one core, then on two cores, checks every result by decryption, and writes `target/bench-peers.json`, a table on the
terminal, this machine's file in `spec/results/peers`, and from all machines' files `docs/bench-peers.md`;
`docs/bench-peers.svg` is of this run. A peer that was left out is named there with the reason. The fraction of the
arithmetic limit that our transforms reach is printed below the table. Sizes of keys and peak memory go to
`target/bench-peers-memory.json` and a table.

On two cores a row is the time per operation at full load of both: for ours a batch on one pool of two pinned threads,
for the others two pinned copies of the program, which is the most that two threads of them could reach.

Other work on the machine comes and goes by the minute, so all programs run in rounds, and of each row the round with
the lowest median counts, for every library alike. Rows that took turns (a batch on two threads and on one) stay
together: their ratio is of one round. On a busy machine `--continue` adds rounds to the last run.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from chart import bar_chart
from memory import SCHEMES, measure_memory, print_memory
from table import BATCH, OURS, PORTABLE, further_tables, print_table, stored

from ringsmith.gen.files import write_all
from ringsmith.results.measure import commit_here
from ringsmith.results.peers import Machine, save_machine

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
BUILD = ROOT / "target" / "peers"
RESULT = ROOT / "target" / "bench-peers.json"
LIMITS = ROOT / "target" / "bench-peers-limits.txt"
MEMORY = ROOT / "target" / "bench-peers-memory.json"


#: The reason for each peer that was left out, by its name.
LEFT_OUT: dict[str, str] = {}


def leave_out(name: str, reason: object) -> None:
    """Go on without a peer: say so, and keep the reason for the report."""
    LEFT_OUT[name] = " ".join(str(reason).split())[:200]
    print(f"  left out: {name}: {reason}", file=sys.stderr)


class UnavailableError(Exception):
    """A peer cannot be had on this machine; the reason is shown and the run goes on without it."""


@dataclass(frozen=True)
class Peer:
    """A program that prints one JSON line per operation."""

    name: str
    command: list[str]
    # Arguments for a run on two threads of its own; without, two copies run side by side.
    two_threads: tuple[str, ...] = ()
    # The command that prints sizes of keys, to which a scheme is added, and the schemes it knows.
    memory: tuple[str, ...] = ()
    schemes: tuple[str, ...] = SCHEMES
    # Settings of its environment; with some its rows are called by its name, not by what the program says.
    env: tuple[tuple[str, str], ...] = ()
    thread_counts: tuple[int, ...] = (1, 2)


def sh(command: list[str], *, cwd: Path | None = None, env: dict[str, str] | None = None) -> str:
    """Run a build step; its output is shown only when it fails."""
    done = subprocess.run(
        command, cwd=cwd, env={**os.environ, **(env or {})}, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise UnavailableError(f"{' '.join(command[:4])} failed: {(done.stderr or done.stdout).strip()[-400:]}")
    return done.stdout


def need(tool: str, package: str) -> None:
    """Refuse with the package that brings a missing tool."""
    if shutil.which(tool) is None:
        raise UnavailableError(f"{tool} is missing: install the Debian package {package}")


def build_ours() -> list[Peer]:
    """This repository's own operations."""
    sh(
        [
            "cargo",
            "build",
            "--release",
            "--manifest-path",
            str(ROOT / "bench/ours/Cargo.toml"),
            "--target-dir",
            str(ROOT / "target"),
        ]
    )
    program = str(ROOT / "target/release/ringsmith-bench")
    # With the decompositions that OpenFHE chooses, too.
    schemes = (*SCHEMES, "bfv-no-special", "ckks-3-digits")
    return [
        Peer(OURS, [program], ("--threads", "2"), (program, "memory"), schemes),
        Peer(OURS + PORTABLE, [program], env=(("RINGSMITH_SIMD", "portable"),), thread_counts=(1,)),
    ]


def build_rust() -> list[Peer]:
    """fhe.rs with its nightly NTT, and tfhe-ntt; fhe.rs with its own portable NTT."""
    manifest = str(HERE / "rust/Cargo.toml")
    build = ["cargo", "build", "--release", "--locked", "--manifest-path", manifest, "--target-dir"]
    vectors, portable = BUILD / "rust", BUILD / "rust-portable"
    sh([*build, str(vectors)], env={"RUSTC_BOOTSTRAP": "1"})
    sh([*build, str(portable), "--no-default-features"], env={"RUSTC_BOOTSTRAP": "1"})
    program = "release/ringsmith-peers-rust"
    return [
        Peer("fhe.rs, tfhe-ntt", [str(vectors / program)]),
        Peer("fhe.rs" + PORTABLE, [str(portable / program)], thread_counts=(1,)),
    ]


def seal_sources() -> Path:
    """The unpacked `seal_fhe` crate, whose folder SEAL/ holds SEAL 4.0.0 with the HEXL sources."""
    fetch = BUILD / "seal-fetch"
    (fetch / "src").mkdir(parents=True, exist_ok=True)
    (fetch / "src/lib.rs").write_text("")
    (fetch / "Cargo.toml").write_text(
        '[package]\nname = "fetch"\nversion = "0.0.0"\nedition = "2021"\n'
        '[workspace]\n[dependencies]\nseal_fhe = "=0.8.1"\n'
    )
    metadata = json.loads(sh(["cargo", "metadata", "--format-version", "1"], cwd=fetch))
    manifest = next(p["manifest_path"] for p in metadata["packages"] if p["name"] == "seal_fhe")
    return Path(manifest).parent


def build_seal() -> list[Peer]:
    """SEAL 4.0.0, plain and with HEXL."""
    need("cmake", "cmake")
    names = {"hexl": "SEAL 4.0.0 + HEXL", "plain": "SEAL 4.0.0"}
    if not list(Path("/usr").glob("lib*/**/CpuFeaturesConfig.cmake")):
        leave_out(names.pop("hexl"), "it needs the Debian package libcpu-features-dev")
    sh(["bash", str(HERE / "seal/build.sh"), str(seal_sources()), str(BUILD / "seal"), *names])
    return [Peer(name, [str(BUILD / f"seal/bench-{kind}"), name]) for kind, name in names.items()]


def build_lattigo() -> list[Peer]:
    """Lattigo 6.2.0."""
    need("go", "golang-go")
    binary = BUILD / "lattigo"
    sh(["go", "build", "-o", str(binary), "."], cwd=HERE / "lattigo")
    return [Peer("Lattigo 6.2.0", [str(binary)], memory=(str(binary), "memory"))]


def peers_python() -> str:
    """The interpreter of a virtual environment with TenSEAL and desilofhe."""
    venv = BUILD / "venv"
    if not (venv / "bin/python").exists():
        sh([sys.executable, "-m", "venv", str(venv)])
    sh([str(venv / "bin/pip"), "install", "-q", "-r", str(HERE / "python/requirements.txt")])
    return str(venv / "bin/python")


def build_python() -> list[Peer]:
    """TenSEAL and desilofhe in a virtual environment of their own."""
    python = peers_python()
    return [
        Peer("TenSEAL 0.3.18", [python, str(HERE / "python/tenseal_bench.py")]),
        Peer("desilofhe 2.0.0", [python, str(HERE / "python/desilo_bench.py")]),
    ]


def python310() -> str:
    """An interpreter of CPython 3.10: $PYTHON310, one on PATH, or one that pyenv holds."""
    candidates = [os.environ.get("PYTHON310"), shutil.which("python3.10")]
    if shutil.which("pyenv"):
        root = subprocess.run(["pyenv", "root"], capture_output=True, text=True, check=False).stdout.strip()
        candidates += [str(path) for path in Path(root or "/nonexistent").glob("versions/3.10.*/bin/python")]
    for candidate in filter(None, candidates):
        done = subprocess.run([candidate, "--version"], capture_output=True, text=True, check=False)
        if done.returncode == 0 and "3.10." in done.stdout:
            return candidate
    raise UnavailableError("OpenFHE's wheel needs CPython 3.10: install it, or name it in PYTHON310")


def openfhe_python() -> str:
    """The interpreter of a virtual environment with OpenFHE's wheel, which imports under CPython 3.10 only."""
    venv = BUILD / "venv310"
    if not (venv / "bin/python").exists():
        sh([python310(), "-m", "venv", str(venv)])
    sh([str(venv / "bin/pip"), "install", "-q", "openfhe==1.6.1.0.22.4", "numpy==1.26.4"])
    return str(venv / "bin/python")


def build_openfhe() -> list[Peer]:
    """OpenFHE's wheel."""
    python, scripts = openfhe_python(), HERE / "python"
    memory = (python, str(scripts / "openfhe_memory.py"))
    return [Peer("OpenFHE 1.6.1", [python, str(scripts / "openfhe_bench.py")], memory=memory)]


BUILDERS = {
    "ours": build_ours,
    "rust": build_rust,
    "seal": build_seal,
    "lattigo": build_lattigo,
    "python": build_python,
    "openfhe": build_openfhe,
}


def run_pinned(peer: Peer, cores: str, extra: Iterable[str] = ()) -> list[dict]:
    """All lines of a peer, run on these cores."""
    done = subprocess.run(
        ["taskset", "-c", cores, *peer.command, *extra],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "GOMAXPROCS": "1", "RAYON_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", **dict(peer.env)},
    )
    if done.returncode != 0:
        raise UnavailableError(f"{peer.name} stopped with status {done.returncode}: {done.stderr.strip()[-300:]}")
    rows = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return [{**row, "library": peer.name if peer.env else row["library"]} for row in rows]


def one_thread(peer: Peer) -> list[dict]:
    """Latency on one core."""
    return [{**row, "threads": 1} for row in run_pinned(peer, "0")]


def two_threads(peer: Peer) -> list[dict]:
    """Time per operation on two threads that never share a core: the program's own, or two pinned copies at once."""
    if peer.two_threads:
        return run_pinned(peer, "0,1", peer.two_threads)
    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(lambda core: run_pinned(peer, core), ("0", "1"))
    return [
        {
            **a,
            "threads": 2,
            "median_us": statistics.mean((a["median_us"], b["median_us"])) / 2,
            "spread": max(a["spread"], b["spread"]),
            "correct": a["correct"] and b["correct"],
        }
        for a, b in zip(first, second, strict=True)
    ]


def measure(peers: list[Peer], threads: list[int], rounds: int, earlier: list[dict]) -> list[dict]:
    """Every peer at every thread count, in rounds; of each row, or rows that took turns, the least disturbed.

    The rows of earlier rounds count as one more.
    """
    best: dict[tuple, list[dict]] = {}
    keep_best(best, earlier)
    for number in range(1, rounds + 1):
        for peer in peers:
            for count in (count for count in threads if count in peer.thread_counts):
                print(f"round {number}: {peer.name} on {count} core(s)", file=sys.stderr, flush=True)
                try:
                    rows = one_thread(peer) if count == 1 else two_threads(peer)
                except UnavailableError as reason:
                    leave_out(peer.name, reason)
                    continue
                keep_best(best, rows)
    return [row for turns in best.values() for row in turns]


def keep_best(best: dict[tuple, list[dict]], rows: list[dict]) -> None:
    """Of all rows for the same thing (rounds, splits of the moduli) keep the least disturbed."""
    for turns in taking_turns(rows):
        first = turns[0]
        key = (first["library"], first["operation"], first["n"], tuple(first["moduli_bits"]), first["threads"])
        best[key] = less_disturbed(best.get(key, turns), turns)


def taking_turns(rows: list[dict]) -> list[list[dict]]:
    """The rows that took turns, together: a batch on all threads, and the same on one, which a program prints next."""
    out: list[list[dict]] = []
    for row in rows:
        if row["operation"].endswith(BATCH):
            out[-1].append(row)
        else:
            out.append([row])
    return out


def less_disturbed(a: list[dict], b: list[dict]) -> list[dict]:
    """Of two timings of the same the one with the lower medians; a row is right only if it is in both."""
    lower = min(a, b, key=lambda turns: sum(row["median_us"] for row in turns))
    correct = [x["correct"] and y["correct"] for x, y in zip(a, b, strict=True)]
    return [{**row, "correct": right} for row, right in zip(lower, correct, strict=True)]


def transform_limits() -> str:
    """The machine, and the first table of the transforms' own bench: times and fractions of the arithmetic limit."""
    print("measuring the transforms against their limit", file=sys.stderr, flush=True)
    bench = ["cargo", "bench", "--locked", "-q", "-p", "ringsmith-bench", "--bench", "ntt", "--", "limits-only"]
    limits = sh(["taskset", "-c", "0", *bench], cwd=ROOT).split("\n\n")[0]
    return f"{machine()}\n{limits}"


def machine() -> str:
    """The processor and its caches, as the system tells them."""
    fields = dict(re.findall(r"^(.+?)\s*: (.+)$", Path("/proc/cpuinfo").read_text(), re.M))
    caches = [
        f"L{(path / 'level').read_text().strip()} {(path / 'size').read_text().strip()}"
        for path in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*"))
        if (path / "type").read_text().strip() != "Instruction"
    ]
    name = (fields.get(key, "unknown") for key in ("model name", "cpu family", "model"))
    return "{}, family {} model {}".format(*name) + "".join(f", {cache}" for cache in caches)


def this_machine(rows: list[dict], limits: str) -> Machine:
    """What the store keeps of this run."""
    libraries = {row["library"] for row in rows if not row["library"].startswith(OURS)}
    return Machine(
        machine=machine(),
        command="make bench WHAT=peers",
        commit=commit_here(),
        date=datetime.now(UTC).date().isoformat(),
        peers=tuple(sorted(libraries)),
        left_out=dict(sorted(LEFT_OUT.items())),
        rows=tuple(stored(rows)),
        tables=further_tables(rows),
        limits=limits.strip().partition("\n")[2],
    )


def write(path: Path, rows: list[dict]) -> None:
    """Replace a result as a whole."""
    part = path.with_suffix(".part")
    part.write_text(json.dumps(rows, indent=1))
    part.replace(path)


def main() -> int:
    """Build, run, write the JSON, the table and the chart; status 1 if any result was wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=sorted(BUILDERS), nargs="*", help="build and run only these peers")
    parser.add_argument("--threads", type=int, choices=[1, 2], nargs="*", default=[1, 2], help="thread counts")
    parser.add_argument("--rounds", type=int, default=3, help="runs of every program (default: %(default)s)")
    parser.add_argument(
        "--continue", dest="more", action="store_true", help="add rounds to those of the last run, on this machine"
    )
    parser.add_argument("--memory-only", action="store_true", help="sizes and peak memory, no times")
    parser.add_argument(
        "--report", action="store_true", help="print the table of the last run again, measuring nothing"
    )
    options = parser.parse_args()
    if options.rounds < 1:
        parser.error(f"argument --rounds: {options.rounds}: 1 or more")
    last = LIMITS.read_text().split("\n")[0] if LIMITS.exists() and RESULT.exists() else "no run"
    if options.more and last != machine():
        print(f"error: --continue: here is {machine()}; the last run: {last}; run without it", file=sys.stderr)
        return 2
    if not options.report:
        BUILD.mkdir(parents=True, exist_ok=True)
        peers: list[Peer] = []
        for name in options.only or BUILDERS:
            print(f"building {name}", file=sys.stderr, flush=True)
            try:
                peers += BUILDERS[name]()
            except UnavailableError as reason:
                leave_out(name, reason)
        for name in set(BUILDERS) - set(options.only or BUILDERS):
            leave_out(name, f"the run was of --only {' '.join(options.only)}")
        if not options.memory_only:
            earlier = json.loads(RESULT.read_text()) if options.more else []
            write(RESULT, measure(peers, options.threads, options.rounds, earlier))
            LIMITS.write_text(transform_limits())
        write(MEMORY, measure_memory(peer for peer in peers if peer.memory))
    elif not RESULT.exists():
        print(
            f"error: {RESULT.relative_to(ROOT)} does not exist yet: run `make bench WHAT=peers` first", file=sys.stderr
        )
        return 2
    memory = json.loads(MEMORY.read_text()) if MEMORY.exists() else []
    rows = [] if options.memory_only else json.loads(RESULT.read_text())
    if rows:
        limits = LIMITS.read_text() if LIMITS.exists() else ""
        print_table(rows)
        print(limits)
        if not options.report:
            print(f"stored: {save_machine(this_machine(rows, limits)).relative_to(ROOT)}")
            write_all(ROOT)
        for name, reason in sorted(LEFT_OUT.items()):
            print(f"left out: {name}: {reason}")
        bar_chart(rows, ROOT / "docs" / "bench-peers.svg")
    print_memory(memory)
    wrong = [row for row in (*rows, *memory) if not row["correct"]]
    for row in wrong:
        what = row.get("operation") or row["scheme"]
        print(f"wrong result: {row['library']} {what} n={row['n']} {row['moduli_bits']}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
