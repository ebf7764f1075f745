# SPDX-License-Identifier: Apache-2.0
"""The page for people: three files of this folder, nothing from elsewhere."""

from __future__ import annotations

from pathlib import Path

_FOLDER = Path(__file__).parent / "web"
_FILES = {
    "/": ("index.html", "text/html"),
    "/page.css": ("page.css", "text/css"),
    "/page.js": ("page.js", "text/javascript"),
}


def files() -> dict[str, tuple[bytes, str]]:
    """Return content and media type of each file by its path."""
    return {path: ((_FOLDER / name).read_bytes(), media) for path, (name, media) in _FILES.items()}
