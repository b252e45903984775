"""A headless Chromium, where there is one: what a page's script finds out there, and what went wrong."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

OPTIONS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update", "--virtual-time-budget=5000"),
)
_BEFORE = """<script>window.wrong = []; addEventListener("error", (e) => wrong.push(e.message));
console.error = console.warn = (...said) => wrong.push(said.join(" "));</script>"""
_AFTER = """<script>addEventListener("load", () => setTimeout(async () => {
  let found;
  try { found = await (async () => { %s })(); } catch (e) { wrong.push(String(e)); }
  const told = document.createElement("pre");
  told.id = "told";
  told.textContent = JSON.stringify({ found, wrong });
  top.document.body.replaceChildren(told);
}));</script>"""


def ask_page(page: str, script: str, folder: Path, *, width: int = 1280, options: tuple[str, ...] = ()) -> Any:
    """Load a page in a frame of this width, run a script in it, return what it returns; fail with what the console was told."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        pytest.skip("no Chromium is installed")
    file, host = folder / "asked.html", folder / "host.html"
    file.write_text(page.replace("<head>", "<head>" + _BEFORE, 1).replace("</body>", _AFTER % script + "</body>"))
    frame = f'<iframe style="width: {width}px; height: 900px; border: 0" src="{file.name}"></iframe>'
    host.write_text(f"<!doctype html><body>{frame}</body>")
    command = [
        chromium,
        *OPTIONS,
        *options,
        f"--user-data-dir={folder / 'browser'}",
        "--hide-scrollbars",
        "--allow-file-access-from-files",
    ]
    done = subprocess.run(
        [*command, "--dump-dom", host.as_uri()], capture_output=True, text=True, timeout=120, check=False
    )
    told = re.search(r'<pre id="told">(.*?)</pre>', done.stdout, flags=re.DOTALL)
    assert told is not None, f"Chromium said nothing: {done.stderr[-500:]}"
    answer = json.loads(html.unescape(told[1]))
    assert answer["wrong"] == []
    return answer["found"]
