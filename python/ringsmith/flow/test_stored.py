# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from pathlib import Path

from ringsmith.flow.stored import checksum_file, intact, keep


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
