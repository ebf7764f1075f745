# SPDX-License-Identifier: Apache-2.0
"""Files of the tree that belong to no package, such as the scripts behind `make`, as modules."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]


def loaded(path: str) -> Any:
    """Return the file of that path in the tree as a module of its own, run anew."""
    name = Path(path).stem
    spec = importlib.util.spec_from_file_location(name, ROOT / path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    outer = sys.modules.get(name)
    sys.modules[name] = module  # a dataclass looks for its module there
    try:
        spec.loader.exec_module(module)
    finally:
        sys.modules.pop(name)
        if outer is not None:
            sys.modules[name] = outer
    return module
