"""`gossamer completion` and `gossamer --version`."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

GOSSAMER = Path(sys.executable).with_name("gossamer")

# What a shell does when somebody presses Tab behind the last word.
TAB = """
source "$1"
COMP_WORDS=("${@:2}")
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
_gossamer
printf '%s\\n' "${COMPREPLY[@]}"
"""


def said(*arguments: str) -> str:
    return subprocess.run([GOSSAMER, *arguments], capture_output=True, text=True, check=True).stdout


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("completion") / "gossamer.bash"
    file.write_text(said("completion", "bash"))
    return file


@pytest.mark.parametrize(
    ("words", "offered"),
    [(["sea"], "search"), (["comp"], "completion"), (["desk", "pub"], "publish"), (["crawl", "--con"], "--contact")],
)
def test_bash_completes_commands_and_options(script: Path, words: list[str], offered: str) -> None:
    command = ["bash", "-c", TAB, "bash", str(script), "gossamer", *words]
    found = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    assert offered in found
    assert all(word.startswith(words[-1]) for word in found)


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_get_a_script_of_their_own(shell: str) -> None:
    assert "gossamer" in said("completion", shell)


def test_the_version_comes_first_and_alone_then_what_is_compiled_and_which_extras_are_there() -> None:
    first, python, compiled, extras = said("--version").splitlines()
    assert re.fullmatch(r"\d+\.\d+\.\d+\S*", first)
    assert python.startswith("Python 3.")
    assert re.search(r"\bblocks\b", compiled)
    assert re.search(r"\bpdf\b", extras)
    assert "dev" not in extras.split()
