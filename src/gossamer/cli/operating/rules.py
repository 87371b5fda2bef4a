"""`gossamer rules`: which pages are documents, and how to cut them."""

from __future__ import annotations

import sys
from collections.abc import Collection
from contextlib import closing
from pathlib import Path
from typing import Annotated

import msgspec
from cyclopts import App, Parameter

from gossamer.cli.common import DEFAULT_DATA, Data, Debug, Json, operator_name, out, print_json
from gossamer.cli.usage import no_option
from gossamer.clock import SystemClock
from gossamer.data.crawl_settings import settings_of_crawl
from gossamer.data.folder import DataFolder
from gossamer.data.guidance import guidance_of
from gossamer.data.raw_pages import Html, html_from_bytes, newest_html
from gossamer.database.database import Database, open_database
from gossamer.errors import StorageError, UsageError
from gossamer.frontier.knowledge import facts_of
from gossamer.frontier.steering.fitting import refit
from gossamer.frontier.views.site_view import find_site
from gossamer.model.counts import counted, noun
from gossamer.model.site import host_of, site_of
from gossamer.operate.canonical import canonical_or_error
from gossamer.operate.rule_trial import Trial, try_rules
from gossamer.operate.suggesting import suggest
from gossamer.parse.rules import DocumentRule, RuleBook, problem_of
from gossamer.parse.rules.toml import MAX_BYTES, read_rules, write_rules
from gossamer.settings import Settings
from gossamer.site.templates import FEWEST
from gossamer.tables.audit import note
from gossamer.tables.rulebook import load_rules, remove_rules, save_rules

command = App(name="rules", help="Manage document rules, which say what a document is and cut out its text.")

Output = Annotated[Path | None, Parameter(name=["--output", "-o"], help="The file to write; default: standard output.")]
_SHOWN = 1500
"""Characters of a text that `test` prints."""


@command.command(name="import")
def import_(
    *files: Annotated[str, Parameter(allow_leading_hyphen=True)],
    data: Data = DEFAULT_DATA,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Import document rules. A running crawl uses them within seconds.

    Parameters
    ----------
    files
        TOML files; `-` reads standard input. A rule replaces the stored rule with the same domain and name.
    """
    if not files:
        raise UsageError("nothing to import: name a TOML file, or - for standard input")
    rules = [rule for name in files for rule in read_rules(_read(name), "standard input" if name == "-" else name)]
    folder = DataFolder(data)
    folder.create()
    with closing(open_database(folder.database)) as db:
        now = SystemClock().now()
        new, replaced = save_rules(db, rules, now)
        if new or replaced:
            labels = ", ".join(f"{rule.domain} {rule.name}" for rule in rules)
            note(db, now, operator_name(), "save rules", labels, f"{new} new, {replaced} replaced")
        total = len(load_rules(db))
        known, fit = _refit(db, data, {rule.domain for rule in rules}) if new or replaced else (0, 0)
    unchanged = len(rules) - new - replaced
    if json:
        counts = {"new": new, "replaced": replaced, "unchanged": unchanged, "rules": total}
        print_json({**counts, "known": known, "fit": fit})
    else:
        out.print(f"{new} new, {replaced} replaced, {unchanged} unchanged; {counted(total, 'rule')} in all.")
        if known:
            out.print(f"{fit} of {counted(known, 'known URL')} of these domains {noun(fit, 'fits', 'fit')} a rule.")


def _refit(db: Database, data: Path, domains: Collection[str]) -> tuple[int, int]:
    """Hold what is known already against the rules: how many URLs there are, and how many fit."""
    guidance = guidance_of(settings_of_crawl(data), load_rules(db))
    counts = [refit(db, domain, guidance, SystemClock().now()) for domain in sorted(domains)]
    return sum(known for known, _ in counts), sum(fit for _, fit in counts)


@command.command
def export(*, data: Data = DEFAULT_DATA, output: Output = None, json: Json = False, debug: Debug = False) -> None:
    """Export all rules as TOML, for `import`."""
    rules = _stored(data)
    if json:
        print_json(rules)
    else:
        _write(write_rules(rules), output)


@command.command(name="list")
def list_(*, data: Data = DEFAULT_DATA, json: Json = False, debug: Debug = False) -> None:
    """List the rules: domain, name, URL patterns."""
    rules = _stored(data)
    if json:
        print_json([{"domain": rule.domain, "name": rule.name, "urls": rule.urls} for rule in rules])
        return
    for rule in rules:
        out.print(f"{rule.domain}  {rule.name}  {'  '.join(rule.urls)}", markup=False)
        if problem := problem_of(rule):
            out.print(f"  this version cannot use it: {problem}", markup=False)
    if not rules:
        out.print("There are no rules.")


@command.command
def remove(domain: str, name: str = "", *, data: Data = DEFAULT_DATA, json: Json = False, debug: Debug = False) -> None:
    """Remove all rules of DOMAIN, or only the rule NAME."""
    settings = settings_of_crawl(data)
    DataFolder(data).read().close()  # there must be a crawl
    host = host_of(site_of(canonical_or_error(domain, settings)))
    with closing(open_database(DataFolder(data).database)) as db:
        removed = remove_rules(db, host, name)
        if removed:
            note(db, SystemClock().now(), operator_name(), "remove rule", f"{host} {name}".rstrip())
            _refit(db, data, {host})
    if not removed:
        raise UsageError(f"there is no rule {host} {name}".rstrip() + ": see `gossamer rules list`")
    if json:
        print_json({"removed": removed})
    else:
        out.print(f"Removed {counted(removed, 'rule')}.")


@command.command
def test(
    page: str,
    *,
    url: str = "",
    rules: Annotated[list[Path] | None, Parameter(negative="", consume_multiple=False)] = None,
    data: Data = DEFAULT_DATA,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Show which rule fits PAGE and what it cuts out. Fetches nothing.

    Parameters
    ----------
    page
        The URL of a crawled page, or an HTML file.
    url
        The URL of the page in the file.
    rules
        A TOML file of rules to use instead of the rules of the crawl.
    """
    settings = settings_of_crawl(data)
    address, html = _page(page, url, data, settings)
    files = [rule for file in rules or () for rule in read_rules(_read(str(file)), str(file))]
    book = RuleBook(files if rules else _stored(data))
    trial = try_rules(book, address, html.text, html.source, settings.parse, SystemClock().now())
    if json:
        print_json(trial.as_json())
    else:
        _print_trial(trial)


@command.command
def learned(site: str, *, data: Data = DEFAULT_DATA, json: Json = False, debug: Debug = False) -> None:
    """Show how the URLs of SITE's documents and lists look, as the crawl learned it by itself.

    Parameters
    ----------
    site
        A host of the crawl.
    """
    settings = settings_of_crawl(data)
    name = site_of(canonical_or_error(site, settings))
    with closing(DataFolder(data).read()) as db:
        if find_site(db, name) is None:
            raise UsageError(f"{name} is not a site of this crawl: `gossamer export urls` lists the host names")
        found = facts_of(db, name)
    if json:
        print_json({"site": name, "templates": [msgspec.structs.asdict(one) for one in found.templates]})
        return
    for one in found.templates:
        kind = "list" if one.is_list else "document"
        out.print(f"{kind:8}  {one.sentence}{''.join(f'  not {path}' for path in one.exceptions)}", markup=False)
    if not found.templates:
        out.print(
            f"Nothing is known of how the URLs of {name} look: fewer than {FEWEST} documents were read, or their URLs "
            "have nothing in common.",
            markup=False,
        )


@command.command(name="suggest")
def suggest_(
    site: str, *, data: Data = DEFAULT_DATA, output: Output = None, json: Json = False, debug: Debug = False
) -> None:
    """Propose rules for SITE from its crawled pages, as TOML for you to check and import.

    Parameters
    ----------
    site
        A host or registrable domain of the crawl.
    """
    settings = settings_of_crawl(data)
    folder = DataFolder(data)
    name = site_of(canonical_or_error(site, settings))
    found = suggest(folder, folder.read(), name, settings.parse, SystemClock().now())
    if json:
        print_json(found.as_json())
    else:
        _write(found.as_toml(), output)


def _stored(data: Path) -> tuple[DocumentRule, ...]:
    with closing(DataFolder(data).read()) as db:
        return load_rules(db)


def _page(page: str, url: str, data: Path, settings: Settings) -> tuple[str, Html]:
    """The URL and the HTML of what is to be tested."""
    file = Path(page)
    if "://" in page or not file.is_file():
        if url:
            raise UsageError(f"there is no file {page}: --url is for files only")
        address = canonical_or_error(page, settings)
        folder = DataFolder(data)
        return address, newest_html(folder, folder.read(), address, settings.parse)
    if not url:
        raise UsageError(f"{page} is a file: name the URL of its page with --url")
    address = canonical_or_error(url, settings)
    try:
        body = file.read_bytes()
    except OSError as error:
        raise UsageError(f"cannot read {page}: {error.strerror}") from error
    return address, Html(html_from_bytes(body, address, settings.parse), page)


def _read(name: str) -> str:
    if name == "-":
        return sys.stdin.read()
    if name.startswith("-"):
        raise UsageError(no_option(name, ["rules", "import"]))
    try:
        if Path(name).stat().st_size > MAX_BYTES:
            raise UsageError(f"{name} is larger than {MAX_BYTES >> 20} MiB: it is not a file of rules")
        return Path(name).read_text("utf-8")
    except UnicodeDecodeError:
        raise UsageError(f"{name} is not UTF-8: is it a TOML file?") from None
    except OSError as error:
        raise UsageError(f"cannot read {name}: {error.strerror}") from error


def _write(text: str, output: Path | None) -> None:
    if output is None:
        sys.stdout.write(text)
        return
    try:
        output.write_text(text, "utf-8")
    except OSError as error:
        raise StorageError(f"cannot write {output}: {error.strerror}: choose another file") from error


def _print_trial(trial: Trial) -> None:
    out.print(trial.url, style="bold", markup=False)
    out.print(f"  from     {trial.source}", markup=False)
    for attempt in trial.attempts:
        out.print(f"  {'fits' if attempt.fits else 'no':8} {attempt.rule.label}: {attempt.reason}", markup=False)
    out.print(f"  result   {trial.verdict}", markup=False)
    found = trial.cut
    if found is None or trial.rule is None:
        return
    for key in ("title", "date", "author"):
        if key in found.used:
            out.print(f"  {key:8} {getattr(found, key)}  ({found.used[key]})", markup=False)
    for problem in found.problems:
        out.print(f"  problem  {problem}", markup=False)
    if found.text:
        out.print(f"  text     {len(found.text)} characters  ({found.used['text']})\n", markup=False)
        out.print(found.text[:_SHOWN] + (" …" if len(found.text) > _SHOWN else ""), markup=False)
