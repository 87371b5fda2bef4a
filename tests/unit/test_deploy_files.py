"""Deployments and documentation: the program understands every command in them, and every file is well formed."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import yaml
from cyclopts import App, CycloptsError

from gossamer.cli.common import check_seeds
from gossamer.cli.verbs import VERBS, module_of
from gossamer.errors import UsageError
from gossamer.settings import FILE_NAME, load

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
UNITS = sorted((DEPLOY / "systemd").glob("*.service"))
MANIFESTS = sorted((DEPLOY / "kubernetes").glob("*.yaml"))
SCALE = ROOT / "docs" / "scale.md"
PROSE = (
    ROOT / "README.md",
    DEPLOY / "README.md",
    *sorted(set((ROOT / "docs").glob("*.md")) - {ROOT / "docs" / "cli.md"}),
)
"""Their fenced commands are run by tests/docs, but for those that need more than a test has."""
PROGRAM = "/opt/gossamer/bin/gossamer"

_VARIABLES = {"GOSSAMER_WORKERS": "4", "SHARD": "2", "GOSSAMER_SHARDS": "http://10.0.0.1:8017"}
_LINE = re.compile(r"^(?: {4}(?:\$ )?|\$ )(?:sudo -u \w+ )?(?:/\S+/)?(gossamer .+)$", re.MULTILINE)
_INLINE = re.compile(r"`(gossamer\s[^`]+)`")
_VARIANTS = re.compile(r"[\[|\]]")
"""How tables write what may be left out, or one of several."""
_LINK = re.compile(r"\]\((?!https?:)([^)#]*)(?:#([^)]+))?\)")


def understands(words: list[str]) -> None:
    """Raise where the program would not understand a command line; nothing is run."""
    app = App(name="gossamer")
    for verb in VERBS:
        app.command(f"{module_of(verb)}:command", name=verb)
    _, bound, _ = app.parse_args(words, exit_on_error=False, print_error=False)
    # Where a command takes any number of seeds, an unknown option is taken for one, and refused only when it runs.
    check_seeds([word for word in bound.args if isinstance(word, str)], words[0])


def filled_in(word: str) -> str:
    """A word as a service manager hands it over: variables replaced."""
    word = re.sub(r"\$[{(](\w+)[)}]", lambda found: _VARIABLES.get(found[1], "text"), word)
    return word.replace("%I", "2/4").replace("%i", "2-4")


# -- where commands stand -------------------------------------------------------------------------


def unit_commands() -> Iterator[tuple[str, list[str]]]:
    for unit in UNITS:
        for line in unit.read_text().splitlines():
            if line.startswith("ExecStart="):
                program, *words = line.removeprefix("ExecStart=").split()
                assert program == PROGRAM
                yield unit.name, words


def documents(path: Path) -> list[Any]:
    return [document for document in yaml.safe_load_all(path.read_text()) if document is not None]


def compose_commands() -> Iterator[tuple[str, list[str]]]:
    for name, service in documents(DEPLOY / "compose.yaml")[0]["services"].items():
        if service["image"] == "gossamer":
            yield f"compose {name}", service["command"]


def single_command() -> list[str]:
    """What the one container runs."""
    (compose,) = documents(DEPLOY / "compose.single.yaml")
    return list(compose["services"]["gossamer"]["command"])


def containers(value: Any) -> Iterator[dict[str, Any]]:
    """All containers anywhere in a manifest."""
    if isinstance(value, list):
        for one in value:
            yield from containers(one)
    elif isinstance(value, dict):
        yield from value.get("containers", [])
        for one in value.values():
            yield from containers(one)


def manifest_commands() -> Iterator[tuple[str, list[str]]]:
    for path in MANIFESTS:
        for container in containers(documents(path)):
            yield f"{path.name} {container['name']}", container["args"]


def prose_commands() -> Iterator[tuple[str, list[str]]]:
    """Lines of code that begin with `gossamer`, and code within a sentence that does."""
    for path in PROSE:
        text = re.sub(r"\\\n\s*", "", path.read_text())
        sentences = [one for one in _INLINE.findall(text) if not _VARIANTS.search(one)]
        for command in [*_LINE.findall(text), *sentences]:
            words = shlex.split(re.split(r" [|>&]+ ", command)[0], comments=True)[1:]
            # A sentence may name a verb without what it takes.
            if command not in sentences or not is_a_name(words):
                yield f"{path.name} {' '.join(words)}", words


def is_a_name(words: list[str]) -> bool:
    """Whether words are a verb, perhaps with a sub-command, and nothing more."""
    return words[0] in VERBS and (len(words) == 1 or (len(words) == 2 and words[1] in subcommands(words[0])))


def subcommands(verb: str) -> set[str]:
    command = import_module(module_of(verb)).command
    return set(command) if isinstance(command, App) else set()


COMMANDS = [
    ("compose.single", single_command()),
    *unit_commands(),
    *compose_commands(),
    *manifest_commands(),
    *prose_commands(),
]


@pytest.mark.parametrize("words", [words for _, words in COMMANDS], ids=[name for name, _ in COMMANDS])
def test_the_program_understands_every_command(words: list[str]) -> None:
    understands([filled_in(word) for word in words])


@pytest.mark.parametrize(
    "line", ["crawls", "work --worker 4", "crawl --no-such-option", "serve --shard", "jobs start vocabulary", "rank x"]
)
def test_a_command_that_does_not_exist_is_noticed(line: str) -> None:
    with pytest.raises((CycloptsError, UsageError)):
        understands(line.split())


def test_each_deployment_has_a_head_workers_shards_and_front_ends() -> None:
    """One head for each database; as many shards as their commands say."""
    for found in (unit_commands, compose_commands, manifest_commands):
        verbs = [words[0] for _, words in found()]
        assert verbs.count("crawl") == 1
        assert {"crawl", "work", "index", "serve"} <= set(verbs)
    (shards,) = [one for one in documents(DEPLOY / "kubernetes" / "shards.yaml") if one["kind"] == "StatefulSet"]
    (front,) = [words for name, words in manifest_commands() if name == "front.yaml front"]
    count = shards["spec"]["replicas"]
    assert shards["spec"]["ordinals"]["start"] == 1  # shards are counted from 1
    assert all(f"--shard=$(SHARD)/{count}" in one["args"] for one in containers(shards))
    assert [word for word in front if word.startswith("--shards=")] == [
        f"--shards=http://gossamer-shard-{number}.gossamer-shard:8017" for number in range(1, count + 1)
    ]


def anchors(path: Path) -> set[str]:
    """What the headings of a page are linked by."""
    heads = re.findall(r"^#+ (.+)$", path.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


@pytest.mark.parametrize("path", [SCALE, DEPLOY / "README.md"], ids=lambda path: path.name)
def test_links_lead_somewhere(path: Path) -> None:
    for name, anchor in _LINK.findall(path.read_text()):
        target = (path.parent / name).resolve() if name else path
        assert target.exists(), name
        assert not anchor or anchor in anchors(target), f"{name}#{anchor}"


# -- files ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", MANIFESTS, ids=lambda path: path.name)
def test_manifests_are_well_formed(path: Path) -> None:
    for document in documents(path):
        assert document["apiVersion"]
        assert document["kind"]
        if document["kind"] != "Kustomization":
            assert document["metadata"]["name"].startswith("gossamer")


def test_kustomization_names_every_manifest_and_kustomize_reads_it() -> None:
    (wanted,) = documents(DEPLOY / "kubernetes" / "kustomization.yaml")
    assert set(wanted["resources"]) == {path.name for path in MANIFESTS} - {"kustomization.yaml"}
    if not shutil.which("kubectl"):
        pytest.skip("kubectl is not installed")
    done = subprocess.run(
        ["kubectl", "kustomize", DEPLOY / "kubernetes"], capture_output=True, text=True, timeout=240, check=False
    )
    assert done.returncode == 0, done.stderr
    made = [one["kind"] for one in yaml.safe_load_all(done.stdout)]
    assert made.count("StatefulSet") == 2
    assert made.count("ConfigMap") == 1


def test_settings_of_the_deployments_are_valid(tmp_path: Path) -> None:
    for path in (DEPLOY / "kubernetes" / "gossamer.toml", DEPLOY / "gossamer.example.toml"):
        (tmp_path / FILE_NAME).write_text(path.read_text())
        load(tmp_path).check()


def test_the_console_is_in_each_deployment_and_nobody_else_reaches_it_by_default() -> None:
    for found in (compose_commands, manifest_commands):
        (words,) = [words for name, words in found() if name.endswith("console")]
        assert words[0] == "serve" and not any(word.startswith(("--shard", "--shards")) for word in words)
    assert single_command()[0] == "run"


@pytest.mark.parametrize("name", ["compose.yaml", "compose.single.yaml"])
def test_compose_services_wait_for_services_and_use_volumes_that_there_are(name: str) -> None:
    (compose,) = documents(DEPLOY / name)
    for service in compose["services"].values():
        assert set(service.get("depends_on", ())) <= set(compose["services"])
        named = {volume.partition(":")[0] for volume in service.get("volumes", ())}
        assert {name for name in named if not name.startswith("./")} <= set(compose["volumes"])
        for port in service.get("ports", ()):
            assert port.startswith("127.0.0.1:")


def test_units_use_only_variables_that_the_environment_file_explains() -> None:
    explained = set(re.findall(r"^(\w+)=", (DEPLOY / "systemd" / "gossamer.env").read_text(), re.MULTILINE))
    for unit in UNITS:
        assert set(re.findall(r"\$\{(\w+)\}", unit.read_text())) <= explained, unit.name


def test_no_file_holds_a_secret() -> None:
    for path in (DEPLOY / "systemd" / "gossamer.env", DEPLOY / "kubernetes" / "secret.yaml"):
        given = re.findall(r"(?:PASSWORD|KEY\w*)[=:]\s*(\S+)$", path.read_text(), re.MULTILINE)
        assert given
        assert set(given) == {"change-me"}


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd-analyze is not installed")
def test_systemd_accepts_the_units(tmp_path: Path) -> None:
    names = []
    for unit in [*UNITS, *(DEPLOY / "systemd").glob("*.timer")]:
        # Where the program is not installed, systemd would complain of that alone.
        (tmp_path / unit.name).write_text(unit.read_text().replace(PROGRAM, "/bin/true"))
        names.append(str(tmp_path / unit.name.replace("@", "@2-4")))
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", *names], capture_output=True, text=True, timeout=240, check=False
    )
    complaints = [line for line in done.stderr.splitlines() if "gossamer" in line]
    assert (done.returncode, complaints) == (0, [])
