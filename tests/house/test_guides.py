"""README and the guides: their Python runs, their commands exist, what they print is what is printed there."""

from __future__ import annotations

import doctest
import shlex
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import click
import pytest
from click.testing import CliRunner
from guides import PAGES, ROOT, Block, read_blocks, read_commands

from fedtheory.command_line.main import main

LANGUAGES = {"python", "console", "text", "json", "bibtex"}
#: pages whose Python has tests of its own, which look at more than that it runs
ELSEWHERE = {
    "README.md": "command_line/test_readme.py",
    "docs/statements.md": "claims/statements/test_nine_kinds.py",
    "docs/gpu.md": "command_line/test_device_options.py",
}
TESTED = {page: read_blocks(page) for page in PAGES}
RUN = [
    page
    for page, blocks in TESTED.items()
    if page not in ELSEWHERE and any(block.language in ("python", "console") for block in blocks)
]


def call(command: str) -> str:
    """What a command prints: one of the house, or a file of it that Python runs without any package."""
    program, *words = shlex.split(command)
    if program == "python":
        isolated = [sys.executable, "-I", "-S", str(ROOT / words[0]), *words[1:]]
        return subprocess.run(isolated, capture_output=True, text=True, check=True).stdout
    assert program == "fedtheory", f"{command} is none of ours; say why it is not run"
    result = CliRunner().invoke(main, words)
    assert result.exception is None or isinstance(result.exception, SystemExit), command
    assert result.exit_code != 2, f"{command}: {result.output}"
    return result.output


def play(block: Block, names: dict, page: str, capsys) -> str:
    """Run a block; return what it prints."""
    if block.language == "python":
        exec(compile(block.text, page, "exec"), names)
        return capsys.readouterr().out
    said = ""
    for line in block.text.replace("\\\n", " ").splitlines():
        if line.startswith("$ "):
            said += call(line[2:])
    return said


def require_output(page: str, wanted: str, got: str) -> None:
    """Compare as doctest does; ``...`` stands for anything."""
    same = doctest.OutputChecker().check_output(wanted.strip(), got.strip(), doctest.ELLIPSIS)
    assert same, f"{page} has\n{wanted}\nand the code prints\n{got}"


@pytest.mark.parametrize("page", RUN)
def test_blocks_run_as_printed(page, capsys, monkeypatch) -> None:
    """The Python blocks of a page are one module, run in order; a block of text after one is what it prints."""
    module = ModuleType("page")
    monkeypatch.setitem(sys.modules, "page", module)
    said = ""
    for block in TESTED[page]:
        assert block.language in LANGUAGES or block.language[:1] in ("", "{"), (
            f"{page}: nothing tests {block.language!r}"
        )
        file = block.says("file")
        if block.says("not run") is not None:
            said = None
        elif file:
            Path(file).write_text(block.text)
        elif block.language == "text" and said is not None:
            require_output(page, block.text, said)
        elif block.language in ("python", "console"):
            said = play(block, vars(module), page, capsys)
            if block.language == "console":
                printed = "\n".join(
                    line for line in block.text.replace("\\\n", "").splitlines() if not line.startswith("$ ")
                )
                if printed.strip():
                    require_output(page, printed, said)


@pytest.mark.parametrize(("page", "test"), ELSEWHERE.items())
def test_other_pages_are_run_by_tests_of_their_own(page, test) -> None:
    """Nothing but Python is fenced in them as code to run."""
    assert f'read_blocks("{page}"' in (Path(__file__).parents[1] / test).read_text()
    assert {block.language for block in TESTED[page]} <= {"python", ""}


@pytest.mark.parametrize("page", [page for page in PAGES if read_commands(page)])
def test_commands_are_understood(page) -> None:
    """Every command exists, with these options and values; it is not run. Files that it names are there."""
    for line in read_commands(page):
        _, name, *words = shlex.split(line.replace("...", ""))
        for word in words:
            if word.endswith((".py", ".json", ".jsonl", ".csv")) and "/" not in word:
                Path(word).touch()
        command = main.commands[name]
        try:
            given = [word.replace("DIR", ".").replace("RUNS", "runs") for word in words]
            command.make_context(name, given, click.Context(main, **main.context_settings))
        except click.exceptions.Exit:  # --help
            pass
        except click.UsageError as error:
            pytest.fail(f"{page}: {line}: {error.format_message()}")
