"""A script redirects only where nothing but the redirect can happen."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from parse_kit import parse

TARGET = "https://site.example/new"
ELSEWHERE = "https://site.example/other"


def _refresh(script: str, body: str = "") -> str:
    return parse(f"<html><head><title>Moved</title><script>{script}</script></head><body>{body}</body></html>").refresh


@pytest.mark.parametrize(
    "script",
    [
        'window.location = "/new"',
        'window.location="/new";',
        "location.href = '/new';",
        'location = "/new";',
        "location.replace('/new')",
        'window.location.replace( "/new" );',
        'window.location.assign("/new");',
        "top.location.href='/new';",
        'top.location = "/new";',
        "self.location='/new'",
        "document.location = '/new';",
        "document.location.href='/new';",
        "window.top.location.href = '/new';",
        'location.href = "https:\\/\\/site.example\\/new";',
        'location.href = "\\x2fnew";',
        "<!--\nlocation.href='/new';\n//-->",
        "// moved in 2019\nlocation.href = '/new';",
        "/* moved */ location.href = '/new'; /* see 'there' */",
        "var a = 1;\nvar b = {x: 2};\nlocation.href = '/new';",
        "setTimeout(function(){ location.href = '/new'; }, 3000);",
        "setTimeout(function () {\n  window.location = '/new'\n}, 0)",
        "setTimeout(() => { location.replace('/new') }, 500);",
        "setTimeout(() => location.replace('/new'), 500);",
        "setTimeout(\"location.href='/new'\", 1500);",
        "window.setTimeout('location.href=\"/new\";', 10000)",
        "location.href='/new'; location.replace('/new');",
    ],
)
def test_a_plain_redirect_of_an_empty_page_is_followed(script):
    assert _refresh(script) == TARGET


@pytest.mark.parametrize(
    "script",
    [
        "if (mobile) { location.href = '/new'; }",
        "if (mobile) location.href = '/new';",
        "if (mobile)\n  location.href = '/new';",
        "if (mobile)\n\n  location.href = '/new'\n",
        "if (a) { b() } else location.href = '/new';",
        "if (a) { b() }\nelse\nlocation.href = '/new';",
        "for (;;) location.href = '/new';",
        "while (x)\nlocation.href = '/new';",
        "mobile && (location.href = '/new');",
        "mobile ? location.href = '/new' : 0;",
        "function go() { location.href = '/new'; }",
        "function go()\n{\n location.href = '/new';\n}",
        "window.onload = function () { location.href = '/new'; };",
        "button.addEventListener('click', () => { location.href = '/new'; });",
        "try { x() } catch (e) { location.href = '/new' }",
        "location.href = '/new' + location.search;",
        "location.href = base + '/new';",
        "location.href = '/new'.concat(x);",
        "location.href = `/new`;",
        "location.href = target;",
        "location.replace('/new' + x);",
        "location.hash = '/new';",
        "location.search = '?new';",
        "var location = '/new';",
        "my.location = '/new';",
        "data.location.href = '/new';",
        "x = location.href == '/new';",
        "// location.href = '/new';",
        "/* location.href = '/new'; */",
        "var s = \"location.href = '/new';\";",
        "var s = 'a\\'; location.href = \"/new\";';",
        "setTimeout(function(){ location.href = '/new'; }, 60000);",
        "setTimeout(function(){ if (x) location.href = '/new'; }, 1);",
        "setTimeout(function(){ location.href = '/new'; }, delay);",
        "setTimeout(\"if (x) location.href='/new'\", 1);",
        "setInterval(function(){ location.href = '/new'; }, 1);",
        "location.href = '/new'; location.href = '/other';",
        "if (mobile) { location.href = '/other'; }\nlocation.href = '/new';",
        "if (mobile) { location.href = target; }\nlocation.href = '/new';",
        "location.href = 'javascript:go()';",
        "location.href = '#top';",
        "location.href = '/dir/page.html';",
        "location.reload();",
        "}} location.href = '/new';",
    ],
)
def test_what_may_not_happen_or_lead_elsewhere_is_no_redirect(script):
    assert _refresh(script) == ""


def test_the_target_may_hold_any_character_of_a_url():
    assert _refresh("location.href = '/new?a=1&b=(2);x//y';") == "https://site.example/new?a=1&b=(2);x//y"


def test_a_page_with_text_is_kept_and_a_sentence_is_not_text():
    assert _refresh("location.href='/new'", "<p>" + "Words of a page. " * 30) == ""
    assert _refresh("location.href='/new'", "<p>The page has moved, <a href=/new>follow us</a>.") == TARGET


def test_a_page_full_of_links_is_kept():
    assert _refresh("location.href='/new'", "".join(f"<a href=/{n}>{n}</a>" for n in range(20))) == ""


def test_a_meta_refresh_comes_first():
    page = parse('<meta http-equiv=refresh content="0;url=/other"><script>location.href="/new"</script>')
    assert page.refresh == ELSEWHERE


@pytest.mark.parametrize("attribute", ['type="application/json"', 'type="text/template"', 'src="/x.js"'])
def test_only_code_that_runs_redirects(attribute):
    assert parse(f"<script {attribute}>location.href='/new'</script>").refresh == ""


@given(st.lists(st.sampled_from(["location", ".href", "=", "'/a'", '"/b"', ";", "\n", "{", "}", "(", ")", "if", "//"])))
def test_any_script_is_read_without_failing(parts):
    page = parse("<script>" + " ".join(parts) + "</script>")
    assert page.ok and page.refresh in ("", "https://site.example/a", "https://site.example/b")
