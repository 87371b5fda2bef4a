"""The tables of the frontier database, written for SQLite and PostgreSQL alike.

Keys are 64-bit hashes (`model.site.key64`), so workers need not share a sequence. `urls` is kept in the order in which
URLs were found, under an index by (site, key): new rows are appended, URLs found together are fetched together, and the
narrow index alone says whether a URL is known. (Clustered by key, a report wrote 17 pages of the file for each page
fetched at ten million URLs; this way it writes 13.) The other tables are clustered by site: a batch touches a few
sites,
so it touches few pages of the file.

The queue holds only due URLs; retries wait in `schedule` by time, and next visits in `revisits`. A URL's row in `urls`
says in which it is.

Followers of the crawl (the index) read *changes*: each transaction that stores pages or makes documents leave has a
number, counted up inside it (`meta.change`), so that followers see commits in order and without gaps. `segments.seq`
and
`departures.seq` hold it.

For operators: `sites.paused` says why a site is paused, `least_delay` and `most_pages` are its limits (0: none).
`extraction` counts per site and day (days since 1970) how many pages gave no text; `samples` holds figures of the crawl
by minute and by hour (`span`, seconds); `asked` counts queries, and nothing of who asked. `messages` is an outbox: a
row
leaves when its channel has accepted it.

`choices` counts how many readers were shown a page for a query at a place on a day, and how many opened it; `query` is
a hash. `preferences` counts which of two orders readers preferred.

`desk` holds the versions of the search desk's rules, 0 the draft; `meta.desk` names the one that counts.

`site_pages` is a sample of each site's documents, `site_facts` what was learned from it; `urls.site_version` is the
version of the facts by which a page's text was cut.
"""

from __future__ import annotations

VERSION = 9

QUEUED, SCHEDULED, DONE, REFUSED, REMOVED = range(5)
"""`urls.state`."""

STATE_NAMES = {
    QUEUED: "waiting",
    SCHEDULED: "scheduled",
    DONE: "done",
    REFUSED: "refused",
    REMOVED: "removed",
}

TABLES = """
CREATE TABLE meta (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL
);
CREATE TABLE workers (
    id TEXT PRIMARY KEY,
    started_at DOUBLE PRECISION NOT NULL,
    expires_at DOUBLE PRECISION NOT NULL,
    reserved BIGINT NOT NULL DEFAULT 0,
    fetched BIGINT NOT NULL DEFAULT 0,
    machine TEXT NOT NULL DEFAULT ''
);
CREATE TABLE sites (
    id BIGINT PRIMARY KEY,
    name TEXT NOT NULL,
    domain TEXT NOT NULL,
    added_at DOUBLE PRECISION NOT NULL,
    crawl_delay DOUBLE PRECISION NOT NULL DEFAULT 0,
    trouble INTEGER NOT NULL DEFAULT 0,
    not_before DOUBLE PRECISION NOT NULL DEFAULT 0,
    wait_reason TEXT NOT NULL DEFAULT '',
    address TEXT NOT NULL DEFAULT '',
    known BIGINT NOT NULL DEFAULT 0,
    fetched BIGINT NOT NULL DEFAULT 0,
    refused BIGINT NOT NULL DEFAULT 0,
    paused TEXT NOT NULL DEFAULT '',
    least_delay DOUBLE PRECISION NOT NULL DEFAULT 0,
    most_pages BIGINT NOT NULL DEFAULT 0
);
CREATE TABLE parts (
    site_id BIGINT NOT NULL,
    part INTEGER NOT NULL,
    owner TEXT,
    token BIGINT NOT NULL DEFAULT 0,
    ready_at DOUBLE PRECISION,
    next_seq BIGINT NOT NULL DEFAULT 1,
    not_before DOUBLE PRECISION NOT NULL DEFAULT 0,
    PRIMARY KEY (site_id, part)
) {clustered};
CREATE INDEX parts_ready ON parts (ready_at) WHERE owner IS NULL;
CREATE INDEX parts_owner ON parts (owner) WHERE owner IS NOT NULL;
CREATE TABLE partitions (
    site_id BIGINT PRIMARY KEY,
    parts INTEGER NOT NULL,
    plan TEXT NOT NULL,
    next_plan TEXT NOT NULL,
    version BIGINT NOT NULL,
    made_at DOUBLE PRECISION NOT NULL
);
CREATE TABLE addresses (
    address TEXT PRIMARY KEY,
    owner TEXT,
    not_before DOUBLE PRECISION NOT NULL DEFAULT 0
);
CREATE TABLE urls (
    site_id BIGINT NOT NULL,
    key BIGINT NOT NULL,
    url TEXT NOT NULL,
    part INTEGER NOT NULL,
    state INTEGER NOT NULL,
    kind TEXT NOT NULL,
    via TEXT NOT NULL,
    level INTEGER NOT NULL,
    lowered INTEGER NOT NULL DEFAULT 0,
    depth INTEGER NOT NULL,
    hops INTEGER NOT NULL,
    found_at DOUBLE PRECISION NOT NULL,
    found_site BIGINT,
    found_key BIGINT,
    attempts INTEGER NOT NULL DEFAULT 0,
    keep_alias INTEGER NOT NULL DEFAULT 0,
    due_at DOUBLE PRECISION,
    outcome TEXT,
    rule TEXT,
    reason TEXT,
    status INTEGER,
    fetched_at DOUBLE PRECISION,
    target TEXT,
    etag TEXT,
    last_modified TEXT,
    content_hash TEXT,
    cluster BIGINT,
    joined INTEGER,
    segment TEXT,
    segment_row INTEGER,
    fit INTEGER NOT NULL DEFAULT 0,
    hub INTEGER NOT NULL DEFAULT 0,
    checked_at DOUBLE PRECISION,
    change_a DOUBLE PRECISION,
    change_b DOUBLE PRECISION,
    bucket INTEGER,
    clicks INTEGER NOT NULL DEFAULT 0,
    announced_at DOUBLE PRECISION,
    searchable_at DOUBLE PRECISION,
    site_version INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (site_id, key)
);
CREATE INDEX urls_refused ON urls (site_id, key) WHERE state = 3;
CREATE TABLE queue (
    site_id BIGINT NOT NULL,
    part INTEGER NOT NULL,
    level INTEGER NOT NULL,
    seq BIGINT NOT NULL,
    key BIGINT NOT NULL,
    PRIMARY KEY (site_id, part, level, seq)
) {clustered};
CREATE TABLE schedule (
    site_id BIGINT NOT NULL,
    part INTEGER NOT NULL,
    due_at DOUBLE PRECISION NOT NULL,
    key BIGINT NOT NULL,
    PRIMARY KEY (site_id, part, due_at, key)
) {clustered};
CREATE TABLE revisits (
    site_id BIGINT NOT NULL,
    part INTEGER NOT NULL,
    due_at DOUBLE PRECISION NOT NULL,
    key BIGINT NOT NULL,
    PRIMARY KEY (site_id, part, due_at, key)
) {clustered};
CREATE TABLE freshness (
    bucket INTEGER NOT NULL,
    hour BIGINT NOT NULL,
    pages BIGINT NOT NULL,
    PRIMARY KEY (bucket, hour)
) {clustered};
CREATE TABLE change_classes (
    class BIGINT PRIMARY KEY,
    visits BIGINT NOT NULL,
    changes BIGINT NOT NULL,
    exposure DOUBLE PRECISION NOT NULL
);
CREATE TABLE standings (
    site_id BIGINT NOT NULL,
    key BIGINT NOT NULL,
    base DOUBLE PRECISION NOT NULL,
    cash DOUBLE PRECISION NOT NULL,
    history DOUBLE PRECISION NOT NULL,
    at DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (site_id, key)
) {clustered};
CREATE TABLE sources (
    site_id BIGINT NOT NULL,
    key BIGINT NOT NULL,
    kind TEXT NOT NULL,
    found BIGINT NOT NULL DEFAULT 0,
    found_at DOUBLE PRECISION NOT NULL DEFAULT 0,
    habit BYTEA NOT NULL,
    retired TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (site_id, key)
) {clustered};
CREATE TABLE subscriptions (
    id TEXT PRIMARY KEY,
    topic TEXT NOT NULL UNIQUE,
    feed TEXT NOT NULL,
    hub TEXT NOT NULL,
    secret TEXT NOT NULL,
    state TEXT NOT NULL,
    asked_at DOUBLE PRECISION NOT NULL DEFAULT 0,
    attempts INTEGER NOT NULL DEFAULT 0,
    expires_at DOUBLE PRECISION NOT NULL DEFAULT 0,
    received BIGINT NOT NULL DEFAULT 0,
    received_at DOUBLE PRECISION NOT NULL DEFAULT 0,
    refused BIGINT NOT NULL DEFAULT 0,
    problem TEXT NOT NULL DEFAULT ''
);
CREATE TABLE deliveries (
    subscription TEXT NOT NULL,
    digest TEXT NOT NULL,
    received_at DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (subscription, digest)
) {clustered};
CREATE TABLE delays (
    bucket INTEGER PRIMARY KEY,
    documents BIGINT NOT NULL
);
CREATE TABLE prefixes (
    site_id BIGINT NOT NULL,
    prefix BIGINT NOT NULL,
    text TEXT NOT NULL,
    known BIGINT NOT NULL DEFAULT 0,
    fit BIGINT NOT NULL DEFAULT 0,
    visited BIGINT NOT NULL DEFAULT 0,
    documents BIGINT NOT NULL DEFAULT 0,
    failed BIGINT NOT NULL DEFAULT 0,
    duplicates BIGINT NOT NULL DEFAULT 0,
    near BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (site_id, prefix)
) {clustered};
CREATE TABLE filters (
    site TEXT NOT NULL,
    kind TEXT NOT NULL,
    pattern TEXT NOT NULL,
    state TEXT NOT NULL,
    made_by TEXT NOT NULL,
    evidence TEXT NOT NULL,
    proposed_at DOUBLE PRECISION NOT NULL,
    changed_at DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (site, kind, pattern)
);
CREATE INDEX filters_active ON filters (site) WHERE state = 'active';
CREATE INDEX subscriptions_feed ON subscriptions (feed);
CREATE TABLE levels (
    level INTEGER PRIMARY KEY,
    queued BIGINT NOT NULL
);
CREATE TABLE outcomes (
    site_id BIGINT NOT NULL,
    outcome TEXT NOT NULL,
    urls BIGINT NOT NULL,
    PRIMARY KEY (site_id, outcome)
) {clustered};
CREATE TABLE shapes (
    site_id BIGINT NOT NULL,
    shape BIGINT NOT NULL,
    urls BIGINT NOT NULL,
    PRIMARY KEY (site_id, shape)
) {clustered};
CREATE TABLE copies (
    site_id BIGINT NOT NULL,
    shape BIGINT NOT NULL,
    copies BIGINT NOT NULL,
    documents BIGINT NOT NULL,
    near BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (site_id, shape)
) {clustered};
CREATE INDEX copies_many ON copies (site_id) WHERE copies + near >= 10;
CREATE TABLE texts (
    domain BIGINT NOT NULL,
    content_hash TEXT NOT NULL,
    site_id BIGINT NOT NULL,
    key BIGINT NOT NULL,
    segment TEXT NOT NULL,
    worker TEXT NOT NULL,
    PRIMARY KEY (domain, content_hash)
) {clustered};
CREATE TABLE clusters (
    id BIGINT PRIMARY KEY,
    fingerprint BYTEA NOT NULL,
    near_keys BYTEA NOT NULL,
    pages BIGINT NOT NULL,
    site_id BIGINT NOT NULL,
    key BIGINT NOT NULL,
    published TEXT NOT NULL,
    seen_at DOUBLE PRECISION NOT NULL,
    reason TEXT NOT NULL
);
CREATE INDEX clusters_several ON clusters (pages) WHERE pages > 1;
CREATE TABLE near_keys (
    near_key BIGINT NOT NULL,
    cluster BIGINT NOT NULL,
    PRIMARY KEY (near_key, cluster)
) {clustered};
CREATE TABLE members (
    cluster BIGINT NOT NULL,
    site_id BIGINT NOT NULL,
    key BIGINT NOT NULL,
    published TEXT NOT NULL,
    seen_at DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (cluster, site_id, key)
) {clustered};
CREATE TABLE mirrors (
    site TEXT NOT NULL,
    main TEXT NOT NULL,
    scheme TEXT NOT NULL,
    state TEXT NOT NULL,
    reason TEXT NOT NULL,
    decided_at DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (site, main)
);
CREATE TABLE mirror_signs (
    site_id BIGINT NOT NULL,
    other_id BIGINT NOT NULL,
    same BIGINT NOT NULL,
    named BIGINT NOT NULL,
    other_named BIGINT NOT NULL,
    compared BIGINT NOT NULL DEFAULT 0,
    equal BIGINT NOT NULL DEFAULT 0,
    turned BIGINT NOT NULL DEFAULT 0,
    look_at BIGINT NOT NULL,
    PRIMARY KEY (site_id, other_id)
) {clustered};
CREATE TABLE rules (
    domain TEXT NOT NULL,
    name TEXT NOT NULL,
    body TEXT NOT NULL,
    added_at DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (domain, name)
);
CREATE TABLE aliases (
    target_site BIGINT NOT NULL,
    target_key BIGINT NOT NULL,
    site_id BIGINT NOT NULL,
    key BIGINT NOT NULL,
    outcome TEXT NOT NULL,
    PRIMARY KEY (target_site, target_key, site_id, key)
) {clustered};
CREATE TABLE robots (
    origin TEXT PRIMARY KEY,
    state BYTEA NOT NULL
);
CREATE TABLE segments (
    id TEXT PRIMARY KEY,
    worker TEXT NOT NULL,
    created_at DOUBLE PRECISION NOT NULL,
    pages BIGINT NOT NULL,
    bytes BIGINT NOT NULL,
    merged_into TEXT,
    first_row BIGINT NOT NULL DEFAULT 0,
    seq BIGINT
);
CREATE INDEX segments_seq ON segments (seq) WHERE seq IS NOT NULL;
CREATE INDEX segments_merged ON segments (merged_into) WHERE merged_into IS NOT NULL;
CREATE INDEX segments_counting ON segments (created_at, id) WHERE merged_into IS NULL;
CREATE TABLE departures (
    seq BIGINT NOT NULL,
    site_id BIGINT NOT NULL,
    key BIGINT NOT NULL,
    PRIMARY KEY (seq, site_id, key)
) {clustered};
CREATE TABLE removals (
    prefix TEXT PRIMARY KEY,
    reason TEXT NOT NULL,
    removed_at DOUBLE PRECISION NOT NULL
);
CREATE TABLE seeds (
    url TEXT PRIMARY KEY,
    site TEXT NOT NULL,
    added_at DOUBLE PRECISION NOT NULL
);
CREATE TABLE extraction (
    site_id BIGINT NOT NULL,
    day INTEGER NOT NULL,
    pages BIGINT NOT NULL,
    empty BIGINT NOT NULL,
    characters BIGINT NOT NULL,
    PRIMARY KEY (site_id, day)
) {clustered};
CREATE INDEX extraction_day ON extraction (day);
CREATE TABLE samples (
    span INTEGER NOT NULL,
    at BIGINT NOT NULL,
    figures TEXT NOT NULL,
    PRIMARY KEY (span, at)
) {clustered};
CREATE TABLE asked (
    day INTEGER NOT NULL,
    query TEXT NOT NULL,
    times BIGINT NOT NULL,
    in_vain BIGINT NOT NULL,
    PRIMARY KEY (day, query)
) {clustered};
CREATE TABLE choices (
    page BIGINT NOT NULL,
    query BIGINT NOT NULL,
    day INTEGER NOT NULL,
    place INTEGER NOT NULL,
    shown BIGINT NOT NULL,
    opened BIGINT NOT NULL,
    PRIMARY KEY (page, query, day, place)
) {clustered};
CREATE TABLE preferences (
    day INTEGER NOT NULL,
    outcome TEXT NOT NULL,
    times BIGINT NOT NULL,
    PRIMARY KEY (day, outcome)
) {clustered};
CREATE TABLE accounts (
    name TEXT PRIMARY KEY,
    role TEXT NOT NULL,
    password TEXT NOT NULL,
    made_at DOUBLE PRECISION NOT NULL
);
CREATE TABLE logins (
    token TEXT PRIMARY KEY,
    account TEXT NOT NULL,
    began_at DOUBLE PRECISION NOT NULL,
    expires_at DOUBLE PRECISION NOT NULL
);
CREATE TABLE login_failures (
    who TEXT PRIMARY KEY,
    failures INTEGER NOT NULL,
    last_at DOUBLE PRECISION NOT NULL
);
CREATE TABLE audit (
    at DOUBLE PRECISION NOT NULL,
    id TEXT NOT NULL,
    who TEXT NOT NULL,
    action TEXT NOT NULL,
    subject TEXT NOT NULL,
    detail TEXT NOT NULL,
    PRIMARY KEY (at, id)
) {clustered};
CREATE TABLE alerts (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    request TEXT NOT NULL,
    channels TEXT NOT NULL,
    made_by TEXT NOT NULL,
    made_at DOUBLE PRECISION NOT NULL,
    since BIGINT NOT NULL,
    again INTEGER NOT NULL DEFAULT 0,
    paused INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE alert_hits (
    alert TEXT NOT NULL,
    key BIGINT NOT NULL,
    at DOUBLE PRECISION NOT NULL,
    url TEXT NOT NULL,
    title TEXT NOT NULL,
    excerpt TEXT NOT NULL,
    published TEXT NOT NULL,
    PRIMARY KEY (alert, key)
) {clustered};
CREATE INDEX alert_hits_at ON alert_hits (alert, at);
CREATE TABLE messages (
    id TEXT PRIMARY KEY,
    channel TEXT NOT NULL,
    about TEXT NOT NULL,
    body TEXT NOT NULL,
    made_at DOUBLE PRECISION NOT NULL,
    due_at DOUBLE PRECISION,
    attempts INTEGER NOT NULL DEFAULT 0,
    problem TEXT NOT NULL DEFAULT ''
);
CREATE INDEX messages_due ON messages (due_at) WHERE due_at IS NOT NULL;
CREATE TABLE alarms (
    kind TEXT NOT NULL,
    subject TEXT NOT NULL,
    since DOUBLE PRECISION NOT NULL,
    until DOUBLE PRECISION,
    seen_at DOUBLE PRECISION NOT NULL,
    sentence TEXT NOT NULL,
    PRIMARY KEY (kind, subject, since)
);
CREATE TABLE schedule_runs (
    machine TEXT NOT NULL,
    name TEXT NOT NULL,
    began_at DOUBLE PRECISION NOT NULL,
    ended_at DOUBLE PRECISION,
    code INTEGER,
    words TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (machine, name, began_at)
) {clustered};
CREATE TABLE schedule_pauses (
    machine TEXT NOT NULL,
    name TEXT NOT NULL,
    paused_at DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (machine, name)
);
CREATE TABLE schedule_entries (
    machine TEXT NOT NULL,
    name TEXT NOT NULL,
    rhythm TEXT NOT NULL,
    since DOUBLE PRECISION NOT NULL,
    wanted_at DOUBLE PRECISION,
    PRIMARY KEY (machine, name)
);
CREATE TABLE evaluations (
    at DOUBLE PRECISION NOT NULL,
    name TEXT NOT NULL,
    result TEXT NOT NULL,
    PRIMARY KEY (at, name)
) {clustered};
CREATE TABLE desk (
    version BIGINT PRIMARY KEY,
    at DOUBLE PRECISION NOT NULL,
    who TEXT NOT NULL,
    note TEXT NOT NULL,
    previous BIGINT NOT NULL,
    rules TEXT NOT NULL
);
CREATE TABLE scripted (
    site_id BIGINT PRIMARY KEY,
    day INTEGER NOT NULL,
    rendered BIGINT NOT NULL DEFAULT 0,
    gained BIGINT NOT NULL DEFAULT 0,
    requests BIGINT NOT NULL DEFAULT 0,
    in_vain BIGINT NOT NULL DEFAULT 0,
    rest_until INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE site_pages (
    site_id BIGINT NOT NULL,
    key BIGINT NOT NULL,
    sketch BYTEA NOT NULL,
    at DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (site_id, key)
) {clustered};
CREATE TABLE site_facts (
    site_id BIGINT PRIMARY KEY,
    version BIGINT NOT NULL,
    pages BIGINT NOT NULL,
    news BIGINT NOT NULL,
    learned_at DOUBLE PRECISION NOT NULL,
    facts BYTEA NOT NULL,
    reread BIGINT
);
CREATE INDEX site_facts_reread ON site_facts (site_id) WHERE reread IS NOT NULL
"""


def statements(clustered: str, text: str = "TEXT") -> list[str]:
    """The DDL, one statement each, with the dialect's words for a table kept in key order and for text."""
    return [_worded(one.strip(), clustered, text) for one in TABLES.split(";") if one.strip()]


def _worded(statement: str, clustered: str, text: str) -> str:
    return statement.format(clustered=clustered).replace(" TEXT", f" {text}")


def _create(table: str) -> str:
    """The statement that makes a table, for an upgrade that adds it as it is now."""
    return next(text.strip() for text in TABLES.split(";") if text.strip().startswith(f"CREATE TABLE {table} ("))


UPGRADES: dict[int, tuple[str, ...]] = {
    1: (
        "ALTER TABLE segments ADD COLUMN seq BIGINT",
        "CREATE INDEX segments_seq ON segments (seq) WHERE seq IS NOT NULL",
        "CREATE TABLE departures (seq BIGINT NOT NULL, site_id BIGINT NOT NULL, key BIGINT NOT NULL, "
        "PRIMARY KEY (seq, site_id, key)) {clustered}",
        "UPDATE segments SET seq = (SELECT COUNT(*) FROM segments earlier WHERE earlier.worker <> 'compact' "
        "AND (earlier.created_at, earlier.id) <= (segments.created_at, segments.id)) WHERE worker <> 'compact'",
        "INSERT INTO meta SELECT 'change', COALESCE(MAX(seq), 0) FROM segments",
    ),
    2: (
        "ALTER TABLE urls ADD COLUMN cluster BIGINT",
        "ALTER TABLE urls ADD COLUMN joined INTEGER",
        "ALTER TABLE urls ADD COLUMN lowered INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE copies ADD COLUMN near BIGINT NOT NULL DEFAULT 0",
        "CREATE INDEX copies_many ON copies (site_id) WHERE copies + near >= 10",
        *(_create(name) for name in ("clusters", "near_keys", "members", "mirrors", "mirror_signs", "rules")),
        "CREATE INDEX clusters_several ON clusters (pages) WHERE pages > 1",
    ),
    3: (
        "ALTER TABLE urls ADD COLUMN fit INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE urls ADD COLUMN hub INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE urls ADD COLUMN checked_at DOUBLE PRECISION",
        "ALTER TABLE urls ADD COLUMN change_a DOUBLE PRECISION",
        "ALTER TABLE urls ADD COLUMN change_b DOUBLE PRECISION",
        "ALTER TABLE urls ADD COLUMN bucket INTEGER",
        "ALTER TABLE urls ADD COLUMN clicks INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE urls ADD COLUMN announced_at DOUBLE PRECISION",
        "ALTER TABLE urls ADD COLUMN searchable_at DOUBLE PRECISION",
        *(
            _create(name)
            for name in (
                "revisits",
                "freshness",
                "change_classes",
                "standings",
                "sources",
                "subscriptions",
                "deliveries",
                "delays",
                "prefixes",
                "filters",
            )
        ),
        "CREATE INDEX filters_active ON filters (site) WHERE state = 'active'",
        "CREATE INDEX subscriptions_feed ON subscriptions (feed)",
        # Pages fetched before there were revisits are visited again a week later.
        "UPDATE urls SET due_at = COALESCE(fetched_at, found_at) + 604800 WHERE state = 2 AND outcome = 'document'",
        "INSERT INTO revisits SELECT site_id, part, due_at, key FROM urls WHERE state = 2 AND due_at IS NOT NULL",
        "UPDATE parts SET ready_at = (SELECT MIN(r.due_at) FROM revisits r WHERE r.site_id = parts.site_id "
        "AND r.part = parts.part) WHERE ready_at IS NULL",
    ),
    4: (
        "ALTER TABLE workers ADD COLUMN machine TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE parts ADD COLUMN not_before DOUBLE PRECISION NOT NULL DEFAULT 0",
        _create("partitions"),
    ),
    5: (
        "CREATE INDEX segments_merged ON segments (merged_into) WHERE merged_into IS NOT NULL",
        "CREATE INDEX segments_counting ON segments (created_at, id) WHERE merged_into IS NULL",
        "ALTER TABLE sites ADD COLUMN paused TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE sites ADD COLUMN least_delay DOUBLE PRECISION NOT NULL DEFAULT 0",
        "ALTER TABLE sites ADD COLUMN most_pages BIGINT NOT NULL DEFAULT 0",
        *(
            _create(name)
            for name in (
                "extraction",
                "samples",
                "asked",
                "accounts",
                "logins",
                "login_failures",
                "audit",
                "alerts",
                "alert_hits",
                "messages",
                "alarms",
                "schedule_runs",
                "schedule_pauses",
                "schedule_entries",
                "evaluations",
                "scripted",
            )
        ),
        "CREATE INDEX alert_hits_at ON alert_hits (alert, at)",
        "CREATE INDEX extraction_day ON extraction (day)",
        "CREATE INDEX messages_due ON messages (due_at) WHERE due_at IS NOT NULL",
    ),
    6: (
        "ALTER TABLE urls ADD COLUMN site_version INTEGER NOT NULL DEFAULT 0",
        _create("site_pages"),
        _create("site_facts"),
        "CREATE INDEX site_facts_reread ON site_facts (site_id) WHERE reread IS NOT NULL",
    ),
    7: (_create("desk"),),
    8: (_create("choices"), _create("preferences")),
}
"""The statements from each version to the next."""


def upgrade(version: int, clustered: str, text: str = "TEXT") -> list[str]:
    """The statements that bring tables of an older version to the present one."""
    steps = [_worded(one, clustered, text) for old in range(version, VERSION) for one in UPGRADES[old]]
    return [*steps, f"UPDATE meta SET value = '{VERSION}' WHERE key = 'schema'"]
