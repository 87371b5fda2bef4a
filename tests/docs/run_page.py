"""Runs the commands of one page of the documentation, in order, as a reader would: `run_page.py PAGE FOLDER`.

Started by test_documented_commands.py in namespaces of its own; GOSSAMER_BIN names the folder of another `gossamer`.
Commands that last are given the time to say that they are ready, run beside those that follow, and must end in good
order when they are interrupted.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

from doc_commands import STOP, Step, steps_of
from small_internet import NEXT_ARTICLE, published_at, small_internet

PATIENCE = 900.0
"""Seconds for one command."""
ARRIVED = "from publication to the alert:"
"""What is printed, with the time, when an alert names the article that the newspaper published meanwhile."""
READY = 20.0
"""Seconds until a command that lasts has said something, if it does; some say nothing where all is well."""
LISTENING = 240.0
"""The same for a server, which says where it listens: nobody can ask it before."""
_SERVER = re.compile(r"gossamer (serve|run)\b|gossamer crawl .*--serve\b")


def main(page: Path, folder: Path) -> int:
    """Exit code 1 and the output of the first command that failed."""
    work = folder / "work"
    work.mkdir()
    with small_internet(folder) as trust:
        environment = {**_environment(work), **trust}
        lasting: list[tuple[Step, subprocess.Popen[bytes], Path]] = []
        try:
            for number, step in enumerate(steps_of(page)):
                if step.reason:
                    continue
                print(f"$ {step.command}", flush=True)
                if step.command == STOP:
                    if not all([_ends(*one) for one in lasting]):  # noqa: C419 - all of them are ended
                        return 1
                    lasting.clear()
                elif step.is_lasting:
                    lasting.append(_start(step, work, environment, folder / f"said-{number}"))
                elif not _succeeds(step, work, environment):
                    return 1
            return 0 if all([_ends(*one) for one in lasting]) else 1  # noqa: C419 - all of them are ended
        finally:
            for _, process, _ in lasting:
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)


def _environment(work: Path) -> dict[str, str]:
    """What a reader's shell has: the program, no proxy, a browser that opens nothing, and a folder of packages."""
    program = os.environ.get("GOSSAMER_BIN") or str(Path(sys.executable).parent)
    kept = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
    return kept | {
        "PATH": f"{program}:{os.environ['PATH']}", "HOME": str(work), "COLUMNS": "200", "BROWSER": "true",
        "PYTHONPATH": str(work / "packages"),
    }  # fmt: skip


def _succeeds(step: Step, work: Path, environment: dict[str, str]) -> bool:
    done = subprocess.run(
        ["bash", "-c", step.command], cwd=work, env=environment, stdin=subprocess.DEVNULL, timeout=PATIENCE,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
    )  # fmt: skip
    print(done.stdout, flush=True)
    if published_at and step.command.startswith("gossamer alerts hits") and NEXT_ARTICLE in done.stdout:
        print(f"{ARRIVED} {time.time() - published_at[0]:.1f} s", flush=True)
    if done.returncode:
        print(f"FAILED with {done.returncode}: {step.command}")
    return done.returncode == 0


def _start(
    step: Step, work: Path, environment: dict[str, str], said: Path
) -> tuple[Step, subprocess.Popen[bytes], Path]:
    with said.open("wb") as file:
        process = subprocess.Popen(
            ["bash", "-c", f"exec {step.command}"], cwd=work, env=environment, stdin=subprocess.DEVNULL, stdout=file,
            stderr=file, start_new_session=True,
        )  # fmt: skip
    deadline = time.monotonic() + (LISTENING if _SERVER.match(step.command) else READY)
    while time.monotonic() < deadline and process.poll() is None and not said.read_bytes():
        time.sleep(0.1)
    time.sleep(1.0)
    return step, process, said


def _ends(step: Step, process: subprocess.Popen[bytes], said: Path) -> bool:
    """Interrupted as by Ctrl-C, it ends well; whatever ended before did not last."""
    if process.poll() is None:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            print(f"did not end: {step.command}")
            return False
    elif process.returncode:
        print(f"ended by itself: {step.command}")
    print(said.read_text(errors="replace"))
    if process.returncode:
        print(f"FAILED with {process.returncode}: {step.command}")
    return process.returncode == 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
