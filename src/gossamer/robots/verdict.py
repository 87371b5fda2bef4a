"""What the answer to a request for /robots.txt means: a closed table, RFC 9309 section 2.3.1.

| answer                                       | kind        | what we may fetch meanwhile           |
|----------------------------------------------|-------------|---------------------------------------|
| 2xx                                          | rules       | what the rules allow                  |
| 304                                          | rules       | what the copy we hold allows          |
| a redirect too many, in a loop or to nowhere | allow_all   | everything                            |
| 4xx except 429                               | allow_all   | everything                            |
| 429                                          | deferred    | nothing; ask again at `retry_at`      |
| 5xx, 300, 305, no or a broken response       | unreachable | what the last good copy allows while  |
|                                              |             | it is young enough, else nothing      |
| our own guard refuses the address            | deny_all    | nothing                               |

The caller follows redirects (at least five) and passes on the answer to the last request.
The last good copy outlives failures, 429 and a refused address. A 4xx drops it: the site
has said that it has no rules, so older ones must not come back, and should it fail later
nothing vouches for us.

Nothing here reads a clock or a file: `now` comes in, a state to store goes out.
"""

from __future__ import annotations

from enum import Enum

import msgspec

from gossamer.model.outcome import FOLLOWED, Outcome
from gossamer.robots.rules import MAX_BYTES, within_limit

_HOUR, _DAY = 3_600.0, 86_400.0
_DETAIL = 300
"""Characters of a failure that are kept."""
_CLOCK_SLACK = _HOUR
"""Machines' clocks differ by seconds; a state from further ahead means that a clock was set back."""


class RobotsConfig(msgspec.Struct, frozen=True):
    """How long a robots.txt is valid."""

    max_age: float = _DAY
    """Seconds after which the crawl fetches robots.txt again; RFC 9309 wants at most a day."""
    good_copy_max_age: float = 30 * _DAY
    """Seconds for which the last good copy stays valid while robots.txt is unreachable."""
    retry_first: float = 600.0
    """Seconds until the second try after a failure, or after a 429 without a time; doubles each time."""
    retry_cap: float = _DAY
    """Most seconds between two tries, whatever Retry-After says."""
    allow_long_unreachable: bool = False
    """Whether to crawl a site whose robots.txt is unreachable for long, as if it had none (RFC 9309 permits it)."""
    long_unreachable: float = 30 * _DAY
    """Seconds of failures in a row that count as long."""


class Kind(Enum):
    """What the last answer was."""

    RULES = "rules"
    ALLOW_ALL = "allow_all"
    DENY_ALL = "deny_all"
    UNREACHABLE = "unreachable"
    DEFERRED = "deferred"


class RobotsState(msgspec.Struct, frozen=True):
    """What is stored about one origin's robots.txt."""

    kind: Kind
    reason: str
    """One sentence about the last answer."""
    fetched_at: float
    """When the last answer, or the failure, came."""
    expires_at: float
    """When robots.txt must be requested again before anything else is fetched."""
    retry_at: float = 0.0
    """Before this time it must not be requested again; 0 after a good answer."""
    body: bytes = b""
    """The last good copy, within the size limit; meaningless while `good_at` is 0."""
    good_at: float = 0.0
    """When the last good copy was downloaded or confirmed; 0 if there is none."""
    failing_since: float = 0.0
    """When the current run of failures began; 0 if the last answer was good."""
    failures: int = 0
    """Failures or 429 in a row."""
    outcome: str = ""
    """Outcome of the last request."""
    detail: str = ""
    """Why the last request failed."""


class Answer(Enum):
    """What to do with a URL of the origin."""

    ASK_RULES = "rules"
    """Let the rules in the state's body decide."""
    ALLOW = "allow"
    DENY = "deny"
    WAIT = "wait"
    """Fetch nothing before `until`, then request robots.txt again."""


class Verdict(msgspec.Struct, frozen=True):
    """The meaning of a state now."""

    answer: Answer
    reason: str
    until: float
    """When the verdict ends and robots.txt is to be requested again."""


_K, _O = Kind, Outcome
OF_OUTCOME: dict[Outcome, Kind] = {
    _O.DOCUMENT: _K.RULES,
    _O.RESOURCE: _K.RULES,
    _O.DUPLICATE: _K.RULES,
    _O.ALIAS: _K.RULES,
    _O.NOINDEX: _K.RULES,
    _O.UNSUPPORTED_TYPE: _K.RULES,
    _O.PARSE_FAILED: _K.RULES,
    _O.NOT_MODIFIED: _K.RULES,
    _O.TOO_LARGE: _K.RULES,
    _O.REDIRECT: _K.ALLOW_ALL,
    _O.BAD_REDIRECT: _K.ALLOW_ALL,
    _O.GONE: _K.ALLOW_ALL,
    _O.FORBIDDEN: _K.ALLOW_ALL,
    _O.CLIENT_ERROR: _K.ALLOW_ALL,
    _O.RATE_LIMITED: _K.DEFERRED,
    _O.UNAVAILABLE: _K.UNREACHABLE,
    _O.SERVER_ERROR: _K.UNREACHABLE,
    _O.TIMEOUT: _K.UNREACHABLE,
    _O.CONNECT_FAILED: _K.UNREACHABLE,
    _O.DNS_FAILED: _K.UNREACHABLE,
    _O.TLS_FAILED: _K.UNREACHABLE,
    _O.BROKEN_RESPONSE: _K.UNREACHABLE,
    _O.BOMB: _K.UNREACHABLE,
    _O.ROBOTS_DENIED: _K.UNREACHABLE,
    _O.ADDRESS_REFUSED: _K.DENY_ALL,
    _O.REFUSED: _K.DENY_ALL,
}
"""Every outcome, so that a new one cannot slip through as a permission."""


def kind_of(status: int, outcome: Outcome, body: bytes, has_copy: bool) -> Kind:
    """The kind of an answer. A 4xx counts as such even if its body broke off or came late (408)."""
    if status == 429:
        return Kind.DEFERRED
    if 400 <= status < 500:
        return Kind.ALLOW_ALL
    if 300 <= status < 400 and status not in FOLLOWED and outcome is Outcome.BAD_REDIRECT:
        return Kind.UNREACHABLE  # a choice or a proxy is neither rules nor their absence
    if outcome is Outcome.NOT_MODIFIED and not has_copy:
        return Kind.UNREACHABLE
    if outcome is Outcome.TOO_LARGE and len(body) < MAX_BYTES:
        return Kind.UNREACHABLE  # the part that counts is incomplete
    return OF_OUTCOME[outcome]


def after_fetch(
    previous: RobotsState | None,
    status: int,
    outcome: Outcome,
    body: bytes,
    now: float,
    retry_after: float | None,
    config: RobotsConfig,
    detail: str = "",
) -> RobotsState:
    """The state to store after an answer, or after none (status 0)."""
    has_copy = previous is not None and previous.good_at > 0
    kind = kind_of(status, outcome, body, has_copy)
    reason = _reason(kind, status, outcome)
    expires_at = now + min(config.max_age, _DAY)
    if kind is Kind.ALLOW_ALL:
        return RobotsState(kind, reason, now, expires_at)
    if kind is Kind.RULES:
        if outcome is Outcome.NOT_MODIFIED and previous is not None:
            body = previous.body
        return RobotsState(kind, reason, now, expires_at, body=within_limit(body), good_at=now)
    failures = (previous.failures if previous else 0) + 1
    retry_at = now + _wait(failures, retry_after, config)
    since = 0.0 if kind is not Kind.UNREACHABLE else (previous and previous.failing_since) or now
    good = (previous.body, previous.good_at) if previous else (b"", 0.0)
    if retry_after:
        reason = f"{reason}; Retry-After: {retry_after:.0f} s"
    return RobotsState(kind, reason, now, retry_at, retry_at, *good, since, failures, outcome.value, detail[:_DETAIL])


def asked_again(state: RobotsState, now: float) -> RobotsState:
    """A person names a URL of the origin again: robots.txt is requested before anything else."""
    return msgspec.structs.replace(state, expires_at=min(state.expires_at, now), retry_at=0.0)


def is_fresh(state: RobotsState, now: float) -> bool:
    """Whether the state may be used without another request."""
    return state.fetched_at - _CLOCK_SLACK <= now < state.expires_at


def verdict(state: RobotsState, now: float, config: RobotsConfig) -> Verdict:
    """The meaning of a state at this moment. Check `is_fresh` first: a stale state permits nothing new."""
    answer, reason = _answer(state, now, config)
    return Verdict(answer, reason, state.expires_at)


def _answer(state: RobotsState, now: float, config: RobotsConfig) -> tuple[Answer, str]:
    if state.kind is not Kind.UNREACHABLE:
        return _PLAIN_ANSWER[state.kind], state.reason
    age = now - state.good_at
    if state.good_at > 0 and age <= config.good_copy_max_age:
        return Answer.ASK_RULES, f"{state.reason}; the copy of {_ago(age)} ago still applies"
    failing = now - state.failing_since
    if config.allow_long_unreachable and failing >= config.long_unreachable:
        return Answer.ALLOW, f"{state.reason} for {_ago(failing)}, which counts as having none"
    return Answer.DENY, state.reason


_PLAIN_ANSWER = {
    Kind.RULES: Answer.ASK_RULES,
    Kind.ALLOW_ALL: Answer.ALLOW,
    Kind.DENY_ALL: Answer.DENY,
    Kind.DEFERRED: Answer.WAIT,
}


def _wait(failures: int, retry_after: float | None, config: RobotsConfig) -> float:
    doubled = config.retry_first * 2.0 ** min(failures - 1, 30)
    asked = retry_after if retry_after is not None and retry_after > 0 else 0.0
    return min(max(doubled, asked), config.retry_cap)


def _reason(kind: Kind, status: int, outcome: Outcome) -> str:
    cause = f"status {status}" if status else outcome.meaning.sentence
    if kind is Kind.RULES:
        return f"robots.txt was read ({cause})"
    if kind is Kind.ALLOW_ALL:
        return f"the site has no robots.txt ({cause})"
    if kind is Kind.DEFERRED:
        return "robots.txt was requested too often (status 429)"
    if kind is Kind.DENY_ALL:
        return f"robots.txt may not be fetched ({cause})"
    if 200 <= status < 300:
        cause = f"status {status}, but {outcome.meaning.sentence}"
    return f"robots.txt is unreachable ({cause})"


def _ago(seconds: float) -> str:
    return f"{seconds / _DAY:.0f} days" if seconds >= 2 * _DAY else f"{seconds / _HOUR:.0f} hours"
