"""A QRank model as a file: arrays without pickles, and what they were made for.

A model says two things of a URL. Its *place* among the pages of its site, 0 for the last and 1 for
the first, is what orders a queue. Its *importance* is the same on the scale of S4.2: PageRank in
logarithmic steps, as search engines publish it, from the site's least page, 0, to its greatest, 1. Few
pages are important, so a table turns places into importances; the order stays the same.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Sequence
from functools import cache
from importlib.resources import files

import msgspec
import numpy as np
from numpy.typing import NDArray

from gossamer.errors import UsageError
from gossamer.priority.qrank.features import NAMES, features
from gossamer.priority.qrank.network import Network

VERSION = 1
"""Of the file. A model made for other features is refused by their names."""
_FILE = "qrank.npz"
_SHAPES = {"hidden": 2, "hidden_bias": 1, "output": 1, "output_bias": 0, "places": 1, "importances": 1}


class Model(msgspec.Struct, frozen=True):
    """A network and the table that turns its places into importances."""

    network: Network
    places: NDArray[np.float32]
    """Ascending."""
    importances: NDArray[np.float32]

    def place(self, urls: Sequence[str]) -> NDArray[np.float32]:
        """Where each URL stands among the pages of its site: 0, last, to 1, first."""
        return self.network.predict(features(urls))

    def importance(self, urls: Sequence[str]) -> NDArray[np.float32]:
        """The importance of each URL, 0…1, as PageRank in logarithmic steps."""
        return self.scaled(self.place(urls))

    def scaled(self, places: NDArray[np.float32]) -> NDArray[np.float32]:
        """The importances that places mean."""
        return np.interp(places, self.places, self.importances).astype(np.float32)

    def dump(self) -> bytes:
        """The model as a file; the same model gives the same bytes."""
        network = self.network
        arrays = {
            "version": np.array(VERSION),
            "names": np.array([NAMES[column] for column in network.columns]),
            "hidden": network.hidden,
            "hidden_bias": network.hidden_bias,
            "output": network.output,
            "output_bias": np.array(network.output_bias, np.float32),
            "places": self.places,
            "importances": self.importances,
        }
        return _zipped(arrays)


def load_model(data: bytes) -> Model:
    """The model in a file that `gossamer qrank train` made."""
    arrays = _arrays(data)
    names = [str(name) for name in arrays["names"]]
    unknown = [name for name in names if name not in NAMES]
    if unknown:
        raise UsageError(
            f"the QRank model wants a feature '{unknown[0]}' that this version does not know; train it anew"
        )
    columns = np.array([NAMES.index(name) for name in names], np.int64)
    hidden, output = arrays["hidden"], arrays["output"]
    fits = hidden.shape == (len(names), len(output)) and arrays["hidden_bias"].shape == output.shape
    if (
        not fits
        or len(names) == 0
        or arrays["places"].shape != arrays["importances"].shape
        or not len(arrays["places"])
    ):
        raise UsageError("the QRank model's arrays do not fit together; train it anew")
    network = Network(columns, hidden, arrays["hidden_bias"], output, float(arrays["output_bias"]))
    return Model(network, arrays["places"], arrays["importances"])


@cache
def default_model() -> Model:
    """The model that comes with Gossamer."""
    return load_model((files("gossamer.priority.qrank") / "data" / _FILE).read_bytes())


def _arrays(data: bytes) -> dict[str, NDArray[np.float32]]:
    """The arrays of a file, numbers as 32-bit floats; names and number of dimensions are checked."""
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in stored.files}
        version = int(arrays["version"])
        numbers = {name: np.asarray(arrays[name], np.float32) for name in _SHAPES}
        names = arrays["names"]
    except (ValueError, KeyError, TypeError, OSError, EOFError, zipfile.BadZipFile) as error:
        raise UsageError("this is not a QRank model; make one with `gossamer qrank train`") from error
    if version != VERSION:
        raise UsageError(f"the QRank model is of version {version}, this Gossamer reads {VERSION}; train it anew")
    bad = [name for name, array in numbers.items() if array.ndim != _SHAPES[name] or not np.isfinite(array).all()]
    if bad or names.ndim != 1 or names.dtype.kind != "U":
        raise UsageError(f"the QRank model's '{bad[0] if bad else 'names'}' is damaged; train it anew")
    return {**numbers, "names": names}


def _zipped(arrays: dict[str, NDArray[np.generic]]) -> bytes:
    """As `numpy.savez_compressed`, but without the time of day in it."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as file:
        for name, array in arrays.items():
            content = io.BytesIO()
            np.lib.format.write_array(content, array, allow_pickle=False)
            file.writestr(zipfile.ZipInfo(f"{name}.npy"), content.getvalue(), zipfile.ZIP_DEFLATED)
    return target.getvalue()
