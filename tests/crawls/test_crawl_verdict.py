"""How a crawl ends: for each situation of a first hour the cause, the exact next command, and the exit code.

Each situation is a crawl of one seed. What a verdict prints as the next command is read back as a shell would read it,
and where it succeeds by itself it is run as it stands.
"""

from __future__ import annotations

import gzip
import json
import re
import shlex
import shutil
import signal
import socket
import ssl
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import Any, NamedTuple

import pytest
from crawl_kit import GOSSAMER, PATIENCE, run, settings_of, start, wait_until, write_settings
from inside import gossamer

from gossamer.errors import UsageError
from gossamer.fetch.browser_start import find_chromium
from gossamer.testing import FakeWeb, Reply
from gossamer.testing.web import Site

TEXT = "The guild of weavers keeps its looms in a long hall by the river, open to everybody on Sundays."
SHELL = """<!DOCTYPE html><html><head><title>Weavers</title></head><body>
<noscript>You need to enable JavaScript to run this app.</noscript><div id="root"></div>
<script>document.getElementById("root").innerHTML = "<main><h1>Weavers</h1><p>%s</p></main>"</script></body></html>"""
FEED = """<rss version="2.0"><channel><title>News</title><link>%s</link>
<item><title>Looms</title><link>%s</link></item></channel></rss>"""
QUICK = {"crawl": {"index": False, "workers": 1, "parsers": 1, "linger": 5.0, "contact": "me@example.org"},
         "fetch": {"connect_timeout": 5.0}}  # fmt: skip


def pdf(words: str) -> bytes:
    drawn = b"BT /F 9 Tf 9 50 Td (%s) Tj ET" % words.encode()
    return (
        b"%%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj 2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj "
        b"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 900 99]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>>>endobj "
        b"4 0 obj<</Length %d>>stream\n%s\nendstream endobj 5 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"
        b"endobj trailer<</Root 1 0 R>>" % (len(drawn), drawn)
    )


class Ended(NamedTuple):
    """A crawl that ended."""

    code: int
    out: str
    err: str

    @property
    def command(self) -> list[str]:
        """The command that is printed as the next one, as a shell would read it."""
        found = re.search(r"^    [^\n]*?: ((?:gossamer|pip) [^\n]*)$", self.out, re.M)
        assert found is not None, self.out
        return shlex.split(found[1])


def crawl(data: Path, *arguments: str) -> Ended:
    done = run("crawl", *arguments, data=data)
    assert "Traceback" not in done.stderr, done.stderr
    return Ended(done.returncode, done.stdout, done.stderr)


def follow(ended: Ended, **filled: str) -> Ended:
    """Run the command that was printed; what stands for a file or name of one's own is filled in."""
    words = [filled.get(word.partition(".")[0], word) for word in ended.command]
    words = words[words.index("gossamer") :]
    done = subprocess.run(
        [*GOSSAMER, *words[1:]],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    return Ended(done.returncode, done.stdout, done.stderr)


def nothing(ended: Ended, url: str, *phrases: str) -> None:
    """The crawl failed, and said of which seed, why, and what to type."""
    assert ended.code == 1, ended
    assert f"{url} failed: " in ended.out, ended.out
    for phrase in phrases:
        assert phrase in ended.out, ended.out
    assert ended.command
    assert ended.err.splitlines()[-1].startswith("gossamer: ") and "failed" in ended.err.splitlines()[-1]


def well(ended: Ended, url: str) -> None:
    """The corrected command succeeded: the seed brought a page."""
    assert ended.code == 0 and f"{url}: 1 page" in ended.out, ended


class OneSite(NamedTuple):
    """A web, and its only site."""

    web: FakeWeb
    only: Site


@contextmanager
def site(data: Path, network: str, build: Callable[[Site], Any] | None = None) -> Iterator[OneSite]:
    """A web of one site that may be crawled quickly from this folder."""
    web = FakeWeb(network)
    found = web.site("a.test")
    with web:
        if build is not None:
            build(found)
        write_settings(data, settings_of(web, **QUICK))
        yield OneSite(web, found)


def test_a_seed_that_brings_pages_ends_well_and_says_how_many(tmp_path: Path) -> None:
    """And the same crawl again, with and without the seed, when nothing is due."""
    with site(tmp_path, "127.0.70", lambda a: a.page("/", TEXT, links=["/b"])) as (_, a):
        a.page("/b", "Looms hold the warp under tension while the weft is passed through it by hand.")
        first = crawl(tmp_path, a.url())
        assert (first.code, f"{a.url()}: 2 pages" in first.out) == (0, True), first
        assert "Requests: 2 = 2 kept." in first.out
        for again in (crawl(tmp_path, a.url()), crawl(tmp_path)):
            assert (again.code, f"{a.url()}: 2 pages" in again.out) == (0, True), again
        told = crawl(tmp_path, "--json")
        verdict = json.loads(told.out)["verdict"]
        assert verdict["ok"] and verdict["seeds"][0]["pages"] == 2 and verdict["seeds"][0]["state"] == "kept"
        assert gossamer("status", "--healthy", data=tmp_path).code == 0
        # A further seed that fails is this command's failure, and is named by every verb that looks at the crawl.
        lost = crawl(tmp_path, a.url("/lost"))
        nothing(lost, a.url("/lost"), "404")
        named = crawl(tmp_path, a.url())
        assert named.code == 0, "what earlier seeds did is not this command's failure"
        assert "1 earlier seed failed" in named.out
        assert crawl(tmp_path).code == 1, "a command without seeds speaks of all of them"
        assert f"{a.url('/lost')} failed" in gossamer("status", data=tmp_path).out
        status = gossamer("status", "--json", data=tmp_path).json
        assert [seed["why"] for seed in status["verdict"]["seeds"] if seed["state"] == "failed"] == ["gone"]
        assert status["fetched"] == sum(
            status[name] for name in ("pages", "duplicates", "aliases", "noindex", "redirects", "lists", "unread",
                                      "errors", "again")
        )  # fmt: skip
        unwell = gossamer("status", "--healthy", data=tmp_path)
        assert unwell.code == 1 and a.url("/lost") in unwell.err
        examined = gossamer("doctor", "--json", data=tmp_path).json
        assert [one["state"] for one in examined["findings"] if one["check"] == "seeds"] == ["bad"]
        assert gossamer("remove", a.url("/lost"), data=tmp_path).code == 0
        assert crawl(tmp_path).code == 0


def test_a_redirect_of_a_seed_is_followed_and_says_where_it_leads(tmp_path: Path) -> None:
    """Another path, www. and another host; a circle leads nowhere."""
    web = FakeWeb("127.0.71")
    a, www = web.site("a.test"), web.site("www.a.test")
    with web:
        www.page("/", TEXT)
        a.redirect("/", www.url())
        a.redirect("/old", "/new")
        a.page("/new", TEXT)
        a.redirect("/round", "/about")
        a.redirect("/about", "/round")
        write_settings(tmp_path, settings_of(web, **QUICK))
        moved = crawl(tmp_path, a.url("/old"))
        assert moved.code == 0 and f"1 page (it leads to {a.url('/new')})" in moved.out, moved
        circle = crawl(tmp_path, a.url("/round"))
        nothing(circle, a.url("/round"))
        away = crawl(tmp_path / "away", a.url(), *options_of(web))
        assert away.code == 0 and f"1 page (it leads to {www.url()})" in away.out, away


def options_of(web: FakeWeb) -> list[str]:
    """What makes a web crawlable without a settings file."""
    resolve = [word for host, address in web.resolve.items() for word in ("--resolve", f"{host}={address}")]
    return [*resolve, "--allow-network", "127.0.0.0/8", "--delay", "0", "--no-index", "--workers", "1"]


def test_a_host_with_a_private_address_names_the_network_to_allow(tmp_path: Path) -> None:
    """The name resolves to an address of this machine, which is as private as any."""
    web = FakeWeb("127.0.0")
    web.site("intranet.localhost", ip="127.0.0.1").page("/", TEXT)
    with web:
        url = web.url("intranet.localhost")
        options = ["--contact", "me@example.org", "--delay", "0", "--no-index", "--workers", "1"]
        ended = crawl(tmp_path, url, *options)
        nothing(ended, url, "127.0.0.1 is this machine")
        assert ended.command[:5] == ["gossamer", "crawl", url, "--contact", "me@example.org"]
        assert "--allow-network 127.0.0.0/8" in " ".join(ended.command)
        well(follow(ended), url)


def test_a_name_that_does_not_exist_is_told_at_once(tmp_path: Path) -> None:
    """The right name succeeds in the same folder, and so does the wrong one as printed, once it exists."""
    web = FakeWeb("127.0.69")
    a, b = web.site("a.test"), web.site("b.invalid")
    with web:
        a.page("/", TEXT)
        b.page("/", TEXT)
        settings = settings_of(web, **QUICK)
        known = {"allow": ["127.0.0.0/8"], "resolve": {"a.test": web.resolve["a.test"]}}
        write_settings(tmp_path, {**settings, "network": known})
        ended = crawl(tmp_path, b.url())
        nothing(ended, b.url(), "b.invalid cannot be resolved", "stays in the queue")
        well(crawl(tmp_path, a.url()), a.url())
        write_settings(tmp_path, settings)
        now = follow(ended)
        assert now.code == 0 and "failed:" not in now.out, now


def test_a_port_that_nobody_listens_on_and_the_server_that_comes_up(tmp_path: Path) -> None:
    """The right port succeeds in the same folder, and so does the printed command, once a server listens there."""
    with site(tmp_path, "127.0.72", lambda a: a.page("/", TEXT)) as (_, a):
        with socket.create_server(("127.0.72.1", 0)) as listener:
            port = listener.getsockname()[1]
        wrong = f"http://a.test:{port}/"
        ended = crawl(tmp_path, wrong)
        nothing(ended, wrong, "Connection refused", "Check host and port")
        right = crawl(tmp_path, a.url())
        assert right.code == 0 and "1 earlier seed failed" in right.out, right
        with plain_server("127.0.72.1", port):
            now = follow(ended)
        assert now.code == 0 and "failed:" not in now.out, now


def test_https_on_a_port_that_speaks_http_names_the_other_scheme(tmp_path: Path) -> None:
    with plain_server() as port:
        url = f"https://a.test:{port}/"
        network = {"allow": ["127.0.0.0/8"], "resolve": {"a.test": "127.0.0.1"}}
        write_settings(tmp_path, {**QUICK, "network": network, "politeness": {"delay": 0.0}})
        ended = crawl(tmp_path, url)
        nothing(ended, url, "TLS handshake failed")
        assert ended.command[2] == f"http://a.test:{port}/"
        well(follow(ended), ended.command[2])


@contextmanager
def plain_server(address: str = "127.0.0.1", port: int = 0) -> Iterator[int]:
    """A server that answers whatever it hears in plain HTTP, as usual servers do."""
    listener = socket.create_server((address, port))

    def serve() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection:
                heard = connection.recv(65536)
                good = heard.startswith(b"GET / ")
                body = f"<title>Weavers</title><p>{TEXT}".encode() if good else b"what?"
                head = b"HTTP/1.1 200 OK" if good else b"HTTP/1.1 400 Bad Request"
                kind = b"\r\nContent-Type: text/html\r\nConnection: close\r\nContent-Length: %d\r\n\r\n" % len(body)
                connection.sendall(head + kind + body)

    thread = Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield listener.getsockname()[1]
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join(60)


def test_403_everywhere_names_the_status(tmp_path: Path) -> None:
    with site(tmp_path, "127.0.73", lambda a: a.handler("/", forbidden)) as (_, a):
        ended = crawl(tmp_path, a.url())
        nothing(ended, a.url(), "status 403", "Ask the site's owner")
        a.page("/", TEXT)
        well(follow(ended), a.url())


def forbidden(ask: Any) -> Reply:
    return Reply("no", 403)


def busy(ask: Any) -> Reply:
    return Reply("later", 503)


def test_503_of_everything_and_of_the_page_alone_end_the_crawl_without_waiting(tmp_path: Path) -> None:
    """The retries stay in the queue. The back-off is longer than the crawl would wait, and shorter than `linger`."""
    with site(tmp_path, "127.0.74", lambda a: a.handler("/", busy)) as (web, a):
        everything = crawl(tmp_path, a.url())
        nothing(everything, a.url(), "robots.txt is unreachable (status 503)", "stays in the queue")
        a.robots("User-agent: *\nAllow: /")
        sections = {**QUICK, "politeness": {"delay": 0.0, "backoff_first": 60.0}}
        other = tmp_path / "page"
        write_settings(other, settings_of(web, **sections, robots={}))
        text = (other / "gossamer.toml").read_text().replace("linger = 5.0", "linger = 100000.0")
        (other / "gossamer.toml").write_text(text)
        ended = crawl(other, a.url())
        nothing(ended, a.url(), "status 503", "stays in the queue")
        assert gossamer("status", "--json", data=other).json["urls_scheduled"] == 1
        a.page("/", TEXT)
        for before in (everything, ended):
            well(follow(before), a.url())


def test_a_seed_that_fails_is_told_while_the_crawl_goes_on(tmp_path: Path) -> None:
    """Another site keeps the crawl at work; then Ctrl-C ends it, and the seed is in the verdict."""
    web = FakeWeb("127.0.75")
    a = web.site("slow.test", pages=400, links=5)
    with web:
        sections = {**QUICK, "politeness": {"delay": 0.5}}
        write_settings(tmp_path, settings_of(web, **sections))
        main = start("crawl", a.url(), "http://slow.test:1/", data=tmp_path)
        assert main.stderr is not None
        told = ""
        while "http://slow.test:1/: " not in told:
            line = main.stderr.readline()
            assert line, f"the crawl ended before it said so: {told}"
            told += line
        assert "Connection refused; next try in" in told and main.poll() is None
        wait_until(lambda: gossamer("status", "--json", data=tmp_path).json["pages"] > 0)
        main.send_signal(signal.SIGINT)
        out, err = main.communicate(timeout=PATIENCE)
        assert main.returncode == 1, err
        assert "http://slow.test:1/ failed" in out and f"{a.url()}: " in out


def test_a_seed_whose_turn_did_not_come_is_no_failure(tmp_path: Path) -> None:
    with site(tmp_path, "127.0.76", lambda a: a.redirect("/", "/start")) as (_, a):
        a.page("/start", TEXT)
        ended = crawl(tmp_path, a.url(), "--pages", "1")
        assert ended.code == 0 and "not all of its URLs were fetched yet: gossamer crawl" in ended.out, ended
        assert crawl(tmp_path).code == 0


def test_a_slow_site_is_waited_for_and_one_that_is_too_slow_named(tmp_path: Path) -> None:
    """A Crawl-delay longer than the crawl lingers is the site's pace, and no reason to end without its pages."""
    with site(tmp_path, "127.0.96", lambda a: a.page("/", TEXT)) as (web, a):
        a.robots("User-agent: *\nCrawl-delay: 5\n")
        # Workers give a site back that they may not ask for half a lease.
        write_settings(
            tmp_path, settings_of(web, **{**QUICK, "budget": {"lease": 8.0}, "crawl": QUICK["crawl"] | {"linger": 1.0}})
        )
        well(crawl(tmp_path, a.url()), a.url())
        a.robots("User-agent: *\nCrawl-delay: 7200\n")
        folder = tmp_path / "slower"
        write_settings(folder, settings_of(web, **QUICK))
        ended = crawl(folder, a.url())
        nothing(ended, a.url(), "wants 7200 s between two requests", "crawl --watch")
        assert gossamer("status", "--healthy", data=folder).code == 1


def test_a_watching_crawl_that_is_told_to_end_ends_well(tmp_path: Path) -> None:
    """Its verdict is said all the same; `gossamer run` and systemd end it so."""
    with site(tmp_path, "127.0.77", lambda a: a.handler("/", forbidden)) as (web, a):
        main = start("crawl", a.url(), "--watch", data=tmp_path)
        wait_until(lambda: any(request.path == "/" for request in web.log()))
        wait_until(lambda: gossamer("status", "--json", data=tmp_path).json["errors"] == 1)
        main.send_signal(signal.SIGTERM)
        out, err = main.communicate(timeout=PATIENCE)
        assert main.returncode == 0, err
        assert f"{a.url()} failed: status 403" in out


def test_a_quiet_crawl_says_the_cause_and_the_command_in_its_one_line(tmp_path: Path) -> None:
    """The last words of an entry of a plan."""
    with site(tmp_path, "127.0.78", lambda a: a.robots("User-agent: *\nDisallow: /")) as (_, a):
        done = run("crawl", a.url(), "--quiet", data=tmp_path)
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1), done
        assert f"{a.url()} failed: robots.txt forbids /" in done.stderr
        assert f"gossamer crawl {a.url()}" in done.stderr


def test_disallow_everything_names_the_line_of_robots_txt(tmp_path: Path) -> None:
    with site(tmp_path, "127.0.79", lambda a: a.robots("User-agent: *\nDisallow: /")) as (_, a):
        a.page("/", TEXT)
        ended = crawl(tmp_path, a.url())
        nothing(ended, a.url(), "robots.txt forbids / (Disallow: /)")
        a.robots("User-agent: *\nAllow: /")
        well(follow(ended), a.url())


def test_noindex_on_every_page_is_the_cause_and_counted(tmp_path: Path) -> None:
    with site(tmp_path, "127.0.80") as (_, a):
        for path in ("/", "/b"):
            a.page(path, f'<meta name="robots" content="noindex"><p>{TEXT} {path}<a href="/b">more</a>')
        ended = crawl(tmp_path, a.url())
        nothing(ended, a.url(), "asks not to be indexed (noindex)", "Requests: 2 = 2 noindex.")
        a.page("/", TEXT)
        well(follow(ended), a.url())


def test_a_page_that_is_empty_without_javascript_names_the_option_that_renders_it(tmp_path: Path) -> None:
    with site(tmp_path, "127.0.81", lambda a: a.page("/", SHELL % TEXT)) as (_, a):
        ended = crawl(tmp_path, a.url())
        nothing(ended, a.url(), "empty without JavaScript")
        assert "--javascript auto" in " ".join(ended.command)
        try:
            find_chromium()
        except UsageError as error:
            pytest.skip(str(error))
        well(follow(ended), a.url())


def test_a_certificate_that_does_not_verify_and_the_authority_that_is_named(tmp_path: Path) -> None:
    with secure_server(tmp_path) as port:
        url = f"https://localhost:{port}/"
        options = ["--allow-network", "127.0.0.0/8", "--delay", "0", "--no-index", "--workers", "1"]
        ended = crawl(tmp_path / "data", url, *options)
        nothing(ended, url, "the certificate is not valid")
        assert "--ca-file CA.pem" in " ".join(ended.command)
        well(follow(ended, CA=str(tmp_path / "cert.pem")), url)


@contextmanager
def secure_server(folder: Path) -> Iterator[int]:
    """A server with a certificate that it signed itself."""
    if shutil.which("openssl") is None:
        pytest.skip("needs openssl")
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "key.pem", "-out", "cert.pem",
         "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"],
        cwd=folder, check=True, capture_output=True,
    )  # fmt: skip
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "cert.pem", folder / "key.pem")
    listener = socket.create_server(("127.0.0.1", 0))

    def answer(connection: ssl.SSLSocket) -> None:
        heard = connection.recv(65536)
        found = b"GET / " in heard
        body = f"<title>Weavers</title><p>{TEXT}".encode() if found else b""
        head = b"HTTP/1.1 200 OK" if found else b"HTTP/1.1 404 Not Found"
        kind = b"\r\nContent-Type: text/html\r\nConnection: close\r\nContent-Length: %d\r\n\r\n" % len(body)
        connection.sendall(head + kind + body)

    def serve() -> None:
        while True:
            try:
                raw, _ = listener.accept()
            except OSError:
                return
            try:
                with context.wrap_socket(raw, server_side=True) as connection:
                    answer(connection)
            except (ssl.SSLError, OSError):
                continue  # the crawler hung up, as it should

    thread = Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield listener.getsockname()[1]
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join(60)


def test_a_seed_that_is_a_pdf_is_kept_with_the_extra_and_names_it_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reply = Reply(pdf("Orbs of the garden spider, and how they are spun at night"), content_type="application/pdf")
    with site(tmp_path, "127.0.83", lambda a: a.reply("/paper.pdf", reply)) as (_, a):
        url = a.url("/paper.pdf")
        hidden = tmp_path / "without"
        hidden.mkdir()
        # The finder that comes first says that there is no such library, as where the extra is not installed.
        (hidden / "sitecustomize.py").write_text(
            "import importlib.util as util\nfind = util.find_spec\n"
            "util.find_spec = lambda name, *rest: None if name == 'pypdfium2' else find(name, *rest)\n"
        )
        with monkeypatch.context() as patch:
            patch.setenv("PYTHONPATH", str(hidden))
            ended = crawl(tmp_path, url)
        nothing(ended, url, "install gossamer[pdf]")
        assert ended.command[:3] == ["pip", "install", "gossamer[pdf]"]
        pytest.importorskip("pypdfium2", reason="needs gossamer[pdf]")
        well(follow(ended), url)


def test_a_seed_that_is_a_feed_counts_the_pages_it_names_and_else_the_host_outside(tmp_path: Path) -> None:
    web = FakeWeb("127.0.84")
    a, b = web.site("a.test"), web.site("b.test")
    with web:
        b.page("/looms", TEXT)
        a.page("/looms", TEXT)
        rss = "application/rss+xml"
        a.reply("/own.xml", Reply(FEED % (a.url(), a.url("/looms")), content_type=rss))
        a.reply("/far.xml", Reply(FEED % (b.url(), b.url("/looms")), content_type=rss))
        for name in ("own", "far"):
            write_settings(tmp_path / name, settings_of(web, **QUICK))
        own = crawl(tmp_path / "own", a.url("/own.xml"))
        assert own.code == 0 and f"{a.url('/own.xml')}: 1 page" in own.out, own
        assert "Requests: 2 = 1 kept + 1 feed or sitemap." in own.out
        far = crawl(tmp_path / "far", a.url("/far.xml"))
        nothing(far, a.url("/far.xml"), "a feed or sitemap", b.url("/looms"))
        assert "--scope list --host b.test" in " ".join(far.command)
        well(follow(far), a.url("/far.xml"))
        # What another seed of the host brings is not due to a list that names none of it.
        write_settings(tmp_path / "both", settings_of(web, **QUICK))
        both = crawl(tmp_path / "both", a.url("/looms"), a.url("/far.xml"))
        assert both.code == 1 and f"{a.url('/far.xml')} failed" in both.out, both


def test_a_packed_sitemap_may_be_a_seed(tmp_path: Path) -> None:
    with site(tmp_path, "127.0.97", lambda a: a.page("/looms", TEXT)) as (_, a):
        named = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>{a.url("/looms")}</loc></url></urlset>'
        a.reply("/map.xml.gz", Reply(gzip.compress(named.encode()), content_type="application/gzip"))
        well(crawl(tmp_path, a.url("/map.xml.gz")), a.url("/map.xml.gz"))
