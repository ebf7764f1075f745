# SPDX-License-Identifier: Apache-2.0
"""The parts of the tree that a command's values depend on, and their hashes.

Comments, blank lines and tests do not count. A preset counts as it is resolved, not as it is written.
"""

from __future__ import annotations

import hashlib
import re
import shlex
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path

from ringsmith import shipped
from ringsmith.errors import RingsmithError
from ringsmith.presets import Preset, load_any, parse_overrides
from ringsmith.results.code import code

#: Crates that decide what a device does, and those that decide what a program is.
DEVICE_CRATES = (
    "zq",
    "ntt",
    "rns",
    "rlwe",
    "bfv",
    "ckks",
    "isa",
    "model",
    "device",
    "polynomial",
    "offload",
    "backend",
)
PROGRAM_CRATES = ("program",)
COMPILER = ("ir", "frontend", "compiler", "runtime", "explore")
LANGUAGE = ("isa.yaml", "build.yaml", "latency.yaml", "registers.rdl", "controller.rdl", "ntt8.rdl")
_TESTS = re.compile(r"(^|/)(tests?|benches|dv|formal)(/|\.rs$)|(^|/)test_|_tests?\.rs$|conftest")
_SOURCES = {".rs", ".sv", ".rdl", ".py", ".yaml", ".toml"}
_NAME = re.compile(r"\w+")
_PRESET_VERBS = ("simulate", "synth", "generate", "bitstream")


def parts_of(command: str) -> dict[str, str]:
    """Return the hash of each part of this tree that a command's values depend on, by the part's name."""
    words = shlex.split(command)
    verb = words[1] if len(words) > 1 else ""
    preset, folders = _preset(words)
    found = {} if preset is None else {"preset": preset}
    by_model = _option(words, "--on", "rtl").startswith("model")
    if verb in ("synth", "bitstream") or (verb == "simulate" and not by_model):
        found |= {"rtl": _rtl(folders), "language": _language()}
    if verb == "synth":
        return found | {"flow": _python("hw/synth", "hw/silicon")}
    if verb == "bitstream":
        pins = Path("spec/pinouts") / f"{_option(words, '--board', '')}.toml"
        board = _files(pins, Path("rtl/prim/rs_ecp5_pll.sv"), Path("rtl/prim/rs_reset_sync.sv"))
        return found | {"flow": _python("hw/synth", "hw/board", "hw/templates/board"), "board": board}
    found |= {"engine": _crates(*DEVICE_CRATES), "language": _language()}
    if verb != "simulate":
        found |= {"program": _crates(*PROGRAM_CRATES), "compiler": _python(*COMPILER)}
        found["parameters"] = _files(Path("spec/params"), Path("spec/params/prices.json"))
        found |= {Path(word).name: _files(Path(word)) for word in words[2:] if word.endswith(".py")}
    if verb == "explore":
        found["estimates"] = _files(Path("spec/resources.json"), Path("spec/energy.json"))
        found["board"] = _files(Path("spec/boards") / f"{_option(words, '--board', '')}.toml")
    if not verb or words[0] != "ringsmith":
        found[Path(verb).name] = _files(Path(verb))
    return found


def _option(words: list[str], name: str, otherwise: str) -> str:
    """Return the value of an option among the words of a command."""
    return words[words.index(name) + 1] if name in words[:-1] else otherwise


def _preset(words: list[str]) -> tuple[str | None, tuple[str, ...]]:
    """Return the hash of the preset that a command names, its settings included, and the folders of its RTL."""
    if len(words) < 3 or words[1] not in _PRESET_VERBS:
        return None, Preset.folders
    settings = [after for word, after in pairwise(words) if word == "--set"]
    try:
        preset = load_any(words[2], parse_overrides(settings))
    except RingsmithError:
        return None, Preset.folders
    return _short(repr(preset).encode()), preset.folders


@cache
def _rtl(folders: tuple[str, ...]) -> str:
    """The hash of what the modules of the last folder, the tops, are made of: a module beside them changes nothing."""
    root = shipped.root()
    paths = [path for name in folders for path in _listed(root / "rtl" / name)]
    units = {path.stem: path for path in paths if path.suffix == ".sv"}
    left, used = [path.stem for path in _listed(root / "rtl" / folders[-1]) if path.stem in units], set[str]()
    while left:
        name = left.pop()
        if name not in used:
            used.add(name)
            left += units.keys() & set(_NAME.findall(code(units[name].read_text(encoding="utf-8"), ".sv")))
    return _hash(path for path in paths if path.suffix != ".sv" or path.stem in used)


@cache
def _language() -> str:
    return _files(*(Path("spec") / name for name in LANGUAGE))


@cache
def _crates(*names: str) -> str:
    return _files(*(Path("crates") / name / "src" for name in names))


@cache
def _python(*names: str) -> str:
    return _files(*(Path("python/ringsmith") / name for name in names))


@cache
def _files(*places: Path) -> str:
    """Return the hash of files, and of those in folders: names and code, without comments and tests."""
    return _hash(path for place in places for path in _listed(shipped.root() / place))


def _hash(paths: Iterable[Path]) -> str:
    state = hashlib.sha256()
    for path in paths:
        text = code(path.read_text(encoding="utf-8"), path.suffix)
        state.update(f"{path.relative_to(shipped.root())}\0{text}\0".encode())
    return state.hexdigest()[:12]


def _listed(place: Path) -> Iterator[Path]:
    """Yield a file, or the sources in a folder, sorted."""
    if place.is_file():
        yield place
    for path in sorted(place.rglob("*")):
        if path.suffix in _SOURCES and not _TESTS.search(str(path.relative_to(place))):
            yield path


def _short(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:12]
