# SPDX-License-Identifier: Apache-2.0
"""`make check-all`: what it runs exists, what it writes is read again, a run goes on; the scripts behind it parse."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from loading import loaded

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    module = loaded("tools/check_all.py")
    monkeypatch.setattr(module, "STORE", tmp_path / "checks.toml")
    monkeypatch.setattr(module, "LOGS", tmp_path / "logs")
    monkeypatch.setattr(module, "CHECKS", {"quick": "passes", "lame": "fails", "absent": "lacks a tool"})
    monkeypatch.setattr(module, "ROOT", tmp_path)
    monkeypatch.setattr(module, "commit", lambda: "0123456789")
    (tmp_path / "Makefile").write_text(
        "quick:\n\t@echo ran >> count\nlame:\n\t@echo no; exit 1\nabsent:\n\t@echo 'no valgrind'; exit 2\n"
    )
    return module


def test_each_check_is_a_target_whose_commands_can_be_listed() -> None:
    module = loaded("tools/check_all.py")
    for name in module.CHECKS:
        done = subprocess.run(["make", "--dry-run", name], cwd=ROOT, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    assert module.stored(ROOT / "spec/results/checks.toml").keys() <= module.CHECKS.keys()


@pytest.mark.parametrize("script", sorted((ROOT / "tools").glob("*.sh")), ids=lambda path: path.name)
def test_each_script_parses(script: Path) -> None:
    subprocess.run(["bash", "-n", str(script)], check=True)


def test_outcomes_are_written_and_a_run_goes_on(tool: Any, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert tool.main([]) == 1
    runs = tool.stored(tool.STORE)
    assert {name: run.outcome for name, run in runs.items()} == {
        "quick": "passed", "lame": "failed", "absent": "could not be run",
    }  # fmt: skip
    assert "no valgrind" in (tmp_path / "logs/absent.log").read_text()
    assert tool.main(["quick", "absent"]) == 2
    assert (tmp_path / "count").read_text() == "ran\n"
    assert "quick: passed on this commit" in capfd.readouterr().out
    assert tool.main(["quick", "--again"]) == 0
    assert (tmp_path / "count").read_text() == "ran\nran\n"
    assert tool.main(["--list"]) == 0
    said = capfd.readouterr().out
    assert "failed on 0123456789" in said


def test_a_check_that_was_killed_says_nothing_of_the_commit(tool: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tool, "CHECKS", {"killed": "ends by a signal"})
    (tool.ROOT / "Makefile").write_text("killed:\n\t@kill -TERM $$PPID; sleep 1\n")
    with pytest.raises(KeyboardInterrupt):
        tool.main(["killed"])
    assert not tool.STORE.exists()


def test_a_kill_ends_what_was_started(tmp_path: Path) -> None:
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools/check_all.py").write_text((ROOT / "tools/check_all.py").read_text())
    (tmp_path / "Makefile").write_text("audit:\n\t@echo $$$$ > pid.new; mv pid.new pid; sleep 60; true\n")
    own = ["-c", "user.name=a", "-c", "user.email=a@b"]
    for words in (["init", "-q"], ["add", "."], [*own, "commit", "-q", "-m", "all"]):
        subprocess.run(["git", *words], cwd=tmp_path, check=True)
    tool = subprocess.Popen([sys.executable, "tools/check_all.py", "audit"], cwd=tmp_path, stdout=subprocess.DEVNULL)
    pid = tmp_path / "pid"
    until = time.monotonic() + 30
    while not pid.exists() and time.monotonic() < until:
        time.sleep(0.05)
    tool.terminate()
    assert tool.wait(30) == 130
    while time.monotonic() < until and Path(f"/proc/{pid.read_text().strip()}").exists():
        time.sleep(0.05)
    assert not Path(f"/proc/{pid.read_text().strip()}").exists()
    assert not (tmp_path / "spec").exists()


def test_a_reader_may_leave() -> None:
    reads, writes = os.pipe()
    os.close(reads)
    tool = [sys.executable, "tools/check_all.py", "--list"]
    done = subprocess.run(tool, cwd=ROOT, stdout=writes, stderr=subprocess.PIPE, check=False)
    os.close(writes)
    assert (done.returncode, done.stderr) == (141, b"")


def test_names_that_are_none_are_refused(tool: Any, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        tool.main(["sanitise"])
    assert ended.value.code == 2
    assert "no check is named 'sanitise': quick, lame, absent" in capfd.readouterr().err
    assert not tool.STORE.exists()


def test_changed_files_are_told_from_a_commit(tool: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tool, "commit", lambda: "0123456789+")
    assert tool.main(["quick"]) == 0
    assert tool.main(["quick"]) == 0
    assert (tool.ROOT / "count").read_text() == "ran\nran\n"
    assert tool.stored(tool.STORE)["quick"].commit == "0123456789+"


def test_tests_that_passed_are_left_out_when_a_run_goes_on(tmp_path: Path) -> None:
    """A run that is stopped in its third test; on two workers and on none."""
    (tmp_path / "conftest.py").write_text((ROOT / "conftest.py").read_text())
    (tmp_path / "test_it.py").write_text(
        "import os, pathlib\nimport pytest\n\n\n"
        "@pytest.mark.parametrize('number', range(4))\n"
        "def test_number(number):\n"
        "    with open('ran', 'a') as file:\n        file.write(str(number))\n"
        "    if number == 2 and not pathlib.Path('stopped').exists():\n"
        "        pathlib.Path('stopped').touch()\n        os._exit(9)\n"
    )

    def run(*options: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(tmp_path), *options]
        env = {**os.environ, "RINGSMITH_PASSED": str(tmp_path / "kept.passed")}
        return subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)

    assert run("-n", "0").returncode == 9
    assert "2 passed" in run("-n", "2").stdout
    assert sorted((tmp_path / "ran").read_text()) == ["0", "1", "2", "2", "3"]
    for workers in "02":
        done = run("-n", workers)
        assert (done.returncode, "passed" in done.stdout) == (0, False), done.stdout


def test_a_check_is_told_where_to_keep_what_passed(tool: Any, tmp_path: Path) -> None:
    (tmp_path / "Makefile").write_text("quick:\n\t@cat $$RINGSMITH_PASSED 2>&1; echo one >> $$RINGSMITH_PASSED\n")
    kept = tmp_path / "logs/quick-0123456789.passed"
    assert tool.main(["quick"]) == 0
    assert kept.read_text() == "one\n"
    tool.run("quick", "0123456789")
    assert (tmp_path / "logs/quick.log").read_text() == "one\n"
    assert tool.main(["quick", "--again"]) == 0
    assert kept.read_text() == "one\n"
