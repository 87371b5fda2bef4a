"""One command of a plan as a process on a leash, and what it says."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Sequence
from threading import Thread

_LINES = 40
"""Lines that are kept as last words."""
_LONGEST_LINE = 2000


class Task:
    """A gossamer command under way; it ends when its pipe is closed, by whoever or whatever."""

    def __init__(self, name: str, command: Sequence[str], began_at: float, tell: Callable[[str, str], None]) -> None:
        self.name, self.began_at = name, began_at
        self.is_told_to_end = False
        self._tell = tell
        self._lines: deque[str] = deque(maxlen=_LINES)
        self._process = subprocess.Popen(
            [sys.executable, "-m", "gossamer.cli.leash", *command],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip
        self._listener = Thread(target=self._listen, daemon=True)
        self._listener.start()

    def poll(self) -> int | None:
        """Its exit code, negative for a signal; None while it runs."""
        code = self._process.poll()
        if code is not None:
            # A process that it left behind may hold the pipe open: what was said so far has to do then.
            self._listener.join(1.0)
            self._close()
        return code

    def ask_to_end(self) -> None:
        """Let it finish in good order."""
        self.is_told_to_end = True
        self._close()

    def send_kill(self) -> None:
        """Kill it with the processes of its group; one that hangs in the kernel may live on for a while."""
        if self._process.poll() is None:  # else another group may have its number by now
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)

    def kill(self) -> None:
        """End it at once, with the processes of its group."""
        self.send_kill()
        self._process.wait()

    def wait(self) -> int:
        """Until it has ended; its exit code."""
        self._process.wait()
        return self.poll() or 0

    def words(self) -> str:
        """The end of what it said."""
        return "\n".join(self._lines)

    def last_line(self) -> str:
        """Its very last words."""
        return self._lines[-1] if self._lines else ""

    def _close(self) -> None:
        if self._process.stdin is not None:
            with contextlib.suppress(BrokenPipeError):
                self._process.stdin.close()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as pipe:
            while raw := pipe.readline(_LONGEST_LINE):
                line = raw.decode("utf-8", "replace").rstrip()
                if line:
                    self._lines.append(line)
                    self._tell(self.name, line)
