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
together: their ratio is of one round. What is measured is written after every program: `--continue` goes on with a run
that was stopped, and adds rounds to one that was not, as a busy machine may need.

Ours runs without vector instructions too and, on a processor with AVX-512, held to AVX2; the latter stands beside peers
that can be held to it (HEXL, tfhe-ntt) and, as they are, those that cannot.
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
from typing import NoReturn

from chart import bar_chart
from memory import SCHEMES, measure_memory, print_memory
from rounds import Run, Step, go_on
from table import AVX2, OURS, PORTABLE, further_tables, print_table, stored

from ringsmith.gen.files import write_all
from ringsmith.processor import processor_name
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
    # Settings of its environment, and what its rows have behind the library's name.
    env: tuple[tuple[str, str], ...] = ()
    held: str = ""
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


def has_cpu_features() -> bool:
    """Whether HEXL's own dependency is there; root gets it from Debian."""

    def is_there() -> bool:
        return any(Path("/usr").glob("lib*/**/CpuFeaturesConfig.cmake"))

    if not is_there() and shutil.which("apt-get") and os.geteuid() == 0:
        for command in (["update"], ["install", "-y", "libcpu-features-dev"]):
            subprocess.run(["apt-get", "-qq", *command], capture_output=True, check=False)
    return is_there()


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
    best = Peer(OURS, [program], ("--threads", "2"), (program, "memory"), schemes)
    return [best, held(best, PORTABLE, RINGSMITH_SIMD="portable"), *at_avx2(best, RINGSMITH_SIMD="avx2")]


def held(peer: Peer, level: str, *command: str, **env: str) -> Peer:
    """A program at a lower level, by its environment or as another build; on one core."""
    name = peer.name + level
    return Peer(name, list(command) or peer.command, env=tuple(env.items()), held=level, thread_counts=(1,))


def processor_flags() -> set[str]:
    """What instructions this processor has, as Linux names them."""
    return set(re.findall(r"^flags\s*: (.+)$", Path("/proc/cpuinfo").read_text(), re.M)[0].split())


def at_avx2(peer: Peer, *command: str, **env: str) -> list[Peer]:
    """The program held to AVX2, where the processor has more: ours at its best is elsewhere the same."""
    return [held(peer, AVX2, *command, **env)] if {"avx512f", "avx512dq"} <= processor_flags() else []


def build_rust() -> list[Peer]:
    """fhe.rs with its nightly NTT, and tfhe-ntt; both without AVX-512; fhe.rs with its own portable NTT."""

    def built(folder: str, *features: str) -> str:
        """The program with these features."""
        manifest, target = str(HERE / "rust/Cargo.toml"), BUILD / folder
        build = ["cargo", "build", "--release", "--locked", "--manifest-path", manifest, "--target-dir", str(target)]
        sh([*build, *features], env={"RUSTC_BOOTSTRAP": "1"})
        return str(target / "release/ringsmith-peers-rust")

    best = Peer("fhe.rs, tfhe-ntt", [built("rust")])
    avx2 = at_avx2(best, built("rust-avx2", "--no-default-features", "--features", "vectors"))
    portable = held(Peer("fhe.rs", []), PORTABLE, built("rust-portable", "--no-default-features"))
    return [best, portable, *avx2]


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
    if not has_cpu_features():
        leave_out(names.pop("hexl"), "it needs the Debian package libcpu-features-dev")
    sh(["bash", str(HERE / "seal/build.sh"), str(seal_sources()), str(BUILD / "seal"), *names])
    peers = {kind: Peer(name, [str(BUILD / f"seal/bench-{kind}"), name]) for kind, name in names.items()}
    # Without HEXL nothing of it is vectorised by hand.
    avx2 = at_avx2(peers["hexl"], HEXL_DISABLE_AVX512DQ="1") if "hexl" in peers else []
    return [*peers.values(), *avx2]


def build_lattigo() -> list[Peer]:
    """Lattigo 6.2.0."""
    need("go", "golang-go")
    binary = BUILD / "lattigo"
    sh(["go", "build", "-o", str(binary), "."], cwd=HERE / "lattigo")
    return [Peer("Lattigo 6.2.0", [str(binary)], memory=(str(binary), "memory"))]


def build_poulpy() -> str:
    """The program that refreshes with poulpy-ckks 0.10.0, for AVX-512 IFMA, or for AVX2 where RINGSMITH_SIMD asks for
    that or the processor has no more. It takes nightly Rust, for the crate's `f128` and what a crate below it needs."""
    nightly = os.environ.get("RINGSMITH_NIGHTLY", "nightly")
    found = subprocess.run(["rustc", f"+{nightly}", "--version"], capture_output=True, text=True, check=False)
    if found.returncode:
        raise UnavailableError(f"it needs nightly Rust: rustup toolchain install {nightly}")
    best = "avx512ifma" in processor_flags() and os.environ.get("RINGSMITH_SIMD") != "avx2"
    folder, features, flags = "poulpy-avx2", [], "+avx2,+fma"
    if best:
        folder, features, flags = "poulpy", ["--features", "ifma"], "+avx512f,+avx512ifma,+avx512vl"
    manifest, target = str(HERE / "poulpy/Cargo.toml"), BUILD / folder
    build = ["cargo", f"+{nightly}", "build", "--release", "--locked", "--manifest-path", manifest]
    sh([*build, "--target-dir", str(target), *features], env={"RUSTFLAGS": f"-C target-feature={flags}"})
    return str(target / "release/ringsmith-peers-poulpy")


def peers_python() -> str:
    """The interpreter of a virtual environment with TenSEAL and desilofhe."""
    venv = BUILD / "venv"
    if not (venv / "bin/python").exists():
        sh([sys.executable, "-m", "venv", str(venv)])
    sh([str(venv / "bin/python"), "-m", "pip", "install", "-q", "-r", str(HERE / "python/requirements.txt")])
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
    sh([str(venv / "bin/python"), "-m", "pip", "install", "-q", "openfhe==1.6.1.0.22.4", "numpy==1.26.4"])
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
    return [{**row, "library": row["library"] + peer.held} for row in rows]


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


def measure(run: Run, peers: list[Peer], threads: list[int], rounds: int) -> None:
    """Every peer at every thread count, in rounds; a peer that stops is left out of that round."""
    by_name = {peer.name: peer for peer in peers}

    def rows_of(number: int, step: Step) -> list[dict]:
        name, count = step
        print(f"round {number} of {run.rounds}: {name} on {count} core(s)", file=sys.stderr, flush=True)
        try:
            return one_thread(by_name[name]) if count == 1 else two_threads(by_name[name])
        except UnavailableError as reason:
            leave_out(name, reason)
            run.stopped[name] = LEFT_OUT[name]
            return []

    steps = [(peer.name, count) for peer in peers for count in threads if count in peer.thread_counts]
    go_on(run, steps, rounds, rows_of, RESULT)


def transform_limits() -> str:
    """The machine, and the first table of the transforms' own bench: times and fractions of the arithmetic limit."""
    print("measuring the transforms against their limit", file=sys.stderr, flush=True)
    bench = ["cargo", "bench", "--locked", "-q", "-p", "ringsmith-bench", "--bench", "ntt", "--", "limits-only"]
    limits = sh(["taskset", "-c", "0", *bench], cwd=ROOT).split("\n\n")[0]
    return f"{machine()}\n{limits}"


def machine() -> str:
    """The processor and its caches, as the system tells them."""
    caches = [
        f"L{(path / 'level').read_text().strip()} {(path / 'size').read_text().strip()}"
        for path in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*"))
        if (path / "type").read_text().strip() != "Instruction"
    ]
    return ", ".join([processor_name(), *caches])


def this_machine(run: Run, limits: str) -> Machine:
    """What the store keeps of this run."""
    rows = run.rows
    libraries = {row["library"] for row in rows if not row["library"].startswith(OURS)}
    return Machine(
        machine=machine(),
        command="make bench WHAT=peers",
        commit=commit_here(),
        date=datetime.now(UTC).date().isoformat(),
        peers=tuple(sorted(libraries)),
        left_out=dict(sorted({**run.stopped, **LEFT_OUT}.items())),
        rows=tuple(stored(rows)),
        tables=further_tables(rows),
        limits=limits.strip().partition("\n")[2],
    )


def write(path: Path, rows: list[dict]) -> None:
    """Replace a result as a whole."""
    part = path.with_suffix(".part")
    part.write_text(json.dumps(rows, indent=1))
    part.replace(path)


def options_of(arguments: list[str] | None = None) -> argparse.Namespace:
    """What was asked for; refuses what cannot be."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=sorted(BUILDERS), nargs="*", help="build and run only these peers")
    parser.add_argument("--threads", type=int, choices=[1, 2], nargs="*", default=[1, 2], help="thread counts")
    parser.add_argument("--rounds", type=int, default=3, help="runs of every program (default: %(default)s)")
    parser.add_argument(
        "--continue", dest="more", action="store_true", help="go on with the last run; add rounds if it is whole"
    )
    parser.add_argument("--build-only", action="store_true", help="install and build the peers, measuring nothing")
    parser.add_argument("--memory-only", action="store_true", help="sizes and peak memory, no times")
    parser.add_argument(
        "--report", action="store_true", help="print the table of the last run again, measuring nothing"
    )
    options = parser.parse_args(arguments)
    last = Run.read(RESULT)
    if options.rounds < 1:
        refuse(f"--rounds {options.rounds}: 1 or more")
    if options.report and last is None:
        refuse("--report: there is no run yet: run `make bench WHAT=peers` first")
    if options.more and (last is None or last.machine != machine()):
        refuse(f"--continue: here is {machine()}; the last run: {last.machine if last else 'none'}; run without it")
    return options


def refuse(why: str) -> NoReturn:
    """End with one line; the status is that of a wrong command."""
    print(f"error: {why}", file=sys.stderr)
    sys.exit(2)


def built(only: list[str] | None, *, more: bool) -> list[Peer]:
    """Build the peers, or only those of these builders; what cannot be had is left out.

    A run that goes on has rows of those that are not built.
    """
    BUILD.mkdir(parents=True, exist_ok=True)
    peers: list[Peer] = []
    for name in only or BUILDERS:
        print(f"building {name}", file=sys.stderr, flush=True)
        try:
            peers += BUILDERS[name]()
        except UnavailableError as reason:
            leave_out(name, reason)
    if only and not more:
        for name in sorted(set(BUILDERS) - set(only)):
            leave_out(name, f"the run was of --only {' '.join(only)}")
    return peers


def report(run: Run, limits: str, *, store: bool) -> None:
    """Print the tables of a run, draw its chart, and store it."""
    print_table(run.rows)
    print(limits)
    if store:
        print(f"stored: {save_machine(this_machine(run, limits)).relative_to(ROOT)}")
        write_all(ROOT)
    for name, reason in sorted({**run.stopped, **LEFT_OUT}.items()):
        print(f"left out: {name}: {reason}")
    bar_chart(run.rows, run.machine, ROOT / "docs" / "bench-peers.svg")


def main() -> int:
    """Build, run, write the JSON, the table and the chart; status 1 if any result was wrong."""
    options = options_of()
    last = Run.read(RESULT)
    run = last if last and (options.more or options.report) else Run(machine(), options.rounds)
    if not options.report:
        peers = built(options.only, more=options.more)
        if options.build_only:
            return 0
        if not options.memory_only:
            measure(run, peers, options.threads, options.rounds)
            LIMITS.write_text(transform_limits())
        write(MEMORY, measure_memory(peer for peer in peers if peer.memory))
    if not options.memory_only:
        report(run, LIMITS.read_text() if LIMITS.exists() else "", store=not options.report)
    memory = json.loads(MEMORY.read_text()) if MEMORY.exists() else []
    print_memory(memory)
    wrong = [row for row in (*run.rows, *memory) if not row["correct"]]
    for row in wrong:
        what = row.get("operation") or row["scheme"]
        print(f"wrong result: {row['library']} {what} n={row['n']} {row['moduli_bits']}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
