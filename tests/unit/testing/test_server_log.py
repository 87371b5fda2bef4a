import math

from gossamer.demo.message import Ask
from gossamer.testing import FakeClock, read_log
from gossamer.testing.log import LogWriter


def _ask(target="/", connection=1):
    return Ask("GET", target, "a.test:80", {"user-agent": "spider"}, "127.0.1.1", connection)


def test_what_is_written_can_be_read_while_the_server_runs(tmp_path):
    path = tmp_path / "log"
    log = LogWriter(path, FakeClock())
    log.opened(1.0, 1, "127.0.1.1", "127.0.0.1:5")
    log.asked(2.0, 1, _ask("/x?y=1"))
    (request,) = read_log(path)
    assert (request.site, request.path, request.arrived, request.agent) == (
        "a.test:80",
        "/x?y=1",
        2.0,
        "spider",
    )
    assert request.ended == math.inf
    log.ended(3.0, 1, 200, 512, False)
    log.closed(4.0, 1)
    (request,) = read_log(path)
    assert (request.ended, request.status, request.sent, request.lost) == (3.0, 200, 512, False)
    assert [(c.opened, c.closed) for c in read_log(path).connections] == [(1.0, 4.0)]


def test_a_line_that_is_half_written_is_left_out(tmp_path):
    path = tmp_path / "log"
    LogWriter(path, FakeClock()).asked(2.0, 1, _ask())
    with path.open("ab") as file:
        file.write(b'{"e":"end","t":3')
    assert [r.ended for r in read_log(path)] == [math.inf]


def test_a_second_life_of_the_server_does_not_overwrite_the_first(tmp_path):
    path = tmp_path / "log"
    for life in (1, 2):
        log = LogWriter(path, FakeClock(100.0 * life))
        log.opened(100.0 * life + 1, 1, "127.0.1.1", "")
        log.asked(100.0 * life + 2, 1, _ask(f"/{life}"))
    found = read_log(path)
    assert [r.path for r in found] == ["/1", "/2"]
    assert [r.ended for r in found] == [200.0, math.inf]
    assert [c.closed for c in found.connections] == [200.0, math.inf]
    assert len({r.connection for r in found}) == 2
