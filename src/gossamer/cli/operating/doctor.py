"""`gossamer doctor`: what is wrong with this crawl, this machine, these settings."""

from __future__ import annotations

import sys
from typing import Annotated

from cyclopts import Parameter
from rich.text import Text

from gossamer.cli.common import DEFAULT_DATA, Data, Debug, Json, out, print_json
from gossamer.clock import SystemClock
from gossamer.data.crawl_settings import settings_of_crawl
from gossamer.model.counts import counted
from gossamer.operate.doctor import crawl as doctor_crawl
from gossamer.operate.doctor import machine as doctor_machine
from gossamer.operate.doctor.checks import Finding, Patient, examine

_COLOURS = {"ok": "green", "warn": "yellow", "bad": "red"}


def command(
    *,
    data: Data = DEFAULT_DATA,
    deep: Annotated[bool, Parameter(negative="")] = False,
    network: Annotated[bool, Parameter(negative="")] = False,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Check the installation and the crawl, and suggest fixes. Changes nothing.

    Exit code 1: there are errors.

    Parameters
    ----------
    deep
        Read and check all stored data. This takes long.
    network
        Check whether names resolve and whether the servers of some seeds answer.
    """
    patient = Patient(data, settings_of_crawl, SystemClock(), deep, network)
    findings = []
    try:
        for finding in examine(patient, (*doctor_machine.CHECKS, *doctor_crawl.CHECKS)):
            findings.append(finding)
            if not json:
                _print(finding)
    finally:
        patient.close()
    if json:
        print_json({"ok": not any(one.state == "bad" for one in findings), "findings": findings})
    else:
        counts = {state: sum(one.state == state for one in findings) for state in _COLOURS}
        troubles = f"{counted(counts['warn'], 'warning')}, {counted(counts['bad'], 'error')}"
        out.print(f"{counts['ok']} passed, {troubles}", markup=False)
    if any(one.state == "bad" for one in findings):
        sys.exit(1)


def _print(finding: Finding) -> None:
    out.print(Text(f"{finding.state:5}", style=_COLOURS[finding.state]), end="")
    out.print(f"{finding.check:12} {finding.sentence}", markup=False)
    if finding.advice:
        out.print(f"{'':17} → {finding.advice}", markup=False, style="dim")
