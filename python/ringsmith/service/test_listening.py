# SPDX-License-Identifier: Apache-2.0
"""Servers at a file of this machine: the same answers, for its owner alone, never in the place of something else."""

from __future__ import annotations

import asyncio
import os
import socket
import stat
from pathlib import Path

import numpy as np
import pytest

import ringsmith as rs
from ringsmith.errors import InputError
from ringsmith.service.conftest import ROWS, WEIGHTS, no_defects, score
from ringsmith.service.harness import Running
from ringsmith.service.listening import listening
from ringsmith.service.settings import Settings

EXPECTED = (ROWS @ WEIGHTS) ** 2


def test_a_server_at_a_file_answers_as_any(tmp_path: Path) -> None:
    """One job, many, large bodies, asyncio; the file is its owner's, and goes with the server."""
    place = tmp_path / "s"
    with Running(tmp_path / "store", workers=1, socket=place) as server:
        assert server.url == f"unix://{place}"
        assert stat.S_IMODE(place.stat().st_mode) == 0o600
        key = server.tenant("a")
        with rs.connect(server.url, key) as remote:
            assert np.abs(score.on(remote)(ROWS, WEIGHTS) - EXPECTED).max() < 1e-3
            found = list(score.on(remote).map([ROWS] * 70, w=WEIGHTS, keep=0))
            assert len(found) == 70
            assert np.abs(np.array(found) - EXPECTED).max() < 1e-3

        async def ask() -> None:
            async with rs.connect_async(server.url, key) as remote:
                assert np.abs(await score.on(remote)(ROWS, WEIGHTS) - EXPECTED).max() < 1e-3

        asyncio.run(ask())
        server.stop()
        no_defects(server)
    assert not place.exists()


def test_a_killed_server_leaves_a_file_that_the_next_one_replaces(tmp_path: Path) -> None:
    place = tmp_path / "s"
    with Running(tmp_path / "store", workers=1, socket=place) as server:
        with pytest.raises(InputError, match="a server does"), listening(server.settings):
            pass
        server.kill()
        assert place.exists()
        server.start()
        with rs.connect(server.url, server.tenant("a")) as remote:
            assert remote.jobs() == []


def test_a_server_leaves_the_file_of_the_one_after_it(tmp_path: Path) -> None:
    """Whose file was removed under it, and made anew by another."""
    place = tmp_path / "s"
    with listening(Settings(tmp_path, socket=place)):
        place.unlink()
        later = socket.socket(socket.AF_UNIX)
        later.bind(str(place))
    assert place.exists()
    later.close()


def test_a_server_tells_the_whole_path_and_leaves_the_mode_of_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a file named from the working directory; files made while it listens have the permissions of the process."""
    monkeypatch.chdir(tmp_path)
    before = os.umask(0o022)
    try:
        with listening(Settings(tmp_path, socket=Path("s"))) as (_, url):
            assert url == f"unix://{tmp_path / 's'}"
            (tmp_path / "file").touch()
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o644


def test_what_is_no_socket_stays(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("precious")
    (tmp_path / "folder").mkdir()
    os.symlink(tmp_path / "file", tmp_path / "link")
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(tmp_path / "left"))
    os.symlink(tmp_path / "left", tmp_path / "other")
    for name, match in (
        ("file", "no socket"), ("folder", "no socket"), ("link", "no socket"), ("other", "no socket"),
        ("x" * 200, "too long"), ("none/s", "No such file"),
    ):  # fmt: skip
        with (
            pytest.raises(InputError, match=match),
            listening(Settings(tmp_path, socket=tmp_path / name)),
        ):
            pass
    assert (tmp_path / "file").read_text() == "precious"
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "other").is_symlink()


def test_addresses_of_files_are_whole() -> None:
    for url in (
        "unix:", "unix://", "unix:///", "unix://host/s", "unix:s", "file:///s", "/s", "http://host:port",
        "http://h:99999",
    ):  # fmt: skip
        with pytest.raises(InputError, match="address of a server"):
            rs.connect(url, "key")
    with (
        rs.connect("unix:///nowhere/s", "key", patience=0.1) as remote,
        pytest.raises(rs.RemoteError, match="cannot be reached"),
    ):
        remote.jobs()
