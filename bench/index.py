"""Documents per second and size of the index, beside bare Tantivy, Xapian and SQLite FTS5 on the same texts.

    python bench/index.py                     50,000 pages, spread over the corpus; then the whole corpus by the command
    python bench/index.py --quick             1,000 pages, without the command; makes a small corpus if there is none
    python bench/index.py --documents 200000 --only gossamer,xapian

The texts are pages of the corpus (`_corpus.py`), every n-th of it, as a file with one JSON object a
line. Each contestant reads it in a process of its own, one after the other, nothing beside it:

- `gossamer`: analysis and `IndexWriter`, in batches as `gossamer index --rebuild` writes them, merges
  waited for; surface forms with positions and stems beside them, the text stored;
- `gossamer command`: the whole of `gossamer index` over the *whole* data folder, into an empty index:
  reads Parquet and the database, gathers anchor texts too;
- `tantivy`: the library alone, its default analysis, positions, the text stored;
- `xapian`: term generator with stemmers, positions, the text stored;
- `fts5`: unicode61 with porter, positions, the text stored;
- `reading`: the file read and decoded and nothing done with it, which is in all figures above.

*Documents per second* counts the whole process with its start. *CPU* is that of all its processes and
threads: on a busy machine trust documents per CPU second. *÷ text* is what the index takes on the
disk ÷ UTF-8 bytes of the titles and texts it holds: the stored text is in it for all of them.
"""

from __future__ import annotations

import argparse
import os
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec

from _corpus import Document, find_corpus, iter_documents
from _crawlers import Job, become_reaper, end_cleanly_when_told, find_gossamer, measure
from _figures import Figure, add_usual, conclude, leave_out
from _sites import cache_folder
from _tree import machine_cpu

CONTESTANTS = ("reading", "gossamer", "tantivy", "xapian", "fts5", "command")
LONGEST = 7200.0
BATCH = 5_000
"""Documents our writer commits at once."""
_SYSTEM_PYTHON = "/usr/bin/python3"


class Result(msgspec.Struct, frozen=True):
    """What one contestant needed."""

    name: str
    documents: int
    text_bytes: int
    wall: float
    cpu: float
    others_cpu: float
    """CPU seconds of everything else on the machine meanwhile."""
    index_bytes: int

    @property
    def per_second(self) -> float:
        """Documents a second."""
        return self.documents / self.wall

    @property
    def per_cpu(self) -> float:
        """Documents a CPU second."""
        return self.documents / self.cpu

    @property
    def share(self) -> float:
        """Size of the index ÷ size of the texts."""
        return self.index_bytes / self.text_bytes


def main() -> None:
    """Runs the contestants and prints the table."""
    options = _options()
    if options.run:
        _WRITERS[options.run](options.folder, _read(options.texts))
        return
    become_reaper()
    end_cleanly_when_told()
    data = find_corpus(options.data, cache_folder(options.cache), options.quick)
    wanted = options.documents or (1_000 if options.quick else 50_000)
    total, total_bytes = _count(data)
    results = []
    with tempfile.TemporaryDirectory(prefix="bench-index-", dir=options.scratch) as scratch:
        texts = Path(scratch) / "texts.jsonl"
        documents, text_bytes = _write(texts, data, max(1, total // wanted), wanted)
        for name in options.only:
            if name == "xapian" and not has_xapian():
                leave_out(name, "apt-get install python3-xapian")
            elif name == "command":
                results.append(
                    _run(name, _command_job(options, data, Path(scratch)), total, total_bytes, Path(scratch))
                )
            else:
                job = _job(name, texts, Path(scratch) / name)
                results.append(_run(name, job, documents, text_bytes, Path(scratch)))
    found = [result for result in results if result]
    _print(found)
    conclude(options, _figures(found), found, [] if any(r.name == "gossamer" for r in found) else ["ours failed"])


def _figures(results: list[Result]) -> list[Figure]:
    """Ours beside the others; `reading` is in all of them."""
    found = {result.name: result for result in results if result.name not in ("reading", "command")}
    if "gossamer" not in found:
        return []
    ours, command = found.pop("gossamer"), next((r for r in results if r.name == "command"), None)
    cpu, share = {n: r.per_cpu for n, r in found.items()}, {n: r.share for n, r in found.items()}
    figures = [
        Figure("documents per CPU second", ours.per_cpu, "documents/s", beside=cpu, least=1),
        Figure("size of the index ÷ texts", ours.share, "×", beside=share, most=100),
    ]
    if command:
        figures.append(Figure("gossamer index, documents per CPU second", command.per_cpu, "documents/s", least=1))
    return figures


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add_usual(parser, "1,000 pages, without the command")
    add("--documents", type=int, help="pages (50,000; 1,000 with --quick)")
    add("--only", type=lambda text: tuple(text.split(",")), help=f"of {','.join(CONTESTANTS)}")
    add("--data", type=Path, help="data folder of the corpus (the one _corpus.py makes)")
    add("--cache", default="", help="cache folder of the corpus ($XDG_CACHE_HOME/gossamer-bench)")
    add("--scratch", type=Path, help="where the indexes are made and deleted (the temporary folder)")
    add("--gossamer", default="", help="the command, if not the one of this environment")
    add("--run", choices=tuple(_WRITERS), help=argparse.SUPPRESS)
    add("--texts", type=Path, help=argparse.SUPPRESS)
    add("--folder", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.only = options.only or (CONTESTANTS[:-1] if options.quick else CONTESTANTS)
    if set(options.only) - set(CONTESTANTS):
        parser.error(f"--only takes {', '.join(CONTESTANTS)}")
    return options


def write_gossamer(folder: Path, documents: Iterable[Document]) -> None:
    """Our writer, without crawl, segments and anchor texts."""
    from gossamer.index import commits
    from gossamer.index.document import IndexPage, build
    from gossamer.index.writer import IndexWriter

    commits.create(folder / "tantivy")
    writer = IndexWriter(folder / "tantivy", folder / "scratch")
    for position, batch in enumerate(_batches(documents, BATCH), start=1):
        found = writer.begin()
        for d in batch:
            page = IndexPage(url=d.url, title=d.title, text=d.text, lang=d.lang or None)
            found.add(page.key, build(page))
        writer.apply(found, (), position, time.time())
    writer.merge_some(wait=True)
    writer.close()


def write_tantivy(folder: Path, documents: Iterable[Document]) -> None:
    """Tantivy as its Python package comes, one writing thread as ours."""
    import tantivy

    builder = tantivy.SchemaBuilder()
    builder.add_text_field("url", stored=True, tokenizer_name="raw")
    builder.add_text_field("title", stored=True)
    builder.add_text_field("text", stored=True)
    folder.mkdir(parents=True, exist_ok=True)
    writer = tantivy.Index(builder.build(), str(folder)).writer(200_000_000, 1)
    for batch in _batches(documents, BATCH):
        for d in batch:
            writer.add_document(tantivy.Document(url=d.url, title=d.title, text=d.text))
        writer.commit()
    writer.wait_merging_threads()


def _write_fts5(folder: Path, documents: Iterable[Document]) -> None:
    folder.mkdir(parents=True)
    database = sqlite3.connect(folder / "index.db", isolation_level=None)
    database.execute("CREATE VIRTUAL TABLE pages USING fts5(url UNINDEXED, title, text, tokenize = 'porter unicode61')")
    for batch in _batches(documents, BATCH):
        database.execute("BEGIN")
        database.executemany("INSERT INTO pages VALUES (?, ?, ?)", ((d.url, d.title, d.text) for d in batch))
        database.execute("COMMIT")
    database.close()


def _write_nothing(folder: Path, documents: Iterable[Document]) -> None:
    for _ in documents:
        pass


_WRITERS: dict[str, Callable[[Path, Iterable[Document]], None]] = {
    "reading": _write_nothing,
    "gossamer": write_gossamer,
    "tantivy": write_tantivy,
    "fts5": _write_fts5,
}


def _batches(documents: Iterable[Document], size: int) -> Iterator[list[Document]]:
    iterator = iter(documents)
    while batch := list(islice(iterator, size)):
        yield batch


def _read(texts: Path) -> Iterator[Document]:
    decoder = msgspec.json.Decoder(Document)
    with texts.open("rb") as lines:
        for line in lines:
            yield decoder.decode(line)


def _count(data: Path) -> tuple[int, int]:
    """Pages of the corpus, and bytes of their titles and texts."""
    count = size = 0
    for document in iter_documents(data):
        count += 1
        size += _size(document)
    return count, size


def _write(texts: Path, data: Path, step: int, wanted: int) -> tuple[int, int]:
    """Every n-th page of the corpus, so that all of its sites are there in their shares."""
    count = size = 0
    with texts.open("wb") as file:
        for document in islice(iter_documents(data), 0, step * wanted, step):
            file.write(msgspec.json.encode(document) + b"\n")
            count += 1
            size += _size(document)
    return count, size


def _size(document: Document) -> int:
    return len(document.title.encode()) + len(document.text.encode())


def has_xapian() -> bool:
    """Whether Debian's Python has it."""
    probe = [_SYSTEM_PYTHON, "-c", "import xapian"]
    return Path(_SYSTEM_PYTHON).exists() and subprocess.run(probe, capture_output=True, check=False).returncode == 0


def _job(name: str, texts: Path, folder: Path) -> Job:
    if name == "xapian":
        return Job([_SYSTEM_PYTHON, str(Path(__file__).with_name("_xapian_index.py")), str(texts), str(folder)])
    return Job([sys.executable, __file__, "--run", name, "--texts", str(texts), "--folder", str(folder)])


def _command_job(options: argparse.Namespace, data: Path, scratch: Path) -> Job:
    """`gossamer index` over the corpus, the index apart from the corpus's own."""
    borrowed = borrow(data, scratch / "command", without=("index", "run"))
    return Job([find_gossamer(options.gossamer), "index", "--data", str(borrowed)])


def borrow(data: Path, target: Path, without: tuple[str, ...]) -> Path:
    """A data folder that shares what is in another, but for some of it."""
    target.mkdir()
    for entry in data.iterdir():
        if entry.name not in without and not entry.name.startswith("frontier.db-"):
            (target / entry.name).symlink_to(entry.resolve())
    return target


def _run(name: str, job: Job, documents: int, text_bytes: int, scratch: Path) -> Result | None:
    machine = machine_cpu()
    usage = measure(job, scratch, LONGEST)
    others = max(0.0, machine_cpu() - machine - usage.cpu)
    if usage.code:
        print(f"{name}: exit code {usage.code}\n{usage.said}", file=sys.stderr)
        return None
    place = scratch / name / "index" if name == "command" else scratch / name
    result = Result(name, documents, text_bytes, usage.wall, usage.cpu, others, _disk(place))
    print(f"{name:10} {result.per_second:8.0f} documents/s  {usage.wall:7.1f} s", file=sys.stderr)
    return result


def _disk(folder: Path) -> int:
    files = (Path(parent) / name for parent, _, names in os.walk(folder) for name in names)
    return sum(file.stat().st_size for file in files)


def _print(results: list[Result]) -> None:
    print("\n|  | documents | seconds | CPU s | others' CPU s | documents/s | documents/CPU s | index MB | ÷ text |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|---:|")
    for r in results:
        cells: list[Any] = [r.documents, f"{r.wall:.1f}", f"{r.cpu:.1f}", f"{r.others_cpu:.1f}"]
        cells += [f"{r.per_second:.0f}", f"{r.per_cpu:.0f}", f"{r.index_bytes / 1e6:.0f}", f"{r.share:.2f}"]
        print(f"| {r.name} | {' | '.join(map(str, cells))} |")
    found = {r.name: r for r in results}
    ours = found.get("gossamer")
    for peer in ("tantivy", "xapian", "fts5"):
        if ours and peer in found:
            other = found[peer]
            speed, cpu, size = (
                ours.per_second / other.per_second,
                ours.per_cpu / other.per_cpu,
                ours.share / other.share,
            )
            print(f"\ngossamer ÷ {peer}: documents/s {speed:.2f}, documents/CPU s {cpu:.2f}, size {size:.2f}")


if __name__ == "__main__":
    main()
