# SPDX-License-Identifier: Apache-2.0
"""The snippets of docs/service.md, in their order, as they stand there, against a server that they start."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "service.md").read_text(encoding="utf-8")
#: The port and the address that the page names, as the test has others.
PORT, URL = "8470", "http://127.0.0.1:8470"


def shell_blocks() -> list[list[str]]:
    """Commands of each indented block with `ringsmith`, without their comments."""
    blocks = [block.splitlines() for block in re.findall(r"(?:^ {4}.+\n)+", PAGE, re.MULTILINE)]
    commands = [[line.split(" #")[0].strip() for line in block] for block in blocks]
    return [block for block in commands if any(line.startswith("ringsmith ") for line in block)]


def python_blocks() -> list[str]:
    return re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with the README's first kernel, and `ringsmith` on the path."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (tmp_path / "kernel.py").write_text(re.findall(r"```python\n(.*?)```", readme, re.DOTALL)[0])
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "ringsmith").write_text(f'#!/bin/sh\nexec {sys.executable} -m ringsmith "$@"\n')
    (tmp_path / "bin" / "ringsmith").chmod(0o755)
    return tmp_path


def free_port() -> str:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return str(taken.getsockname()[1])


def run(place: Path, command: str) -> str:
    path = f"{place / 'bin'}:{os.environ['PATH']}"
    done = subprocess.run(
        command, shell=True, cwd=place, env={**os.environ, "PATH": path}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, (command, done.stdout, done.stderr)
    return done.stdout


@contextmanager
def serving(place: Path, command: str, port: str) -> Iterator[None]:
    words = [sys.executable, "-m", *command.split(), "--port", port]
    process = subprocess.Popen(words, cwd=place, stderr=subprocess.DEVNULL)
    try:
        for _ in range(600):
            try:
                if httpx.get(f"http://127.0.0.1:{port}/readyz", trust_env=False).status_code == 200:
                    break
            except httpx.TransportError:
                pass
            assert process.poll() is None, command
            time.sleep(0.1)
        yield
    finally:
        process.terminate()
        process.wait(60)


def test_every_snippet_of_the_page_works(place: Path) -> None:
    (install, tenant, serve), runs, *others = shell_blocks()
    assert (install, others) == ("pip install '.[serve,remote]'", [])
    port = free_port()
    run(place, tenant)
    with serving(place, serve, port):
        for block in python_blocks():
            (place / "snippet.py").write_text(block.replace(PORT, port))
            run(place, f"{sys.executable} snippet.py")
        job = ""
        for command in runs:
            named = command.replace("URL", URL.replace(PORT, port))
            printed = run(place, re.sub(r"\bJOB\b", job, named))
            if "--detach" in command:
                (job,) = re.findall(r"\b[0-9a-f]{32}\b", printed)
        assert (place / "answer.npy").is_file()
