"""The four stores of `kv.py` as a client process uses them.

SQLite and PostgreSQL keep a row in columns. LMDB and Redis keep it as a 16-byte key and the MessagePack of the rest;
making and reading that is part of the work, as binding values is of SQL's.

A batch enters in one transaction: every key is looked up, what is not there is put, and between the two nobody else
may put the same. SQLite, LMDB and our PostgreSQL let writers take turns for that; Redis watches the keys and begins
again when somebody was faster.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any, Protocol

import msgspec

from _kv_urls import COLUMNS, Key, Row
from gossamer.database.database import Where, open_database

_INSERT = f"INSERT INTO urls ({COLUMNS}) VALUES ({', '.join('?' for _ in COLUMNS.split(','))})"
_ONE = f"SELECT {COLUMNS} FROM urls WHERE site_id = ? AND key = ?"
_MAP = 16 << 30
"""Bytes that an LMDB file may grow to; only what is used is on the disk."""


class Client(Protocol):
    """A process's way to a store."""

    def enter(self, rows: Sequence[Row], known: Sequence[Key]) -> int:
        """In one transaction: look up the keys of the rows and the known ones, put the rows that are not there."""
        ...

    def get(self, keys: Sequence[Key]) -> int:
        """Read the rows of these keys; how many there were."""
        ...

    def put_one(self, row: Row) -> None:
        """Put a row, in a transaction of its own."""
        ...

    def get_one(self, key: Key) -> Row | None:
        """Read a row."""
        ...

    def close(self) -> None:
        """Close it."""
        ...


class SqlClient:
    """SQLite and PostgreSQL, by the calls that the frontier uses."""

    def __init__(self, where: Where, pragma: str = "") -> None:
        self._db = open_database(where)
        if pragma:
            self._db.execute(pragma)

    def enter(self, rows: Sequence[Row], known: Sequence[Key]) -> int:
        wanted = sorted([*((row[0], row[1]) for row in rows), *known])
        with self._db.transaction():
            found = set(self._db.find("site_id, key", "urls", ("site_id", "key"), wanted))
            new = [row for row in rows if (row[0], row[1]) not in found]
            self._db.many(_INSERT, new)
        return len(new)

    def get(self, keys: Sequence[Key]) -> int:
        return len(self._db.find(COLUMNS, "urls", ("site_id", "key"), keys))

    def put_one(self, row: Row) -> None:
        self._db.change(_INSERT, row)

    def get_one(self, key: Key) -> Row | None:
        return next(iter(self._db.execute(_ONE, key)), None)

    def close(self) -> None:
        self._db.close()


class LmdbClient:
    """LMDB: a tree in a file that all processes map into their memory."""

    def __init__(self, path: str, synced: bool) -> None:
        import lmdb

        self._env = lmdb.open(path, map_size=_MAP, sync=synced, max_readers=64)

    def enter(self, rows: Sequence[Row], known: Sequence[Key]) -> int:
        items = [_item(row) for row in rows]
        wanted = sorted([*(key for key, _ in items), *map(_packed, known)])
        with self._env.begin(write=True) as transaction, transaction.cursor() as cursor:
            found = {key for key, _ in cursor.getmulti(wanted)}
            new = [item for item in items if item[0] not in found]
            cursor.putmulti(new)
        return len(new)

    def get(self, keys: Sequence[Key]) -> int:
        with self._env.begin() as transaction, transaction.cursor() as cursor:
            return len([_row(key, value) for key, value in cursor.getmulti(list(map(_packed, keys)))])

    def put_one(self, row: Row) -> None:
        with self._env.begin(write=True) as transaction:
            transaction.put(*_item(row))

    def get_one(self, key: Key) -> Row | None:
        packed = _packed(key)
        with self._env.begin() as transaction:
            value = transaction.get(packed)
        return _row(packed, value) if value is not None else None

    def close(self) -> None:
        self._env.close()


class RedisClient:
    """Redis: a server that keeps everything in memory and writes a log."""

    def __init__(self, port: int) -> None:
        import redis

        self._redis = redis.Redis("127.0.0.1", port)
        self._again = redis.WatchError

    def enter(self, rows: Sequence[Row], known: Sequence[Key]) -> int:
        items = dict(map(_item, rows))
        wanted = [*items, *map(_packed, known)]
        with self._redis.pipeline() as pipe:
            while True:
                try:
                    pipe.watch(*items)
                    values: Any = pipe.mget(wanted)
                    new = {key: items[key] for key, value in zip(items, values, strict=False) if value is None}
                    pipe.multi()
                    if new:
                        pipe.mset(new)
                    pipe.execute()
                    return len(new)
                except self._again:
                    continue

    def get(self, keys: Sequence[Key]) -> int:
        packed = list(map(_packed, keys))
        values: Any = self._redis.mget(packed)
        return len([_row(key, value) for key, value in zip(packed, values, strict=True) if value is not None])

    def put_one(self, row: Row) -> None:
        self._redis.set(*_item(row))

    def get_one(self, key: Key) -> Row | None:
        packed = _packed(key)
        value: Any = self._redis.get(packed)
        return _row(packed, value) if value is not None else None

    def close(self) -> None:
        self._redis.close()


_encode, _decode = msgspec.msgpack.Encoder().encode, msgspec.msgpack.Decoder(tuple).decode


def _packed(key: Key) -> bytes:
    """Bytes that sort by site."""
    return struct.pack(">qq", *key)


def _item(row: Row) -> tuple[bytes, bytes]:
    return struct.pack(">qq", row[0], row[1]), _encode(row[2:])


def _row(key: bytes, value: bytes) -> Row:
    return (*struct.unpack(">qq", key), *_decode(value))
