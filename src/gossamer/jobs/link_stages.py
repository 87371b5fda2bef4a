"""The tasks that make a link graph of records, partition by partition; `link_graph` says in which order they run.

    newest_versions   by a URL's own key: what it is now, by its newest telling visit
    follow_leads      by the key a lead points at: one step of each chain; the ends are sent back to its beginning
    current_links     by the source's key: the links on the newest version of each document
    links_to_leads    by the target's key: links to what leads elsewhere are sent to where it leads
    make_block        by the target's key: the links to each document, each pair of pages once
    make_nodes        by a document's own key: out-degrees and site numbers

Files under the job's prefix are `<what>-<writer>`; those of an exchange hold rows for every partition.
"""

from __future__ import annotations

import msgspec
import numpy as np
import pyarrow as pa

from gossamer.engine.exchange import range_of, read_part, write_parts
from gossamer.graph.edges import distinct
from gossamer.jobs.graph_files import read_array, write_array, write_block
from gossamer.jobs.link_records import DOCUMENT, LEADS, PAGES
from gossamer.jobs.link_work import Ints, Numbers, Plan, Task, column, places_in, received
from gossamer.model.site import site_of
from gossamer.store.place import Place

CHAIN = 5
"""Steps from a URL to the one that represents it; a longer chain leads nowhere (as in `frontier.copies.duplicates`)."""
_CHAINS = pa.schema([pa.field("lead", pa.int64()), pa.field("at", pa.int64())])
_ENDS = pa.schema([pa.field("lead", pa.int64()), pa.field("node", pa.int32())])


class Versions(msgspec.Struct, frozen=True):
    """How much of a partition is left when only the newest visits count."""

    documents: int
    leads: int


class Ended(msgspec.Struct, frozen=True):
    """The result of one step of the chains."""

    found: int
    going_on: int


class BlockSize(msgspec.Struct, frozen=True):
    """What a block holds."""

    nodes: int
    edges: int


def newest_versions(task: Task) -> Versions:
    """Task: the documents of a partition in order of their keys, and the URLs that lead elsewhere."""
    place = task.open()
    plan = task.plan(place)
    table = received(place, task.files("pages", len(plan.pieces)), task.number, PAGES)
    order = np.lexsort([column(table, name) for name in ("row", "segment", "time", "key")])
    keys = column(table, "key")[order]
    newest = order[np.append(keys[1:] != keys[:-1], True)] if len(order) else order
    kinds = column(table, "kind")[newest]
    documents = table.take(pa.array(newest[kinds == DOCUMENT])).combine_chunks()
    _write_documents(task, place, documents)
    leading = table.take(pa.array(newest[kinds == LEADS]))
    leads = np.stack([column(leading, "key"), column(leading, "target")])
    leads = leads[:, leads[0] != leads[1]]
    write_array(place, task.own("leads"), leads)
    _send(task, place, plan, "hop0", {"lead": leads[0], "at": leads[1]}, leads[1])
    return Versions(documents.num_rows, leads.shape[1])


def _write_documents(task: Task, place: Place, documents: pa.Table) -> None:
    urls = documents.column("url").to_pylist()
    sites, numbers = np.unique(np.array([site_of(url) for url in urls], object), return_inverse=True)
    for name, array in (
        ("keys", column(documents, "key")),
        ("times", column(documents, "time")),
        ("versions", column(documents, "segment")),
        ("local_sites", numbers.astype(np.int32)),
    ):
        write_array(place, task.own(name), array)
    place.put(task.own("urls"), msgspec.msgpack.encode(urls))
    place.put(task.own("site_names"), msgspec.msgpack.encode(sites.tolist()))


def follow_leads(task: Task) -> Ended:
    """Task: find where chains have arrived; at a document they end, at another lead they continue."""
    place = task.open()
    plan = task.plan(place)
    table = received(place, task.files(f"hop{task.hops}", plan.partitions), task.number, _CHAINS)
    leads, at = column(table, "lead"), column(table, "at")
    nodes = places_in(_keys(task, place), at)
    arrived = nodes >= 0
    columns = {"lead": leads[arrived], "node": (nodes[arrived] + task.first).astype(np.int32)}
    _send(task, place, plan, f"end{task.hops}", columns, leads[arrived])
    chains = read_array(place, task.own("leads"))
    onward = places_in(chains[0], at)
    going = onward >= 0
    following = chains[1][onward[going]]
    _send(task, place, plan, f"hop{task.hops + 1}", {"lead": leads[going], "at": following}, following)
    return Ended(int(arrived.sum()), int(going.sum()))


def gather_leads(task: Task) -> int:
    """Task: the URLs of a partition that lead to a document, in order, and to which."""
    place = task.open()
    plan = task.plan(place)
    names = [name for hop in range(task.hops) for name in task.files(f"end{hop}", plan.partitions)]
    table = received(place, names, task.number, _ENDS)
    leads, nodes = column(table, "lead"), column(table, "node")
    order = np.argsort(leads)
    write_array(place, task.own("resolved"), np.stack([leads[order], nodes[order].astype(np.int64)]))
    return len(leads)


def current_links(task: Task) -> int:
    """Task: links from the newest version of each document, sent to their targets."""
    place = task.open()
    plan = task.plan(place)
    keys = _keys(task, place)
    times, versions = read_array(place, task.own("times")), read_array(place, task.own("versions"))
    sources, targets = [np.empty(0, np.int32)], [np.empty(0, np.int64)]
    for table in read_part(place, task.files("links", len(plan.pieces)), task.number):
        nodes = places_in(keys, column(table, "source"))
        kept = np.flatnonzero(nodes >= 0)
        nodes = nodes[kept]
        current = (times[nodes] == column(table, "time")[kept]) & (versions[nodes] == column(table, "segment")[kept])
        sources.append((nodes[current] + task.first).astype(np.int32))
        targets.append(column(table, "target")[kept[current]])
    joined = np.concatenate(targets)
    _send(task, place, plan, "edges", {"source": np.concatenate(sources), "target": joined}, joined)
    return len(joined)


def links_to_leads(task: Task) -> int:
    """Task: links to URLs that lead elsewhere, sent on to their targets."""
    place = task.open()
    plan = task.plan(place)
    leads, nodes = read_array(place, task.own("resolved"))
    sources, targets = [np.empty(0, np.int32)], [np.empty(0, np.int32)]
    for table in read_part(place, task.files("edges", plan.partitions), task.number):
        found = places_in(leads, column(table, "target"))
        led = found >= 0
        sources.append(column(table, "source")[led])
        targets.append(nodes[found[led]].astype(np.int32))
    joined = np.concatenate(targets)
    # Nodes are numbered in the order of their keys: the number determines the partition.
    starts = read_array(place, f"{task.work}starts")
    parts = (np.searchsorted(starts, joined, side="right") - 1).astype(np.int32)
    table = pa.table({"source": np.concatenate(sources), "target": joined})
    write_parts(place, task.own("led"), table, parts, plan.partitions)
    return len(joined)


def make_block(task: Task) -> BlockSize:
    """Task: the links to the documents of a partition, and how many each source has among them."""
    place = task.open()
    plan = task.plan(place)
    keys = _keys(task, place)
    pairs = [np.empty(0, np.int64)]
    for table in read_part(place, task.files("edges", plan.partitions), task.number):
        nodes = places_in(keys, column(table, "target"))
        known = nodes >= 0
        pairs.append(_pairs(nodes[known], column(table, "source")[known]))
    if task.hops:
        pairs += [
            _pairs(column(table, "target").astype(np.int64) - task.first, column(table, "source"))
            for table in read_part(place, task.files("led", plan.partitions), task.number)
        ]
    joined = distinct(np.concatenate(pairs))
    targets, sources = joined >> 32, (joined & 0xFFFFFFFF).astype(np.int32)
    other = targets + task.first != sources
    targets, sources = targets[other], sources[other]
    indptr = np.searchsorted(targets, np.arange(len(keys) + 1))
    if len(keys):
        urls = msgspec.msgpack.decode(place.get(task.own("urls")), type=list[str])
        write_block(place, task.graph, task.block, indptr, sources, keys, urls)
    _send_degrees(task, place, plan, sources)
    return BlockSize(len(keys), len(sources))


def _pairs(targets: Ints, sources: Numbers) -> Ints:
    """Target and source in one number, in the order of both; each pair once."""
    return distinct((targets << 32) | sources)


def _send_degrees(task: Task, place: Place, plan: Plan, sources: Numbers) -> None:
    nodes, counts = np.unique(sources, return_counts=True)
    starts = read_array(place, f"{task.work}starts")
    parts = (np.searchsorted(starts, nodes, side="right") - 1).astype(np.int32)
    table = pa.table({"source": nodes, "links": counts.astype(np.int32)})
    write_parts(place, task.own("degrees"), table, parts, plan.partitions)


def make_nodes(task: Task) -> None:
    """Task: out-degrees of a partition's documents, and the numbers of their sites among all sites."""
    place = task.open()
    plan = task.plan(place)
    out = np.zeros(len(_keys(task, place)), np.int32)
    for table in read_part(place, task.files("degrees", plan.partitions), task.number):
        out[column(table, "source") - task.first] += column(table, "links")
    write_array(place, task.own("out"), out)
    names = msgspec.json.decode(place.get(f"{task.graph}sites.json"), type=list[str])
    number_of = {name: number for number, name in enumerate(names)}
    own = msgspec.msgpack.decode(place.get(task.own("site_names")), type=list[str])
    numbers = np.array([number_of[name] for name in own], np.int32)
    write_array(place, task.own("sites"), numbers[read_array(place, task.own("local_sites"))])


def _keys(task: Task, place: Place) -> Ints:
    keys: Ints = read_array(place, task.own("keys"))
    return keys


def _send(task: Task, place: Place, plan: Plan, name: str, columns: dict[str, Ints | Numbers], by: Ints) -> None:
    parts = range_of(by, plan.partitions)
    write_parts(place, task.own(name), pa.table(columns), parts, plan.partitions)
