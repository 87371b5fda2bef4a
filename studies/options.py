"""Options that all studies share, and what holds where they are left out."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import msgspec
from cyclopts import Parameter

from gossamer.errors import UsageError
from studies.study import Options

DEFAULT_OUT = Path("lab-report")
DEFAULT_SEED = 1
WEBS_VARIABLE = "GOSSAMER_WEBS"
_WEBS_BESIDE = Path("../shared/data")

Quick = Annotated[bool, Parameter(name="--quick", negative="", help="Less data, the same questions.")]
Seed = Annotated[int, Parameter(name="--seed", help="Of the random numbers: same seed, same figures.")]
Webs = Annotated[
    Path | None,
    Parameter(
        name="--webs",
        help=f"Folder with real sites, graphs and histories; default: ${WEBS_VARIABLE}, else {_WEBS_BESIDE} if it is "
        "there, else what can be made up.",
    ),
]
Cache = Annotated[
    Path | None,
    Parameter(
        name="--cache",
        help="Where webs that were read are kept between runs; default: gossamer-lab in the user's cache.",
    ),
]
Out = Annotated[Path, Parameter(name="--out", help="Folder for the pages.")]


class Asked(msgspec.Struct, frozen=True):
    """The options of a study as they were typed: what is passed on, and what its page names as its command."""

    quick: bool = False
    seed: int = DEFAULT_SEED
    webs: Path | None = None
    cache: Path | None = None
    out: Path = DEFAULT_OUT

    def words(self) -> list[str]:
        """The options that were not left out."""
        words = ["--quick"] if self.quick else []
        words += ["--seed", str(self.seed)] if self.seed != DEFAULT_SEED else []
        words += ["--webs", str(self.webs)] if self.webs is not None else []
        words += ["--cache", str(self.cache)] if self.cache is not None else []
        return words + (["--out", str(self.out)] if self.out != DEFAULT_OUT else [])

    def options(self, tell: Callable[[str], None]) -> Options:
        """What the study is given."""
        cache = self.cache if self.cache is not None else default_cache()
        return Options(quick=self.quick, seed=self.seed, webs=webs_folder(self.webs), cache=cache, tell=tell)


def webs_folder(given: Path | None) -> Path | None:
    """The folder with real data: as given, else the variable's, else the one beside this project, else none."""
    variable = os.environ.get(WEBS_VARIABLE)
    named = given if given is not None else Path(variable) if variable else None
    if named is not None:
        if not named.is_dir():
            raise UsageError(f"{named} is no folder: name one with sites, graphs or histories by --webs")
        return named
    return _WEBS_BESIDE if _WEBS_BESIDE.is_dir() else None


def check_out(folder: Path) -> None:
    """`UsageError` where no pages can be written: better said before a measurement than after it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise UsageError(f"cannot write into {folder}: {error.strerror or error}: choose another --out") from error


def default_cache() -> Path:
    """The lab's part of the user's cache."""
    caches = os.environ.get("XDG_CACHE_HOME")
    return (Path(caches) if caches else Path.home() / ".cache") / "gossamer-lab"
