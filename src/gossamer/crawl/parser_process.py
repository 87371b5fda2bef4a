"""A parser: a process that turns bodies into `Parsed`, one after the other.

Parsing is nine tenths of a page's cost and the part that strangers attack. In a separate process it never blocks the
worker's event loop, uses another core, has a memory limit, and can be killed if a page keeps it busy for too long.

The worker speaks first: frames of 4 bytes length and one byte type, `C` for a `ParserConfig` and `J` for a `ParseJob`,
both msgpack; `K` says what is known of a site (`SiteKnown`). The parser answers each job with one frame, a `Parsed`.
End of input ends the process.
"""

from __future__ import annotations

import contextlib
import fcntl
import gc
import os
import resource
import signal
import sys
from pathlib import Path
from typing import BinaryIO

import msgspec

from gossamer import logs
from gossamer.crawl.parser_config import CONFIG, KNOW, ParserConfig, SiteKnown
from gossamer.crawl.reading import PageParser
from gossamer.model.records import Kind, Parsed, ParseJob
from gossamer.model.url import CanonicalRules
from gossamer.parse.clean import clean_line
from gossamer.parse.limits import ParseLimits
from gossamer.scope.chain import ScopeConfig

_PIPE_BYTES = 1 << 20
"""Size of a pipe: a usual page fits, so that neither side waits for the other in the middle of one."""


def rehearse() -> None:
    """Read a page as a parser does: what is loaded with the first one is then there."""
    config = ParserConfig(CanonicalRules(), ScopeConfig(hosts=("a.test",)), (), ParseLimits())
    body = b"<title>A page</title><h1>A page</h1><p>Some words that are long enough to be the text of a page.</p>"
    PageParser(config).read(ParseJob("http://a.test/", Kind.PAGE, "text/html", body))


def main(forked: bool = False) -> None:
    """Serve until the worker closes the pipe. `forked`: what the process inherited is not on the account of pages."""
    inherited = _address_space() if forked else 0
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the worker's to handle
    for pipe in (0, 1):
        with contextlib.suppress(OSError):  # no pipe, or the user's allowance is used up: slower, not wrong
            fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
    source = os.fdopen(0, "rb", buffering=1 << 20)
    sink = os.fdopen(1, "wb", buffering=0)
    sys.stdout = sys.stderr  # a library that prints must not break the protocol
    logs.inherit("parser")
    # Trees of pages die by reference count; scanning them for cycles costs and finds little.
    gc.set_threshold(100_000, 50, 50)
    try:
        _serve(source, sink, inherited)
    except BrokenPipeError:
        return


def _serve(source: BinaryIO, sink: BinaryIO, inherited: int) -> None:
    configs = msgspec.msgpack.Decoder(ParserConfig)
    jobs = msgspec.msgpack.Decoder(ParseJob)
    known = msgspec.msgpack.Decoder(SiteKnown)
    encoder = msgspec.msgpack.Encoder()
    reader: PageParser | None = None
    while head := source.read(5):
        payload = source.read(int.from_bytes(head[:4], "little"))
        if head[4:] == CONFIG:
            config = configs.decode(payload)
            _limit_memory(config.memory, inherited)
            reader = PageParser(config, reader.known if reader is not None else None)
            continue
        if head[4:] == KNOW:
            if reader is not None:
                reader.know(known.decode(payload))
            continue
        job = jobs.decode(payload)
        answer = encoder.encode(_read(reader, job))
        _write(sink, len(answer).to_bytes(4, "little") + answer)


def _read(reader: PageParser | None, job: ParseJob) -> Parsed:
    if reader is None:
        return Parsed(job.url, ok=False, problem="the parser was not configured")
    try:
        return reader.read(job)
    except MemoryError:
        return Parsed(job.url, ok=False, problem="the page needs more memory than a parser may use")
    except Exception as error:  # a page must never take the crawl down
        return Parsed(job.url, ok=False, problem=clean_line(f"{type(error).__name__}: {error}", 300))


def _address_space() -> int:
    """Bytes of address space in use."""
    return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()


def _limit_memory(mebibytes: int, inherited: int) -> None:
    if mebibytes:
        limit = mebibytes * 1024 * 1024 + inherited
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def _write(sink: BinaryIO, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[sink.write(view) :]


if __name__ == "__main__":
    main()
    os._exit(0)  # skip the slow clean-up of trees and tables
