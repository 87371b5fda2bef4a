"""Writes a sentence embedder of the BERT family as an ONNX graph with weights of eight bits.

The weights come as `model.safetensors` has them. The graph takes the numbers of one text's pieces and their places, and
gives the mean of the last layer: one text at a time, without padding, so that a text's vector does not depend on the
texts that come with it.

**Eight bits.** A weight matrix is stored as whole numbers with one scale for each column (one for all would drift), and
multiplied with inputs that are brought to eight bits on the way. The numbers go to ±63 only: with larger ones,
processors that add pairs of products in 16 bits would overflow, and give other vectors than those that do not. The
table of words has a scale for each row and is not multiplied, so it goes to ±127.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from gossamer.errors import CorruptError, SemanticError

_OPSET = 17
_IR_VERSION = 8
_STEPS = 63
_WORD_STEPS = 127
_KINDS: dict[str, np.dtype[Any]] = {"F32": np.dtype("<f4"), "F16": np.dtype("<f2")}

Tensors = Mapping[str, NDArray[np.float32]]


class BertConfig(msgspec.Struct, frozen=True):
    """What `config.json` says of a model."""

    hidden_size: int
    num_hidden_layers: int
    num_attention_heads: int
    max_position_embeddings: int
    model_type: str = "bert"
    hidden_act: str = "gelu"
    layer_norm_eps: float = 1e-12
    position_embedding_type: str = "absolute"

    def check(self) -> None:
        """Raise a `SemanticError` for a model that this module cannot write."""
        kind = (self.model_type, self.hidden_act, self.position_embedding_type)
        if kind != ("bert", "gelu", "absolute"):
            raise SemanticError(
                f"the model is of the kind {'/'.join(kind)}: only bert/gelu/absolute can be used; name another one"
            )


def read_tensors(path: Path) -> dict[str, NDArray[np.float32]]:
    """The tensors of a `.safetensors` file: a length, a table in JSON, and the numbers."""
    try:
        data = np.memmap(path, np.uint8, "r")
        size = int.from_bytes(data[:8].tobytes(), "little")
        table = json.loads(data[8 : 8 + size].tobytes())
        return {name: _tensor(data[8 + size :], told) for name, told in table.items() if told.get("dtype") in _KINDS}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise CorruptError(f"the weights in {path} cannot be read: install the model again") from error


def _tensor(data: NDArray[np.uint8], told: dict[str, Any]) -> NDArray[np.float32]:
    start, end = told["data_offsets"]
    return np.asarray(data[start:end].view(_KINDS[told["dtype"]]).reshape(told["shape"]), np.float32)


def write_graph(config: BertConfig, tensors: Tensors, exact: bool = False) -> bytes:
    """The graph of a model; `exact`: with weights as they are, to compare with."""
    config.check()
    try:
        return _Writer(config, tensors, exact).written()
    except KeyError as error:
        raise CorruptError(f"the model has no weights {error}: install it again") from error


class _Writer:
    """Adds node after node; every method returns the name of what comes out."""

    def __init__(self, config: BertConfig, tensors: Tensors, exact: bool) -> None:
        # Imported here: only who makes a graph needs it.
        import onnx

        self._onnx: Any = onnx
        self._config, self._exact = config, exact
        begin = next((name.split("embeddings.", 1)[0] for name in tensors if "embeddings.word" in name), "")
        self._tensors = {name.removeprefix(begin): tensor for name, tensor in tensors.items()}
        self._nodes: list[Any] = []
        self._constants: list[Any] = []

    def written(self) -> bytes:
        values = self._embedded()
        for number in range(self._config.num_hidden_layers):
            values = self._layer(f"encoder.layer.{number}.", values)
        self._node("ReduceMean", values, out="vector", axes=[1], keepdims=0)
        make, kinds = self._onnx.helper, self._onnx.TensorProto
        graph = make.make_graph(
            self._nodes, "embedder",
            [make.make_tensor_value_info(name, kinds.INT64, [1, "pieces"]) for name in ("pieces", "places")],
            [make.make_tensor_value_info("vector", kinds.FLOAT, [1, self._config.hidden_size])],
            self._constants,
        )  # fmt: skip
        model = make.make_model(graph, opset_imports=[make.make_opsetid("", _OPSET)])
        model.ir_version = _IR_VERSION
        return bytes(model.SerializeToString())

    def _embedded(self) -> str:
        """Word, place and kind of each piece, added up; all pieces are of the first kind."""
        words = self._tensors["embeddings.word_embeddings.weight"]
        kind = self._tensors["embeddings.token_type_embeddings.weight"][0]
        places = self._tensors["embeddings.position_embeddings.weight"] + kind
        at = self._node("Gather", self._constant(places), "places")
        return self._normal("embeddings.LayerNorm", self._node("Add", self._words(words), at))

    def _words(self, words: NDArray[np.float32]) -> str:
        if self._exact:
            return self._node("Gather", self._constant(words), "pieces")
        whole, scales = _in_steps(words, 1, _WORD_STEPS)
        rows = self._node("Gather", self._constant(whole), "pieces")
        scale = self._node("Gather", self._constant(scales), "pieces")
        return self._node("Mul", self._floats(rows), scale)

    def _layer(self, name: str, values: str) -> str:
        attended = self._linear([f"{name}attention.output.dense"], self._attention(f"{name}attention.self.", values))
        values = self._normal(f"{name}attention.output.LayerNorm", self._node("Add", attended, values))
        inner = self._gelu(self._linear([f"{name}intermediate.dense"], values))
        outer = self._linear([f"{name}output.dense"], inner)
        return self._normal(f"{name}output.LayerNorm", self._node("Add", outer, values))

    def _attention(self, name: str, values: str) -> str:
        heads = self._config.num_attention_heads
        width = self._config.hidden_size // heads
        all_three = self._linear([f"{name}{part}" for part in ("query", "key", "value")], values)
        shaped = self._node("Reshape", all_three, self._constant(np.array([0, 0, 3, heads, width], np.int64)))
        apart = self._node("Transpose", shaped, perm=[2, 0, 3, 1, 4])
        query, key, value = (self._node("Gather", apart, self._constant(np.int64(part)), axis=0) for part in range(3))
        turned = self._node("Transpose", key, perm=[0, 1, 3, 2])
        scores = self._node(
            "Mul", self._node("MatMul", query, turned), self._constant(np.float32(1 / math.sqrt(width)))
        )
        seen = self._node("MatMul", self._node("Softmax", scores, axis=-1), value)
        joined = self._node("Transpose", seen, perm=[0, 2, 1, 3])
        return self._node("Reshape", joined, self._constant(np.array([0, 0, heads * width], np.int64)))

    def _linear(self, names: list[str], values: str) -> str:
        """Values times weights plus biases; several layers side by side."""
        weights = np.concatenate([self._tensors[f"{name}.weight"] for name in names]).T
        biases = self._constant(np.concatenate([self._tensors[f"{name}.bias"] for name in names]))
        if self._exact:
            return self._node(
                "Add", self._node("MatMul", values, self._constant(np.ascontiguousarray(weights))), biases
            )
        whole, scales = _in_steps(weights, 0, _STEPS)
        short, scale, zero = self._nodes_of("DynamicQuantizeLinear", 3, values)
        product = self._node("MatMulInteger", short, self._constant(whole), zero)
        factor = self._node("Mul", scale, self._constant(scales[0]))
        return self._node("Add", self._node("Mul", self._floats(product), factor), biases)

    def _normal(self, name: str, values: str) -> str:
        weight, bias = (self._constant(self._tensors[f"{name}.{part}"]) for part in ("weight", "bias"))
        return self._node("LayerNormalization", values, weight, bias, axis=-1, epsilon=self._config.layer_norm_eps)

    def _gelu(self, values: str) -> str:
        """x · ½ · (1 + erf(x / √2)), in the form that the runtime knows as one step."""
        error = self._node("Erf", self._node("Div", values, self._constant(np.float32(math.sqrt(2)))))
        grown = self._node("Mul", values, self._node("Add", error, self._constant(np.float32(1))))
        return self._node("Mul", grown, self._constant(np.float32(0.5)))

    def _floats(self, values: str) -> str:
        return self._node("Cast", values, to=self._onnx.TensorProto.FLOAT)

    def _constant(self, values: NDArray[Any] | np.generic) -> str:
        name = f"c{len(self._constants)}"
        self._constants.append(self._onnx.numpy_helper.from_array(np.asarray(values), name))
        return name

    def _node(self, kind: str, *inputs: str, out: str = "", **attributes: Any) -> str:
        (only,) = self._nodes_of(kind, 1, *inputs, out=out, **attributes)
        return only

    def _nodes_of(self, kind: str, outputs: int, *inputs: str, out: str = "", **attributes: Any) -> list[str]:
        names = [out] if out else [f"n{len(self._nodes)}_{number}" for number in range(outputs)]
        self._nodes.append(self._onnx.helper.make_node(kind, list(inputs), names, **attributes))
        return names


def _in_steps(weights: NDArray[np.float32], axis: int, steps: int) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Weights as whole numbers, and what one of them is worth along an axis."""
    scales = np.maximum(np.abs(weights).max(axis, keepdims=True) / np.float32(steps), np.float32(1e-12))
    return np.rint(weights / scales).astype(np.int8), scales.astype(np.float32)
