"""`gossamer explain URL`: why it was fetched, refused, or is waiting."""

from __future__ import annotations

from datetime import datetime

from gossamer.cli.common import DEFAULT_DATA, Data, Debug, Json, duration, out, print_json
from gossamer.clock import SystemClock
from gossamer.data.crawl_settings import settings_of_crawl
from gossamer.data.folder import DataFolder
from gossamer.operate.explain.explanation import Explanation
from gossamer.operate.explain.order import Factor
from gossamer.operate.explain.url import as_json, explain


def command(url: str, *, data: Data = DEFAULT_DATA, json: Json = False, debug: Debug = False) -> None:
    """Explain what happened to URL: why the crawl fetched it, refused it or has it in the queue."""
    settings = settings_of_crawl(data)
    db = DataFolder(data).read()
    answer = explain(db, settings, url, SystemClock().now(), DataFolder(data))
    if json:
        print_json(as_json(answer))
        return
    _print(answer)


def _print(answer: Explanation) -> None:
    out.print(answer.url, style="bold", markup=False)
    out.print(answer.verdict, markup=False)
    rows = [("state", answer.state), ("reason", answer.reason), ("robots", answer.robots), ("index", answer.index)]
    rows.append(("document", answer.document_rule))
    more = (
        ("read as", answer.read_as),
        ("site", answer.known_site), ("copies", answer.copies), ("cluster", answer.cluster),
        ("removed", answer.removal), ("rests", answer.rests),
        *(("filter", one) for one in answer.filters),
        *(("field", one) for one in answer.fields),
    )  # fmt: skip
    rows += [row for row in more if row[1]]
    record = answer.record
    if record is not None:
        rows += [
            (
                "found",
                f"{_time(record.found_at)} via {record.via}" + (f" on {record.found_on}" if record.found_on else ""),
            ),
            ("depth", f"{record.depth}, level {record.level}"),
        ]
        if record.fetched_at is not None:
            rows.append(("fetched", f"{_time(record.fetched_at)}, status {record.status or 'none'}"))
        if record.segment:
            rows.append(("stored", f"segment {record.segment}, row {record.segment_row}"))
        rows += [("priority", _factor(factor)) for factor in answer.priority]
        rows += [("revisit", _factor(factor)) for factor in answer.revisit]
    for name, value in rows:
        out.print(f"  {name:8} {value}", markup=False)
    for decision in answer.rules:
        out.print(
            f"  {'allows' if decision.allowed else 'refuses':8} {decision.rule}: {decision.reason}",
            markup=False,
        )


def _factor(factor: Factor) -> str:
    if factor.unit == "s":
        return f"{factor.name}: {duration(factor.value)} {factor.sentence}"
    return f"{factor.name} {factor.value:.3g}: {factor.sentence}"


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds).astimezone().isoformat(timespec="seconds")
