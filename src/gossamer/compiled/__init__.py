"""The steps of reading a page and of showing it that are worth compiling, each a twin of a function in Python.

The modules are written in Cython (`*.pyx`) and compiled when the package is installed, if a C
compiler is there (`hatch_build.py`). Whoever has such a step asks `twin` for it once, at import, and takes its own way
where there is none: not built, built for other features (`LAYOUT`), or switched off by `GOSSAMER_PURE=1`. Why these
steps and this way: decision 29.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any

MODULES = ("blocks", "excerpts", "features", "forest", "measures", "words")
SWITCH = "GOSSAMER_PURE"
"""Set in the environment, the twins in Python run."""

_asked: set[str] = set()
_refused: dict[str, str] = {}
"""Module → why it does not run."""


def twin(name: str, layout: object = None) -> Any:
    """A compiled module, or None; `layout`: what both must agree in, as the twin in Python knows it."""
    _asked.add(name)
    if os.environ.get(SWITCH):
        _refused[name] = f"{SWITCH} is set"
        return None
    try:
        module = import_module(f"{__name__}.{name}")
    except ImportError as error:
        _refused[name] = "not built" if isinstance(error, ModuleNotFoundError) else str(error)
        return None
    if layout is not None and layout != module.LAYOUT:
        _refused[name] = "built for another version of its twin"
        return None
    return module


def running() -> list[str]:
    """The compiled modules that run, of those that were asked for."""
    return sorted(_asked - _refused.keys())


def refused() -> dict[str, str]:
    """The modules that do not run, and why, of those that were asked for."""
    return dict(_refused)
