# SPDX-License-Identifier: Apache-2.0
"""The benchmarks that HomomorphicEncryption.org's fhe-benchmarking agrees on, run by ringsmith's submissions.

    .venv/bin/python bench/fhe_benchmarking/run.py zn-multiplication medium --runs 3
    .venv/bin/python bench/fhe_benchmarking/run.py ml-inference single --json
    .venv/bin/python bench/fhe_benchmarking/run.py fetch-by-similarity small --count-only

Every stage is a process of its own, with files in between. A run that was stopped goes on after its last whole step;
--fresh starts it anew. Answers are checked against the clear computation; the figures of run N go to
build/fhe_benchmarking/WORKLOAD/measurements/SIZE/results-N.json.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType

import harness
from harness import HERE, Request, Step, StoppedError, Workload
from layout import Folders
from sizes import IMAGES, PAIRS, RECORDS

ROOT = HERE.parents[1]


def module_of(workload: str, name: str) -> ModuleType:
    """A module of the harness's side of a workload: `WORKLOAD/NAME.py`."""
    spec = importlib.util.spec_from_file_location(f"{workload}_{name}", HERE / workload / f"{name}.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def zn_multiplication() -> Workload:
    """Products modulo 2^64."""
    check = module_of("zn_multiplication", "check")
    return Workload(
        name="zn-multiplication",
        sizes=tuple(PAIRS),
        once=(
            Step("Input generation", own=check.generate),
            Step("Input preprocessing", ("client_preprocess_input",)),
            Step("Key Generation", ("client_key_generation",), sizes=(("Public and evaluation keys", "public_keys"),)),
            Step(
                "Input encryption", ("client_encode_encrypt_input",), sizes=(("Encrypted input", "ciphertexts_upload"),)
            ),
        ),
        each=(
            Step(
                "Encrypted computation",
                ("server_encrypted_compute",),
                sizes=(("Encrypted results", "ciphertexts_download"),),
            ),
            Step("Result decryption", ("client_decrypt_decode",)),
            Step("Result postprocessing", ("client_postprocess",)),
        ),
        check=check,
        argument=str,
    )


def ml_inference() -> Workload:
    """Digits of MNIST's images."""
    check, images = (module_of("ml_inference", name) for name in ("check", "images"))

    def prepare(root: Path) -> None:
        try:
            images.ensure(check.images_of(root))
        except images.ImagesError as error:
            raise StoppedError(str(error), 2) from None
        if not (root / "model.npz").exists():
            harness.say("the network is trained, once")
            harness.program(HERE / "ml_inference" / "submission" / "train.py", [str(root)], root, {})

    return Workload(
        name="ml-inference",
        sizes=tuple(IMAGES),
        once=(
            Step("Key Generation", ("client_key_generation",), sizes=(("Public and evaluation keys", "public_keys"),)),
            Step("Encrypted model preprocessing", ("server_preprocess_model",)),
        ),
        each=(
            Step("Input generation", own=check.generate),
            Step("Input preprocessing", ("client_preprocess_input",)),
            Step(
                "Input encryption", ("client_encode_encrypt_input",), sizes=(("Encrypted input", "ciphertexts_upload"),)
            ),
            Step(
                "Encrypted computation",
                ("server_encrypted_compute",),
                sizes=(("Encrypted results", "ciphertexts_download"),),
            ),
            Step("Result decryption", ("client_decrypt_decode",)),
            Step("Result postprocessing", ("client_postprocess",)),
        ),
        check=check,
        argument=lambda size: str(tuple(IMAGES).index(size)),
        about=(("model_name", "mlp"), ("dataset_name", "mnist")),
        prepare=prepare,
    )


def fetch_by_similarity() -> Workload:
    """Records that are similar to a query."""
    check = module_of("fetch_by_similarity", "check")
    return Workload(
        name="fetch-by-similarity",
        sizes=tuple(RECORDS),
        once=(
            Step("Dataset generation", own=check.generate),
            Step("Dataset preprocessing", ("client_preprocess_dataset",)),
            Step("Key Generation", ("client_key_generation",), sizes=(("Public and evaluation keys", "public_keys"),)),
            Step(
                "Dataset encoding and encryption",
                ("client_encode_encrypt_db",),
                sizes=(("Encrypted database", "ciphertexts_upload"),),
            ),
            Step("Encrypted dataset preprocessing", ("server_preprocess_dataset",)),
        ),
        each=(
            Step("Query generation", own=check.ask),
            Step("Query preprocessing", ("client_preprocess_query",)),
            Step(
                "Query encryption",
                ("client_encode_encrypt_query",),
                sizes=(("Encrypted query", "ciphertexts_upload/query.bin"),),
            ),
            Step(
                "Encrypted computation",
                ("server_encrypted_compute",),
                sizes=(("Encrypted results", "ciphertexts_download"),),
            ),
            Step("Result decryption and postprocessing", ("client_decrypt_decode", "client_postprocess")),
        ),
        check=check,
        argument=lambda size: str(tuple(RECORDS).index(size)),
    )


WORKLOADS = {
    "zn-multiplication": zn_multiplication,
    "fetch-by-similarity": fetch_by_similarity,
    "ml-inference": ml_inference,
}


def arguments() -> argparse.Namespace:
    """The command's arguments."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("workload", choices=WORKLOADS)
    parser.add_argument("size", help="single, small, medium or large; fetch-by-similarity has toy in place of single")
    parser.add_argument("--runs", type=int, default=1, help="runs after the preparation (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="of the made-up data, never of keys (default: %(default)s)")
    parser.add_argument("--threads", type=int, default=2, help="of the server's evaluation (default: %(default)s)")
    parser.add_argument(
        "--again", type=int, default=0, help="further evaluations in the server's process, for the least"
    )
    parser.add_argument("--count-only", action="store_true", help="fetch-by-similarity: the number of matches alone")
    parser.add_argument("--work", type=Path, default=ROOT / "build" / "fhe_benchmarking", help="folder of all files")
    parser.add_argument("--fresh", action="store_true", help="do not go on with a stopped run")
    parser.add_argument("--json", action="store_true", help="the figures of all runs as one object on stdout")
    return parser.parse_args()


def request_of(given: argparse.Namespace) -> Request:
    """What the arguments ask for; a line says which of them cannot be."""
    workload = WORKLOADS[given.workload]()
    if given.size not in workload.sizes:
        raise StoppedError(f"SIZE {given.size}: {given.workload} has {', '.join(workload.sizes)}", 2)
    for name, least, most in (("runs", 1, 1000), ("threads", 1, 1024), ("again", 0, 1000)):
        if not least <= getattr(given, name) <= most:
            raise StoppedError(f"--{name} {getattr(given, name)}: from {least} to {most}", 2)
    if not 0 <= given.seed < 2**63:
        raise StoppedError(f"--seed {given.seed}: from 0 to 2^63 - 1", 2)
    if given.count_only and given.workload != "fetch-by-similarity":
        raise StoppedError(f"--count-only: {given.workload} counts nothing, fetch-by-similarity does", 2)
    root = given.work.absolute() / given.workload
    try:
        root.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoppedError(f"--work {given.work}: {error.strerror}", 2) from None
    folders = Folders(given.size, root, given.count_only)
    return Request(workload, folders, given.runs, given.seed, given.threads, given.again)


def main() -> int:
    """Run it; the status is 0, 1 for a wrong answer, 2 for bad input, 130 when interrupted."""
    given = arguments()
    try:
        request = request_of(given)
        found = harness.run(request, fresh=given.fresh)
    except StoppedError as stopped:
        print(f"run.py: {stopped}", file=sys.stderr)
        return stopped.status if stopped.status in (1, 2) else 1
    except KeyboardInterrupt:
        print("run.py: interrupted; the same command goes on after the last whole step", file=sys.stderr)
        return 130
    if given.json:
        print(json.dumps({"workload": given.workload, "size": given.size, "threads": given.threads, "runs": found}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
