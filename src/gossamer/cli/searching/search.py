"""`gossamer search`: ask the index from the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from rich.text import Text

from gossamer import settings as settings_file
from gossamer.cli.common import DEFAULT_DATA, Data, Debug, Json, out, print_json
from gossamer.compose.search import open_front_end, open_searcher
from gossamer.errors import UsageError
from gossamer.model.counts import counted
from gossamer.search.like.values import as_value
from gossamer.search.query.custom import order_named
from gossamer.search.query.language import parse
from gossamer.search.query.operators import NARROWING
from gossamer.search.ranking import NAMES
from gossamer.search.results import Marked, Request, Results, ScoreExplanation, Since, Sort
from gossamer.search.searcher import Searcher
from gossamer.search.shards.sharded import ShardedSearcher
from gossamer.web.answers import search_answer

_MAX = 100


def command(
    *query: Annotated[str, Parameter(allow_leading_hyphen=True)],
    data: Data = DEFAULT_DATA,
    limit: int = 10,
    page: int = 1,
    sort: Sort = "relevance",
    since: Since = "",
    ranking: str = "",
    similar: Annotated[bool, Parameter(negative="")] = False,
    literal: Annotated[bool, Parameter(negative="")] = False,
    like: str = "",
    group: bool = True,
    why: str = "",
    shards: Annotated[list[str] | None, Parameter(negative="")] = None,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Search the crawled pages.

    A query may contain words, "phrases", -not, OR, {operators}.

    Parameters
    ----------
    query
        The query.
    limit
        Results per page, 1 to 100.
    page
        Which page of results to show.
    sort
        relevance: best first; date: newest first; or one of your fields: price, lowest first, or -price (write
        --sort=-price).
    since
        Only pages of the last day, week, month or year.
    ranking
        web or bm25; default: the setting search.ranking.
    similar
        Show near-duplicates, too.
    literal
        Search only for the query as typed: no other spelling, no other forms of a phrase, no fewer words.
    like
        Show pages that are like the page with this URL; words of the query narrow them.
    group
        Show at most two results of one site on a page, or of one part of a site, if the best results come from many.
    why
        Instead of results, explain the score of the page with this URL, term by term.
    shards
        Search a divided index: addresses of shard servers, `;` between shards, `,` between replicas of one shard.
        Default: the setting shards.nodes.
    """
    if not 1 <= limit <= _MAX:
        raise UsageError(f"--limit must be from 1 to {_MAX}")
    if ranking and ranking not in NAMES:
        raise UsageError(f"there is no ranking {ranking!r}: choose one of {', '.join(NAMES)}")
    text = " ".join(f'"{word}"' if " " in word and len(query) > 1 else word for word in query)
    if like:
        if not parse(f"like:{as_value(like)}").values("like"):
            raise UsageError(f"--like {like!r} is not the address of a page")
        text = f"{text} like:{as_value(like)}".strip()
    if not text.strip():
        raise UsageError('nothing to search for: gossamer search "words"')
    searcher = _searcher(data, shards)
    asked = Request(
        query=text,
        page=page,
        size=limit,
        sort=sort,
        since=since,
        similar=similar,
        ranking=ranking,
        facets=json,
        literal=literal,
        group=group,
    )
    if sort not in ("relevance", "date") and order_named(searcher.state().fields, sort) is None:
        raise UsageError(f"--sort {sort}: there is no such order: relevance, date, or a field with sort = true")
    if why:
        explained = searcher.explain(asked, why)
        print_json(explained) if json else _show_why(explained)
        return
    answer(searcher, asked, json)


command.__doc__ = (command.__doc__ or "").format(operators=", ".join(NARROWING))


def answer(searcher: Searcher | ShardedSearcher, asked: Request, json: bool) -> None:
    """Print the results of a request."""
    results = searcher.search(asked)
    print_json(search_answer(results)) if json else _show(results)


def _searcher(data: Path, shards: list[str] | None) -> Searcher | ShardedSearcher:
    settings = settings_file.load(data, {"shards": {"nodes": shards, "shard": ""}} if shards else {})
    return open_front_end(settings)[0] if settings.shards.nodes else open_searcher(data)


def _show(results: Results) -> None:
    attempt = (results.attempt.sentence,) if results.attempt else ()
    for notice in (*results.notices, *attempt, *filter(None, [results.reason])):
        out.print(plain(notice), style="yellow", markup=False)
    for query in results.try_instead:
        out.print(Text("Try: ") + Text(plain(query), style="bold italic"))
    for number, hit in enumerate(results.hits, 1 + (results.request.page - 1) * results.request.size):
        out.print(Text(f"{number}. ", style="dim") + _marked(hit.title, "bold"))
        kind = hit.page_type if hit.page_type != "article" else ""
        copies = f"{hit.similar} similar" if hit.similar else ""
        others = f"also in {', '.join(plain(one.lang) for one in hit.alternates)}" if hit.alternates else ""
        values = plain(", ".join(f"{one.name} {one.value}" for one in hit.fields))
        details = "  ".join(
            filter(None, [values, (hit.date or "")[:10], plain(hit.author), hit.lang, kind, copies, others])
        )
        out.print(Text(f"   {plain(hit.url)}", style="green") + Text(f"  {details}", style="dim"))
        out.print(Text("   ") + _marked(hit.excerpt, ""), soft_wrap=False)
        if hit.more_from:
            out.print(Text(f"   more: {counted(hit.more_from.count, 'page')}, site:{hit.more_from.site}", style="dim"))
    if results.did_you_mean and not results.attempt:
        out.print(Text("Did you mean: ") + Text(results.did_you_mean, style="bold italic"))
    pages = f", page {results.request.page} of {results.pages}" if results.pages > 1 else ""
    about = "about " if results.estimated else ""
    out.print(f"{about}{counted(results.total, 'page')}{pages}, {results.seconds * 1000:.0f} ms", style="dim")


def _marked(text: Marked, style: str) -> Text:
    shown = Text()
    for piece, hit in text.pieces():
        shown.append(plain(piece), style=f"{style} yellow".strip() if hit else style)
    return shown


def plain(text: str) -> str:
    """What a page says must not steer the terminal."""
    return "".join(char if char.isprintable() else " " for char in text)


def _show_why(explanation: ScoreExplanation) -> None:
    for one in explanation.fields:
        out.print(plain(f"{one.name}: {one.value} (from {one.source})"), markup=False)
    if not explanation.matches:
        out.print(explanation.reason, markup=False)
        return
    out.print(f"{explanation.score:8.3f}  {explanation.url}", markup=False)
    for factor in explanation.factors:
        out.print(f"{factor.value:8.3f}  {factor.name}  ({factor.detail})".replace("  ()", ""), markup=False)
