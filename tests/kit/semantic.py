"""A model of a few kilobytes with the parts of a large one, and the same calculation in NumPy."""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Sequence
from math import erf, sqrt
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

WORDS = [
    "[PAD]", "[UNK]", "[CLS]", "[SEP]", "a", "cat", "dog", "sat", "un", "##able", "##break", "rocket", "engine", "-",
    ".", "on", "the", "mat", "##s", "ß", "中", "##5", "3", "cafe", "!",
]  # fmt: skip
HIDDEN, HEADS, LAYERS, INNER, PLACES = 48, 4, 2, 96, 32
_EPSILON = 1e-12

Floats = NDArray[np.float32]


def small_weights(seed: int = 0) -> dict[str, Floats]:
    dice = np.random.default_rng(seed)
    shapes: dict[str, tuple[int, ...]] = {
        "embeddings.word_embeddings.weight": (len(WORDS), HIDDEN),
        "embeddings.position_embeddings.weight": (PLACES, HIDDEN),
        "embeddings.token_type_embeddings.weight": (2, HIDDEN),
        "embeddings.LayerNorm.weight": (HIDDEN,), "embeddings.LayerNorm.bias": (HIDDEN,),
    }  # fmt: skip
    for layer in range(LAYERS):
        begin = f"encoder.layer.{layer}."
        for part in ("attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense"):
            shapes |= {f"{begin}{part}.weight": (HIDDEN, HIDDEN), f"{begin}{part}.bias": (HIDDEN,)}
        shapes |= {f"{begin}intermediate.dense.weight": (INNER, HIDDEN), f"{begin}intermediate.dense.bias": (INNER,)}
        shapes |= {f"{begin}output.dense.weight": (HIDDEN, INNER), f"{begin}output.dense.bias": (HIDDEN,)}
        for part in ("attention.output.LayerNorm", "output.LayerNorm"):
            shapes |= {f"{begin}{part}.weight": (HIDDEN,), f"{begin}{part}.bias": (HIDDEN,)}
    found = {name: dice.normal(0, 0.3, shape).astype(np.float32) for name, shape in shapes.items()}
    return {name: values + ("LayerNorm.weight" in name) for name, values in found.items()}


def write_model(folder: Path, weights: dict[str, Floats] | None = None) -> Path:
    """The files of a model as they are published."""
    folder.mkdir(parents=True, exist_ok=True)
    weights = weights or small_weights()
    table, data = {}, b""
    for name, values in weights.items():
        piece = values.tobytes()
        table[name] = {"dtype": "F32", "shape": values.shape, "data_offsets": [len(data), len(data) + len(piece)]}
        data += piece
    head = json.dumps(table).encode()
    (folder / "model.safetensors").write_bytes(len(head).to_bytes(8, "little") + head + data)
    (folder / "vocab.txt").write_text("\n".join(WORDS) + "\n", encoding="utf-8")
    config = {
        "model_type": "bert", "hidden_act": "gelu", "hidden_size": HIDDEN, "num_hidden_layers": LAYERS,
        "num_attention_heads": HEADS, "max_position_embeddings": PLACES, "layer_norm_eps": _EPSILON,
    }  # fmt: skip
    (folder / "config.json").write_text(json.dumps(config))
    return folder


def vector_of(weights: dict[str, Floats], pieces: list[int]) -> Floats:
    """What the model says of one text, calculated step by step."""

    def linear(name: str, values: Floats) -> Floats:
        return values @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]

    def normal(name: str, values: Floats) -> Floats:
        centred = values - values.mean(-1, keepdims=True)
        return (
            centred / np.sqrt((centred**2).mean(-1, keepdims=True) + _EPSILON) * weights[f"{name}.weight"]
            + weights[f"{name}.bias"]
        )

    def heads(values: Floats) -> Floats:
        return values.reshape(len(values), HEADS, -1).transpose(1, 0, 2)

    values = weights["embeddings.word_embeddings.weight"][pieces]
    values = values + weights["embeddings.position_embeddings.weight"][: len(pieces)]
    values = normal("embeddings.LayerNorm", values + weights["embeddings.token_type_embeddings.weight"][0])
    for layer in range(LAYERS):
        begin = f"encoder.layer.{layer}."
        query, key, value = (heads(linear(f"{begin}attention.self.{one}", values)) for one in ("query", "key", "value"))
        scores = query @ key.transpose(0, 2, 1) / sqrt(HIDDEN // HEADS)
        shares = np.exp(scores - scores.max(-1, keepdims=True))
        shares /= shares.sum(-1, keepdims=True)
        seen = (shares @ value).transpose(1, 0, 2).reshape(len(values), HIDDEN)
        values = normal(f"{begin}attention.output.LayerNorm", linear(f"{begin}attention.output.dense", seen) + values)
        inner = linear(f"{begin}intermediate.dense", values)
        inner = inner * 0.5 * (1 + np.vectorize(erf)(inner / sqrt(2)))
        values = normal(f"{begin}output.LayerNorm", linear(f"{begin}output.dense", inner) + values)
    mean = values.mean(0)
    return np.asarray(mean / np.linalg.norm(mean), np.float32)


ALIKE = {"automobile": "car", "physician": "doctor"}


class WordsEncoder:
    """Texts mean the sum of their words; some words mean the same as others."""

    name, size = "words", 512

    def __init__(self) -> None:
        self.texts: list[str] = []

    def encode(self, texts: Sequence[str]) -> Floats:
        self.texts += texts
        found = np.array([self._vector(text) for text in texts], np.float32).reshape(len(texts), self.size)
        return found / np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-9)

    def _vector(self, text: str) -> Floats:
        words = re.findall(r"\w+", text.lower())
        directions = [self._direction(ALIKE.get(word, word)) for word in words]
        return np.asarray(np.sum(directions, axis=0) if directions else np.zeros(self.size), np.float32)

    def _direction(self, word: str) -> Floats:
        return np.random.default_rng(list(word.encode())).normal(size=self.size).astype(np.float32)


class CountingEncoder:
    """Another direction for each text, for nothing; remembers what it was asked."""

    name, size = "counting", 64

    def __init__(self) -> None:
        self.texts: list[str] = []

    def encode(self, texts: Sequence[str]) -> Floats:
        self.texts += texts
        found = [np.random.default_rng(zlib.crc32(text.encode())).normal(size=self.size) for text in texts]
        vectors = np.array(found, np.float32).reshape(len(texts), self.size)
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
