"""Redirects that lead in circles, on for ever, to nowhere, or where nobody may go."""

from __future__ import annotations

from gossamer.demo.message import Ask, Reply, head
from gossamer.testing.web import wrap
from kit.hostile.registry import PROSE, Answer, Pace, add, always, behaviour, made, page, raw

_G = "redirects"


def _to(target: str, status: int = 302) -> Answer:
    return always(Reply(b"", status, [("Location", target)]))


_TARGETS = {
    "redirect-self": ("/redirect-self", "The page redirects to itself."),
    "redirect-private": ("http://10.0.0.1/", "To a private address."),
    "redirect-private-192": ("http://192.168.0.1/admin", "To a router's address."),
    "redirect-loopback": ("http://127.0.0.1:9/", "To this machine."),
    "redirect-localhost": ("http://localhost:9/", "To this machine by name."),
    "redirect-metadata": ("http://169.254.169.254/latest/meta-data/", "To a cloud's metadata service."),
    "redirect-decimal-ip": ("http://2130706433:9/", "To 127.0.0.1 written as one number."),
    "redirect-octal-ip": ("http://0177.0.0.1:9/", "To 127.0.0.1 written in octal."),
    "redirect-short-ip": ("http://127.1:9/", "To 127.0.0.1 written short."),
    "redirect-mapped-ip": ("http://[::ffff:127.0.0.1]:9/", "To 127.0.0.1 mapped into IPv6."),
    "redirect-ipv6-loopback": ("http://[::1]:9/", "To this machine over IPv6."),
    "redirect-zero": ("http://0.0.0.0:9/", "To 0.0.0.0, which some systems take as this machine."),
    "redirect-file": ("file:///etc/passwd", "To a local file."),
    "redirect-javascript": ("javascript:alert(1)", "To a script."),
    "redirect-data": ("data:text/html,<p>hello", "To a data URL."),
    "redirect-gopher": ("gopher://127.0.0.1:70/1", "To another protocol."),
    "redirect-empty": ("", "To an empty Location."),
    "redirect-invalid": ("http://[::1/half", "To something that is not a URL."),
    "redirect-bad-port": ("http://hostile.test:99999/", "To a port that cannot exist."),
    "redirect-unknown-host": ("http://nowhere.invalid/", "To a host that does not exist."),
    "redirect-closed-port": ("http://hostile.test:1/", "To a port where nobody listens."),
    "redirect-credentials": ("http://user:secret@hostile.test/", "To a URL with a password."),
    "redirect-up": ("../../../../", "To a path above the root."),
    "redirect-long": ("/redirect-long-target?" + "x" * 100_000, "To a URL of 100 KB."),
    "redirect-fragment": ("#there", "To a fragment of itself."),
}  # fmt: skip

for _name, (_target, _sentence) in _TARGETS.items():
    add(_G, _name, _sentence, _to(_target))

add(_G, "redirect-missing", "302 without a Location.", always(Reply(b"", 302)))
add(
    _G,
    "redirect-300",
    "300 Multiple Choices with a list and no Location.",
    always(Reply(wrap("Choices", PROSE, ["/redirect-300/a", "/redirect-300/b"]), 300)),
)
add(
    _G,
    "redirect-304-location",
    "304 with a Location.",
    raw(head(304, [("Location", "/")]), status=304, then="keep"),
)
add(
    _G,
    "redirect-two-locations",
    "Two Location headers differ.",
    always(Reply(b"", 302, [("Location", "/"), ("Location", "/redirect-self")])),
)
add(
    _G,
    "redirect-utf8",
    "The Location holds raw UTF-8.",
    raw(
        "HTTP/1.1 302 Found\r\nLocation: /паук/蜘蛛\r\nContent-Length: 0\r\n\r\n".encode(),
        status=302,
        then="keep",
    ),
)
add(
    _G,
    "redirect-big-body",
    "A redirect with 10 MB of body.",
    made(lambda: Reply(b"<p>" + b"web " * 2_500_000, 302, [("Location", "/")])),
)
add(
    _G,
    "refresh-loop",
    "A meta refresh to itself.",
    always(Reply('<meta http-equiv="refresh" content="0; url=/refresh-loop"><p>' + PROSE)),
)
add(
    _G,
    "refresh-header",
    "A Refresh header to itself.",
    always(Reply(wrap("Refresh", PROSE), 200, [("Refresh", "0; url=/refresh-header")])),
)
add(
    _G,
    "canonical-self-missing",
    "The canonical link names a page that is gone.",
    always(Reply(f'<link rel="canonical" href="/gone-for-ever"><p>{PROSE}')),
)
add(
    _G,
    "canonical-elsewhere",
    "The canonical link names another host.",
    always(Reply(f'<link rel="canonical" href="http://elsewhere.invalid/page"><p>{PROSE}')),
)


@behaviour(_G, "redirect-pair", "Two pages redirect to each other.")
def redirect_pair(ask: Ask, pace: Pace) -> Reply:
    """There and back."""
    other = "/redirect-pair" if ask.path.endswith("/b") else "/redirect-pair/b"
    return Reply(b"", 301, [("Location", other)])


@behaviour(_G, "redirect-endless", "Every page redirects to the next number.")
def redirect_endless(ask: Ask, pace: Pace) -> Reply:
    """/redirect-endless/n → /redirect-endless/n+1."""
    last = ask.path.rpartition("/")[2]
    number = int(last) if last.isdecimal() else 0
    return Reply(b"", 302, [("Location", f"/redirect-endless/{number + 1}")])


@behaviour(_G, "canonical-loop", "Two pages name each other as the canonical one.")
def canonical_loop(ask: Ask, pace: Pace) -> Reply:
    """Neither wants to be the one."""
    here, other = ("b", "/canonical-loop") if ask.path.endswith("/b") else ("a", "/canonical-loop/b")
    return Reply(f'<title>{here}</title><link rel="canonical" href="{other}"><p>{PROSE} <a href="{other}">on</a>')


@behaviour(_G, "cookie-wall", "The page redirects to itself until a cookie comes back.")
def cookie_wall(ask: Ask, pace: Pace) -> Reply:
    """A client without cookies never gets in."""
    if "thread=cut" in ask.headers.get("cookie", ""):
        return page("Behind the wall", PROSE)
    return Reply(b"", 302, [("Location", "/cookie-wall"), ("Set-Cookie", "thread=cut; Path=/")])


@behaviour(_G, "redirect-other-host", "To the same server under another name, which must be judged anew.")
def redirect_other_host(ask: Ask, pace: Pace) -> Reply:
    """robots-deny-all.hostile.test forbids everything."""
    port = ask.site.partition(":")[2] or "80"
    return Reply(b"", 302, [("Location", f"http://robots-deny-all.hostile.test:{port}/page")])
