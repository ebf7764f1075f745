# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from pathlib import Path

import pytest

from ringsmith.errors import InputError
from ringsmith.hw import written
from ringsmith.hw.written import MANIFEST, check_replaceable, files_of, put_in_place, write_manifest

OLD = {"Makefile": "old", "rtl/a.sv": "a", "rtl/same.sv": "same", "old/b.sv": "b"}
NEW = {"Makefile": "new", "rtl/c.sv": "c", "rtl/same.sv": "same", "new/d.sv": "d"}


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def written_package(folder: Path, files: dict[str, str]) -> Path:
    write_manifest(write(folder, files))
    return folder


def content(folder: Path) -> dict[str, str]:
    return {name: (folder / name).read_text() for name in files_of(folder)}


def test_replaces_what_it_wrote_and_keeps_the_rest(tmp_path: Path) -> None:
    target = write(written_package(tmp_path / "p", OLD), {"old/mine": "keep", ".git/config": "keep"})
    (target / "rtl" / "a.sv").unlink()
    work = written_package(target / ".ringsmith-x", NEW)
    assert put_in_place(work, target, target) == (".git/config", "old/mine")
    assert content(target).keys() == {*NEW, MANIFEST, "old/mine", ".git/config"}
    assert content(target)["Makefile"] == "new"
    check_replaceable(target, target)


@pytest.mark.parametrize("after", range(10))
@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt])
def test_all_comes_back_if_a_move_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, after: int, error: type[BaseException]
) -> None:
    target = write(written_package(tmp_path / "p", OLD), {"mine": "keep"})
    work = written_package(tmp_path / "w", NEW)
    before, left, replace = content(target), [after], Path.replace

    def refuse(self: Path, place: Path) -> Path:
        left[0] -= 1
        if left[0] == -1:
            raise error
        return replace(self, place)

    monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(error):
        put_in_place(work, target, target)
    assert content(target) == before
    assert sorted(path.name for path in target.iterdir()) == ["MANIFEST.sha256", "Makefile", "mine", "old", "rtl"]


@pytest.mark.parametrize("after", range(2, 10))
def test_a_killed_replacement_can_be_repeated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, after: int) -> None:
    target = written_package(tmp_path / "p", OLD)
    replace, left = Path.replace, [after]

    def killed(self: Path, place: Path) -> Path:
        left[0] -= 1
        if left[0] < 0:
            raise KeyboardInterrupt
        return replace(self, place)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", killed)
        patch.setattr(written._Moves, "__exit__", lambda *_: None)
        with pytest.raises(KeyboardInterrupt):
            put_in_place(written_package(tmp_path / "w", NEW), target, target)
    put_in_place(written_package(tmp_path / "again", NEW), target, target)
    assert content(target).keys() == {*NEW, MANIFEST}


@pytest.mark.parametrize(
    ("own", "words"),
    [
        ({"rtl/a.sv": "mine now"}, "changed since ringsmith wrote it: rtl/a.sv"),
        ({"rtl/c.sv": "mine"}, "in the way of a new file: rtl/c.sv"),
        ({"new": "a file"}, "in the way of a new file: new"),
        ({"new/d.sv/x": "a folder"}, "in the way of a new file: new/d.sv"),
        ({MANIFEST: "0" * 64 + "  ../secret\n"}, "line 1 of MANIFEST.sha256"),
        ({MANIFEST: "0" * 64 + "  /etc/passwd\n"}, "line 1 of MANIFEST.sha256"),
        ({MANIFEST: "0" * 64 + "  a//b\n"}, "line 1 of MANIFEST.sha256"),
        ({MANIFEST: "Makefile\n"}, "line 1 of MANIFEST.sha256"),
    ],
)
def test_refuses_what_is_not_as_it_wrote_it(tmp_path: Path, own: dict[str, str], words: str) -> None:
    target = write(written_package(tmp_path / "p", OLD), own)
    before = content(target)
    with pytest.raises(InputError, match=words):
        put_in_place(written_package(tmp_path / "w", NEW), target, target)
    assert content(target) == before


def test_links_lead_nowhere(tmp_path: Path) -> None:
    target = written_package(tmp_path / "p", OLD)
    elsewhere = (target / "rtl").rename(tmp_path / "elsewhere")
    (target / "rtl").symlink_to(elsewhere)
    with pytest.raises(InputError, match=r"changed since ringsmith wrote it: rtl/a.sv, rtl/same.sv"):
        put_in_place(written_package(tmp_path / "w", NEW), target, target)
    assert content(elsewhere) == {"a.sv": "a", "same.sv": "same"}


@pytest.mark.parametrize("files", [{"notes.txt": "keep"}, {".git/HEAD": "keep"}])
def test_a_folder_without_a_manifest_is_refused(tmp_path: Path, files: dict[str, str]) -> None:
    target = write(tmp_path / "p", files)
    with pytest.raises(InputError, match="has no MANIFEST"):
        check_replaceable(target, target)
