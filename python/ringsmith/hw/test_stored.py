# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from ringsmith import _native
from ringsmith.errors import DeviceError
from ringsmith.hw import verilator
from ringsmith.hw.stored import checksum_file, intact, keep
from ringsmith.presets import load_preset


def kept(folder: Path) -> Path:
    (folder / "work").mkdir()
    (folder / "work" / "made").write_bytes(bytes(range(256)) * 40)
    keep(folder / "work" / "made", folder / "library.so")
    return folder / "library.so"


def test_what_was_kept_is_intact(tmp_path: Path) -> None:
    target = kept(tmp_path)
    assert intact(target)
    assert list((tmp_path / "work").iterdir()) == []


def test_a_file_cut_short_or_changed_is_not(tmp_path: Path) -> None:
    target = kept(tmp_path)
    whole = target.read_bytes()
    for damaged in (whole[:5000], whole[:-1], b"", whole[:99] + b"x" + whole[100:]):
        target.write_bytes(damaged)
        assert not intact(target)
    target.write_bytes(whole)
    assert intact(target)
    for checksum in ("", "0" * 64, "\xff"):
        checksum_file(target).write_text(checksum)
        assert not intact(target)
    checksum_file(target).unlink()
    assert not intact(target)
    target.unlink()
    assert not intact(target)


@pytest.mark.hw
def test_a_library_cut_short_is_refused_and_built_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RINGSMITH_CACHE", str(tmp_path))
    made: list[str] = []

    def compiled(*arguments: object) -> None:
        made.append("library")
        (Path(str(arguments[-1])) / "harness.so").write_bytes(b"\x7fELF" + bytes(100_000))

    monkeypatch.setattr(verilator, "_compile", compiled)
    build = partial(verilator.build_library, "rs_host_pack", {}, harness=[verilator.HARNESS / "abi.cpp"])
    library = build()
    assert build() == library
    assert len(made) == 1
    library.write_bytes(library.read_bytes()[:5000])
    with pytest.raises(DeviceError, match="is cut short or changed since it was built"):
        _native.Device.rtl("rtl:tiny", [], library, load_preset("tiny").port_memory)
    build()
    assert len(made) == 2
    assert intact(library)
