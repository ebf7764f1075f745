# SPDX-License-Identifier: Apache-2.0
"""`ringsmith convert` and `rs.load` with the known answers of each library: there, back, and what is refused."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

import ringsmith as rs
from ringsmith.cli import main
from ringsmith.interchange.test_openfhe import KNOWN as OPENFHE
from ringsmith.interchange.test_seal import KNOWN as SEAL

#: Files of a set and of objects, by library and case.
KINDS = ("parameters", "public", "relin", "galois", "x")
FILES: dict[str, dict[str, bytes]] = {
    "seal bfv": {name: SEAL["bfv"][f"{name} none" if name in ("parameters", "x") else name] for name in KINDS},
    "seal ckks": {name: SEAL["ckks"][f"{name} none" if name in ("parameters", "x") else name] for name in KINDS},
    "openfhe bfv": {name: OPENFHE["bfv"][name] for name in KINDS},
    "openfhe ckks": {name: OPENFHE["ckks"][name] for name in KINDS},
    "openfhe-json ckks": {name: OPENFHE["ckks"][f"{name} json"] for name in KINDS},
}


def converted(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str, str]:
    """Run the verb; return the exit status and what it wrote."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["ringsmith", "convert", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            main()
    output = capsys.readouterr()
    return int(ended.value.code or 0), output.out, output.err


@pytest.fixture(params=list(FILES))
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A folder with the files of a library; `format` holds its name."""
    for name, data in FILES[request.param].items():
        (tmp_path / name).write_bytes(data)
    (tmp_path / "format").write_text(request.param.split()[0])
    return tmp_path


def test_there_and_back(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Ours of a library's file says what the file says; the library's of ours is read as the same object."""
    form, parms = (folder / "format").read_text(), folder / "parameters"
    context: Any = rs.load(parms, allow_insecure=True)
    insecure = ("--allow-insecure", "--json")
    for name in KINDS:
        given = () if name == "parameters" else ("--parameters", parms)
        ours, back = folder / f"{name}.ours", folder / f"{name}.back"
        code, text, errors = converted(capsys, folder / name, "--to", "ringsmith", *given, *insecure, "-o", ours)
        assert (code, errors) == (0, "")
        facts = json.loads(text)
        assert (facts["format"], facts["bytes"]) == ("ringsmith", ours.stat().st_size)
        given = () if name == "parameters" else ("--parameters", parms)
        assert converted(capsys, ours, "--to", form, *given, *insecure, "-o", back)[0] == 0
        if name == "parameters":
            assert rs.load(ours, allow_insecure=True) == rs.load(back, allow_insecure=True) == context
        else:
            first, second = (rs.load(path, parameters=context) for path in (ours, back))
            assert type(first) is type(second)
            assert first.to_bytes() == second.to_bytes() == rs.load(folder / name, parameters=context).to_bytes()


def test_files_of_any_format_are_parameters(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ours = folder / "set.rsp"
    assert converted(capsys, folder / "parameters", "--to", "ringsmith", "--allow-insecure", "-o", ours)[0] == 0
    code, text, _ = converted(capsys, folder / "x", "--to", "ringsmith", "--parameters", ours, "--allow-insecure")
    written = folder / "x.ringsmith"
    assert (code, text.split(":")[1].split(",")[0].strip()) == (0, str(written))
    context = rs.load(ours, allow_insecure=True)
    assert rs.load(written, parameters=context).to_bytes() == rs.load(folder / "x", parameters=context).to_bytes()


def refusals() -> dict[str, tuple[str, str]]:
    """What is refused: the words of the command, and of its message; FILE stands for a ciphertext."""
    return {
        "format": ("FILE --to zama", "--to zama: ringsmith, seal, openfhe, openfhe-json"),
        "own place": ("FILE --to ringsmith --parameters PARMS --allow-insecure -o FILE", "the file that is read"),
        "no place": ("FILE --to ringsmith --parameters PARMS --allow-insecure -o NONE/out", "NONE"),
        "insecure": ("FILE --to ringsmith --parameters PARMS", "parameters are insecure"),
        "standard": ("FILE --to seal --parameters PARMS --standard 1999", "1999"),
        "scale": ("PARMS --to ringsmith --scale-bits nan", "--scale-bits nan: 1 to 120"),
        "missing": ("NONE --to ringsmith", "NONE"),
        "neither": ("NOTE --to ringsmith", "bytes of no known format: ringsmith's, SEAL's and OpenFHE's are read"),
        "half": ("HALF --to ringsmith --parameters PARMS --allow-insecure", "bytes"),
        "empty": ("EMPTY --to ringsmith", "bytes of no known format"),
        "owner": ("FILE --to seal --parameters PARMS --allow-insecure --owner NOTE", "bytes of no known format"),
    }


@pytest.mark.parametrize("name", list(refusals()))
def test_what_is_refused(name: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command, words = refusals()[name]
    (folder / "note").write_text("no object")
    (folder / "half").write_bytes((folder / "x").read_bytes()[:-100])
    (folder / "empty").write_bytes(b"")
    before = {path: path.read_bytes() for path in folder.iterdir()}
    places = {"FILE": "x", "PARMS": "parameters", "NONE": "none", "NOTE": "note", "HALF": "half", "EMPTY": "empty"}
    for sign, place in places.items():
        command, words = command.replace(sign, str(folder / place)), words.replace(sign, str(folder / place))
    code, text, errors = converted(capsys, *command.split())
    assert (code, text) == (2, "")
    assert words in errors
    assert len(errors.strip().splitlines()) == 1
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


def test_a_format_without_the_object_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """OpenFHE's set has special primes that SEAL's lack; a set of SEAL's is none that OpenFHE derives."""
    for form, to, words in (("openfhe ckks", "seal", "special primes"), ("seal bfv", "openfhe", "OpenFHE derives")):
        path = tmp_path / form.split()[0]
        path.write_bytes(FILES[form]["parameters"])
        code, _, errors = converted(capsys, path, "--to", to, "--allow-insecure")
        assert code == 2
        assert words in errors
