# SPDX-License-Identifier: Apache-2.0
"""The page in a browser: it shows what there is, takes orders, and runs no markup that a tenant wrote."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ringsmith as rs
from ringsmith.service.conftest import ROWS, WEIGHTS, Asker, score

# Run inside the page's own script file, which the policy of the page allows; it writes what it sees into the document.
PROBE = """
(async () => {
  sessionStorage.setItem("key", new URLSearchParams(location.search).get("key"));
  await refresh();
  await describe();
  document.querySelectorAll("#programs details").forEach((card) => (card.open = true));
  document.body.dataset.seen = JSON.stringify({
    tiles: [...document.querySelectorAll("#tiles dd")].map((e) => e.textContent),
    jobs: [...document.querySelectorAll("#jobs tbody tr")].map((r) => r.innerText),
    programs: [...document.querySelectorAll("#programs details")].map((r) => r.innerText),
    keys: [...document.querySelectorAll("#keys tbody tr")].map((r) => r.innerText),
    api: document.querySelectorAll("#api tr").length,
    problem: at("problem").hidden ? "" : at("problem").textContent,
    wide: document.documentElement.scrollWidth > document.documentElement.clientWidth,
    pwned: document.body.dataset.pwned ?? "",
  });
})();
"""


def browser() -> str:
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if found is None:
        pytest.skip("no Chromium: install the Debian package chromium")
    return found


def seen(url: str, tmp_path: Path, width: int, *more: str) -> str:
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync", *more]
    profile = f"--user-data-dir={tmp_path / f'profile-{width}'}"
    done = subprocess.run(
        [browser(), *flags, profile, f"--window-size={width},1600", "--virtual-time-budget=8000", url],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return done.stdout


@pytest.fixture
def probed(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A way to serve the page with the probe behind its script."""
    from ringsmith.service import page

    files = page.files()
    script, media = files["/page.js"]
    return files | {"/page.js": (script + PROBE.encode(), media)}


def test_the_page_shows_what_there_is(alice: Asker, probed: Any, tmp_path: Path) -> None:
    browser()

    @rs.kernel(name="<img src=x onerror=document.body.dataset.pwned=1>", x=rs.Encrypted(2, bound=1.0), tolerance=1e-3)
    def hostile(x: Any) -> Any:
        return x + 1

    with alice.remote() as remote:
        score.on(remote)(ROWS, WEIGHTS)
        hostile.on(remote)(np.zeros(2))
    with Proxied(alice.url, probed) as url:
        for width in (1280, 500):
            dom = seen(f"{url}/?key={alice.key}", tmp_path, width, "--dump-dom")
            told = json.loads(_attribute(dom, "data-seen"))
            assert not told["problem"]
            assert not told["wide"], f"the page is wider than {width} pixels"
            assert len(told["jobs"]) == 2
            assert all("done" in job for job in told["jobs"])
            assert any("score" in card and "128 bits" in card and "encrypted" in card for card in told["programs"])
            assert any("<img" in card for card in told["programs"])
            assert len(told["keys"]) == 2
            assert told["api"] >= 15
            assert not told["pwned"]


def test_without_a_key_the_page_asks_for_one(alice: Asker, tmp_path: Path) -> None:
    dom = seen(alice.url + "/", tmp_path, 800, "--dump-dom")
    assert '<form id="login">' in dom
    assert '<div id="board" hidden="">' in dom
    assert "/v1/jobs/{id}" in dom


def _attribute(dom: str, name: str) -> str:
    import html

    assert f'{name}="' in dom, dom[-2000:]
    return html.unescape(dom.split(f'{name}="')[1].split('"')[0])


class Proxied:
    """The server behind a small one that gives the page's files itself and passes all else on."""

    def __init__(self, url: str, files: Any) -> None:
        self._url, self._files = url, files

    def __enter__(self) -> str:
        import threading
        from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

        import httpx

        url, files = self._url, self._files

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                own = files.get(self.path.split("?")[0])
                if own is None:
                    headers = {name: value for name, value in self.headers.items() if name.lower() == "authorization"}
                    answer = httpx.get(url + self.path, headers=headers, trust_env=False)
                    own = answer.content, answer.headers["content-type"]
                self.send_response(200)
                self.send_header("content-type", own[1])
                self.send_header("content-length", str(len(own[0])))
                self.end_headers()
                self.wfile.write(own[0])

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{self._server.server_port}"

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
