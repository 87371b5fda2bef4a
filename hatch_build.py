"""Compiles `gossamer.compiled` when the package is installed or made a wheel; without a compiler everything else is.

Called by hatchling (`pip install .`, `pip install -e .`, `pip wheel .`) for the modules that are written in Cython. If
that fails for whatever reason, the package is installed without them, and runs their twins in Python (decision 29).
"""

from __future__ import annotations

import os
import sysconfig
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

FOLDER = "src/gossamer/compiled"
_OPTIONS = ("-O3", "-g0", "-ffp-contract=off")
"""No operations joined to one that rounds once: the twins must give equal numbers on every processor."""


class CompiledHook(BuildHookInterface):  # type: ignore[misc]
    """Adds the compiled modules to a wheel, or builds them in the source tree of an editable installation."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Before the files are gathered."""
        if self.target_name != "wheel" or os.environ.get("GOSSAMER_PURE"):
            return
        try:
            compile_modules(Path(self.root))
        except BaseException as error:  # setuptools leaves by SystemExit, too
            self.app.display_warning(f"Gossamer is installed without compiled modules: {type(error).__name__}: {error}")
            return
        if version != "editable":
            build_data["pure_python"] = False
            build_data["infer_tag"] = True
            build_data["artifacts"].append(f"{FOLDER}/*{sysconfig.get_config_var('EXT_SUFFIX')}")


def compile_modules(root: Path) -> None:
    """Each `.pyx` of the folder, into a module beside it."""
    from Cython.Build import cythonize
    from setuptools import Distribution, Extension

    sources = sorted((root / FOLDER).glob("*.pyx"))
    with tempfile.TemporaryDirectory() as build:
        extensions = [
            Extension(
                f"gossamer.compiled.{path.stem}", [str(path)], include_dirs=[str(root / FOLDER)],
                extra_compile_args=list(_OPTIONS),
            )
            for path in sources
        ]  # fmt: skip
        made = cythonize(
            extensions, build_dir=build, include_path=[str(root / "src")], quiet=True,
            compiler_directives={"language_level": 3, "boundscheck": False, "wraparound": False, "cdivision": True},
        )  # fmt: skip
        command = Distribution({"name": "gossamer", "ext_modules": made}).get_command_obj("build_ext")
        command.build_temp, command.build_lib = build, str(root / "src")
        command.parallel = os.cpu_count()
        command.ensure_finalized()
        command.run()
