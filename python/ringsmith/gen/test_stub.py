# SPDX-License-Identifier: Apache-2.0
"""The stub of the bindings: macros are expanded, every kind of member is told, an unknown type is refused by place."""

from __future__ import annotations

from pathlib import Path

import pytest

from ringsmith.errors import FormatError
from ringsmith.gen import stub
from ringsmith.gen.rust_source import Group, macro, parsed, text

SOURCE = """
//! A crate.
macro_rules! a_class {
    ($(#[$doc:meta])* $name:ident($inner:ty); $($method:ident: |$x:ident| $body:expr;)* more { $($more:tt)* }) => {
        #[pyclass(frozen, subclass, name = "Made", module = "m")]
        pub struct $name { inner: $inner }
        #[pymethods]
        impl $name {
            $(fn $method(&self, py: Python<'_>, a: &$name) -> PyResult<Vec<Py<$name>>> { let $x = a; $body })*
            $($more)*
        }
    };
}
type Pair = (f64, Option<bool>);
a_class! {
    /// Says, with a comma: nothing.
    Own(Vec<u64>);
    twice: |x| f(x, x);
    more {
        #[new]
        #[pyo3(signature = (first, *, pair=(1.0, None)))]
        fn new(first: [u8; 16], pair: Pair) -> Self { Self { inner: vec![] } }
        #[getter]
        fn bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> { "}" }
        #[staticmethod]
        fn of(#[pyo3(from_py_with = number)] lists: Vec<Vec<u32>>) -> PyResult<Self> { '{' }
        fn __repr__(&self) -> String { String::new() }
    }
}
#[derive(FromPyObject)]
pub enum Either { One(Py<Own>), Two(String) }
#[pyfunction]
fn free(given: Either) -> BTreeMap<&'static str, f64> { known(given) }
#[pymodule]
fn module(m: &Bound<'_, PyModule>) -> PyResult<()> { m.add("LARGEST", 1)?; m.add_class::<Own>() }
"""


def written(tmp_path: Path, source: str) -> str:
    (tmp_path / "lib.rs").write_text(source)
    return stub.render(tmp_path)


@pytest.mark.parametrize(
    "line",
    [
        "LARGEST: int\n",
        "def free(given: Made | str) -> dict[str, float]: ...\n",
        "@disjoint_base\nclass Made:\n",
        "    def twice(self, a: Made) -> list[Made]: ...\n",
        "    def __new__(cls, first: bytes, *, pair: tuple[float, bool | None] = ...) -> Made: ...\n",
        "    @property\n    def bytes(self) -> bytes: ...\n",
        "    @staticmethod\n    def of(lists: Sequence[Sequence[int]]) -> Made: ...\n",
        '__all__ = [\n    "LARGEST",\n    "Made",\n    "free",\n]\n',
    ],
)
def test_what_a_crate_gives(line: str, tmp_path: Path) -> None:
    assert line in written(tmp_path, SOURCE)


def test_what_python_does_not_see_is_left_out(tmp_path: Path) -> None:
    made = written(tmp_path, SOURCE)
    assert "__repr__" not in made
    assert "py:" not in made


def test_a_type_without_a_row_is_refused_by_place(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"free\.given: no type of Python for Neither"):
        written(tmp_path, SOURCE.replace("free(given: Either)", "free(given: Neither)"))


@pytest.mark.parametrize("broken", ["fn f() {", "fn f() }", "fn f( ]"])
def test_brackets_that_do_not_agree_are_refused(broken: str) -> None:
    with pytest.raises(FormatError, match="is needed"):
        parsed(broken)


@pytest.mark.parametrize(
    ("rules", "call", "made"),
    [
        ("($($a:ident),*) => { [$($a);*] }", "", "[]"),
        ("($($a:ident),*) => { [$($a)=>*] }", "a, b, c", "[a=>b=>c]"),
        ("($a:ident in $b:ty; $($c:tt)*) => { $b $a ($($c)*) }", "x in Vec<u8>; (1) 2", "Vec<u8>x((1)2)"),
        ("($($a:ident: $b:expr;)* end) => { $($b, $a.)* }", "x: 1 + 2; y: f(3); end", "1+2,x.f(3),y."),
        ("(($a:ident)) => { $crate::$a }", "(b)", "crate::b"),
    ],
)
def test_macros(rules: str, call: str, made: str) -> None:
    (group,) = parsed("{" + rules + "}")
    assert isinstance(group, Group)
    (body,) = parsed("{" + made + "}")
    assert isinstance(body, Group)
    assert text(macro(group).expanded(parsed(call))) == text(body.trees)


def test_a_call_that_does_not_fit_is_refused() -> None:
    (group,) = parsed("{($a:ident in $b:ident) => { $a }}")
    assert isinstance(group, Group)
    with pytest.raises(FormatError, match="do not fit"):
        macro(group).expanded(parsed("a of b"))
