"""The classifier of a data folder: one file, replaced as a whole."""

from __future__ import annotations

from collections.abc import Callable

from gossamer.categories.model import SOURCE, Model, model_of
from gossamer.data.folder import DataFolder
from gossamer.errors import CorruptError, StorageError, UsageError
from gossamer.store.durable import replace_file, storing


def model_bytes(folder: DataFolder) -> bytes:
    """The stored classifier, checked; empty if there is none."""
    try:
        data = folder.categories.read_bytes()
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise StorageError(f"cannot read {folder.categories}: {error.strerror}: check its permissions") from error
    try:
        model_of(data)
    except CorruptError as error:
        raise CorruptError(f"{folder.categories}: {error}") from error
    return data


def load_model(folder: DataFolder) -> Model:
    """The classifier of a folder; raises a `UsageError` if none was trained."""
    model = model_of(model_bytes(folder))
    if model is None:
        raise UsageError(f"{folder.root} has no categories yet: run `gossamer categories train`")
    return model


def save_model(folder: DataFolder, model: Model) -> None:
    """Replace the classifier; a power cut leaves the old or the new one."""
    folder.create()
    with storing(folder.categories):
        replace_file(folder.categories, model.to_bytes())


def categoriser(folder: DataFolder) -> Callable[[str, str], tuple[str, str]]:
    """`categorise(title, text)` → category and source by the folder's classifier, both empty if it is unsure or there
    is none: for pages that were stored before it was trained."""
    model = model_of(model_bytes(folder))

    def categorise(title: str, text: str) -> tuple[str, str]:
        category = model.predict(title, text).category if model is not None else ""
        return category, SOURCE if category else ""

    return categorise
