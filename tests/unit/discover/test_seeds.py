"""Seeds from arguments, files and standard input."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.discover.seeds import Seed, read_seeds
from gossamer.errors import UsageError


@pytest.fixture(autouse=True)
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def urls(*arguments: str) -> list[str]:
    return [seed.url for seed in read_seeds(arguments)]


def error_of(*arguments: str, files: tuple[Path, ...] = (), stdin: io.StringIO | None = None) -> str:
    with pytest.raises(UsageError) as caught:
        read_seeds(arguments, files, stdin)
    message = str(caught.value)
    assert "\n" not in message
    return message


@pytest.mark.parametrize(
    ("written", "url"),
    [
        ("http://a.example", "http://a.example/"),
        ("HTTPS://A.example:443/x?y#z", "https://a.example/x?y"),
        ("https://пример.рф/я", "https://xn--e1afmkfd.xn--p1ai/%D1%8F"),
        ("a.example", "https://a.example/"),
        ("a.example/news?x=1", "https://a.example/news?x=1"),
        ("a.example:443", "https://a.example/"),
        ("a.example:8080/x", "http://a.example:8080/x"),
        ("localhost", "http://localhost/"),
        ("localhost:8080", "http://localhost:8080/"),
        ("127.0.0.1", "http://127.0.0.1/"),
        ("127.0.0.1:8000/a", "http://127.0.0.1:8000/a"),
        ("[::1]:8000", "http://[::1]:8000/"),
        ("wiki/", "http://wiki/"),
        ("wiki:8080", "http://wiki:8080/"),
        ("  http://a.example/ ", "http://a.example/"),
    ],
)
def test_a_url_may_be_written_as_in_a_browser(written: str, url: str) -> None:
    assert urls(written) == [url]


@pytest.mark.parametrize(
    ("written", "complaint"),
    [
        ("ftp://a.example/", "ftp: is not crawled"),
        ("mailto:a@a.example", "mailto: is not crawled"),
        ("http://", "not a URL"),
        ("http://a.example:99999/", "not a URL"),
        ("http://a b.example/", "a space in a URL"),
        ("wiki", "neither a URL nor a file"),
        ("seeds.txt", "there is no such file"),
        ("/no/such/file", "begin it with http:// or https://"),
        ("a@b.example", "begin it with http:// or https://"),
        ("", "not a URL"),
        ("http//one.example/news", "did you mean http://one.example/news?"),
    ],
)
def test_what_is_no_url_is_named_with_the_reason(written: str, complaint: str) -> None:
    message = error_of("http://ok.example/", written)
    assert message.startswith("argument 2: ")
    assert complaint in message
    assert written in message


def test_a_login_in_a_url_is_refused_and_not_repeated() -> None:
    """It would be dropped without a word, and the crawl would meet a closed door."""
    message = error_of("http://me:secret@intranet.example/")
    assert "a login in a URL is never sent" in message and "secret" not in message
    assert read_seeds(["http://a.example/@me", "http://a.example/?to=me@b.example"])


def test_a_file_has_a_url_a_line_with_comments_and_empty_lines(tmp_path: Path) -> None:
    file = tmp_path / "list"
    file.write_bytes(
        "\ufeff# sites\r\nhttp://a.example/1\r\n\r\n  b.example  # ours\r\nhttp://a.example/x#part\n".encode()
    )
    assert read_seeds([], [file]) == [
        Seed("http://a.example/1", f"{file} line 2"),
        Seed("https://b.example/", f"{file} line 4", guessed=True),
        Seed("http://a.example/x", f"{file} line 5"),
    ]


def test_an_argument_may_be_a_file(tmp_path: Path) -> None:
    (tmp_path / "seeds.txt").write_text("a.example\n")
    assert read_seeds(["seeds.txt"]) == [Seed("https://a.example/", "seeds.txt line 1", guessed=True)]


def test_a_folder_named_like_a_host_is_not_a_seed_file(tmp_path: Path) -> None:
    (tmp_path / "a.example").mkdir()
    assert urls("a.example") == ["https://a.example/"]


def test_a_dash_means_standard_input_as_argument_and_as_file() -> None:
    expected = [Seed("https://a.example/", "standard input line 2", guessed=True)]
    assert read_seeds(["-"], stdin=io.StringIO("\na.example\n")) == expected
    assert read_seeds([], [Path("-")], io.StringIO("\na.example\n")) == expected


def test_no_standard_input_is_an_error() -> None:
    assert error_of("-") == "-: there is no standard input to read seeds from"


def test_standard_input_is_left_alone_unless_asked_for() -> None:
    stdin = io.StringIO("a.example\n")
    assert read_seeds([], stdin=stdin) == []
    assert stdin.read() == "a.example\n"


def test_order_is_kept_and_each_url_comes_once() -> None:
    assert urls("b.example", "a.example", "https://B.example/#x") == [
        "https://b.example/",
        "https://a.example/",
    ]


def test_a_wrong_line_is_named_with_file_and_line(tmp_path: Path) -> None:
    file = tmp_path / "list"
    file.write_text("a.example\n\nhttp://[::1\n")
    message = error_of(files=(file,))
    assert message.startswith(f"{file} line 3: ")
    assert "http://[::1" in message


def test_two_urls_on_a_line_are_an_error(tmp_path: Path) -> None:
    file = tmp_path / "list"
    file.write_text("http://a.example/ http://b.example/\n")
    assert "write one URL a line" in error_of(files=(file,))


def test_a_file_that_cannot_be_read_is_one_line(tmp_path: Path) -> None:
    assert "cannot be read: No such file" in error_of(files=(tmp_path / "none",))
    assert "cannot be read: Is a directory" in error_of(files=(tmp_path,))


def test_a_file_that_is_not_text_is_one_line(tmp_path: Path) -> None:
    file = tmp_path / "list"
    file.write_bytes(b"http://a.example/\n\xff\xfe\x00")
    assert "not a text file in UTF-8" in error_of(files=(file,))


def test_a_message_holds_no_control_characters_and_is_short() -> None:
    message = error_of("ftp://\x1b[31m" + "a" * 5_000)
    assert message.isprintable()
    assert len(message) < 300


@given(st.text(max_size=40))
def test_anything_is_a_seed_or_a_usage_error(text: str) -> None:
    try:
        seeds = read_seeds([text], stdin=io.StringIO(text))
    except UsageError as error:
        assert str(error).isprintable()
    else:
        assert all(seed.url.startswith(("http://", "https://")) for seed in seeds)
