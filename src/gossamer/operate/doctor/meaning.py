"""The check of what searches by meaning need."""

from __future__ import annotations

from collections.abc import Iterator

from gossamer.data.index_place import index_place
from gossamer.errors import GossamerError
from gossamer.indexer.indexed import index_standing
from gossamer.model.counts import counted
from gossamer.operate.doctor.checks import Finding, Patient, bad, ok, warn

_MAKE = "`gossamer index --vectors` makes them; while a crawl runs, its indexer does"


def vectors(patient: Patient) -> Iterator[Finding]:
    """Whether searches by meaning, if they are switched on, have their library and undamaged vectors."""
    if not patient.settings.search.semantic or patient.database is None:
        return
    # NumPy and the search: who searches by words alone goes without.
    from gossamer.index.vectors.nearest import VectorViews
    from gossamer.index.vectors.store import VectorFolder
    from gossamer.search.semantic.encoder import RUNTIME, check_installed, find_prepared

    try:
        check_installed(RUNTIME)
        folder = VectorFolder(index_place(patient.folder, patient.settings.shards).root)
        view = VectorViews(folder).current()
    except GossamerError as error:
        yield bad("vectors", str(error), "until then, searches go by words alone")
        return
    if not len(view):
        yield warn("vectors", "search.semantic is set, but no page has a vector yet", _MAKE)
    elif find_prepared(folder.root, view.model) is None:
        yield bad("vectors", f"the model of the vectors in {folder.root} is missing", _MAKE)
    else:
        pages = index_standing(patient.folder, patient.database).documents
        yield ok("vectors", f"{counted(len(view), 'page')} of {pages:,} can be found by meaning")
