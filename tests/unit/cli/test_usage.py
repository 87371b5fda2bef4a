"""Wrong usage: one line that says what was meant and which help says more. And the bare command."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from gossamer.cli.main import main

MISTAKES = [
    (["crwl"], "there is no command crwl (did you mean crawl?): see `gossamer --help`"),
    (["find", "rockets"], "there is no command find (did you mean search?): see `gossamer --help`"),
    (["config", "shw"], "there is no command shw (did you mean show?): see `gossamer config --help`"),
    (["config", "get"], "`gossamer config` has no command get, only show, check, export and import"),
    (["status", "--jsn"], "there is no option --jsn (did you mean --json?): see `gossamer status --help`"),
    (["crawl", "--dept", "3"], "there is no option --dept (did you mean --depth?): see `gossamer crawl --help`"),
    (["crawl", "--max-depth=3"], "there is no option --max-depth (did you mean --depth?)"),
    (["inject", "--sitemp"], "there is no option --sitemp (did you mean --sitemap?): see `gossamer inject --help`"),
    (
        ["rules", "import", "--dat"],
        "there is no option --dat (did you mean --data?)",
    ),
    (["crawl", "--scope", "hots"], "--scope: 'hots' is not host, domain or list (did you mean host?)"),
    (["crawl", "--sitemaps", "onyl"], "--sitemaps: 'onyl' is not yes, no or only (did you mean only?)"),
    (["crawl", "--pages", "many"], "--pages: 'many' is not a whole number: see `gossamer crawl --help`"),
    (["crawl", "--pages"], "--pages needs a value: see `gossamer crawl --help`"),
    (["explain"], "URL is missing: see `gossamer explain --help`"),
    (["alerts", "add"], "NAME is missing: see `gossamer alerts add --help`"),
    (["status", "now"], "too many arguments: now: see `gossamer status --help`"),
    (["--dept", "crawl"], "there is no option --dept before a command: see `gossamer --help`"),
]


@pytest.mark.parametrize(("arguments", "sentence"), MISTAKES, ids=[" ".join(words) for words, _ in MISTAKES])
def test_a_mistake_is_told_with_what_was_meant(
    arguments: list[str],
    sentence: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"gossamer: {sentence}")
    assert said.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_the_bare_command_says_what_to_do_first(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "gossamer.cli"], capture_output=True, text=True, timeout=120, cwd=tmp_path, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    for command in ("demo", "crawl https://", "search", "serve", "--help"):
        assert f"gossamer {command}" in done.stdout
    assert len(done.stdout.splitlines()) < 24
    assert max(map(len, done.stdout.splitlines())) <= 100


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ('[scope]\nmode = "hots"\n', "scope.mode is 'hots': did you mean host?"),
        ('[scope]\nmode = "zzz"\n', "scope.mode is 'zzz': known are host, domain, list"),
        ("[scope]\ndeph = 3\n", "unknown setting deph in [scope]: did you mean depth?"),
        ("[scop]\ndepth = 3\n", "unknown section [scop]: did you mean [scope]?"),
    ],
)
def test_a_wrong_setting_is_told_with_what_was_meant(
    settings: str, sentence: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "gossamer.toml").write_text(settings)
    assert main(["config", "check", "--data", str(tmp_path)]) == 2
    assert sentence in capsys.readouterr().err


def test_a_file_where_a_folder_is_wanted_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "seeds.txt"
    file.write_text("https://example.org/\n")
    for verb in (["status"], ["crawl", "http://127.0.0.1/"], ["search", "x"]):
        for data in (file, file / "below"):
            assert main([*verb, f"--data={data}"]) == 2
            said = capsys.readouterr().err
            assert said.startswith(f"gossamer: --data {data}: {file} is a file; name the folder of a crawl")
    assert file.read_text() == "https://example.org/\n"
