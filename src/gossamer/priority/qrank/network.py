"""The network that makes an importance of features: inputs, a hidden layer thrice as wide, one output (S4.2).

Both layers end in a sigmoid. What standardises the inputs is part of the first layer's weights, so that
a prediction is two products of matrices.
"""

from __future__ import annotations

import msgspec
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]

HIDDEN = 3
"""Hidden neurons for each input."""
_CHUNK = 1024
"""Rows worked out together: the hidden layer stays in the processor's cache."""


class Network(msgspec.Struct, frozen=True):
    """The weights of a network, for some of the columns of a table of features."""

    columns: NDArray[np.int64]
    hidden: Floats
    """Columns × hidden neurons."""
    hidden_bias: Floats
    output: Floats
    """Hidden neurons."""
    output_bias: float

    def predict(self, rows: Floats) -> Floats:
        """A value of (0, 1) for each row of features."""
        values = np.empty(len(rows), np.float32)
        for start in range(0, len(rows), _CHUNK):
            part = rows[start : start + _CHUNK, self.columns]
            layer = part @ self.hidden
            layer += self.hidden_bias
            values[start : start + _CHUNK] = _sigmoid(layer) @ self.output
        values += np.float32(self.output_bias)
        return _sigmoid(values)


def _sigmoid(values: Floats) -> Floats:
    """1 / (1 + e^-x), in place; by the hyperbolic tangent, which never overflows."""
    values *= np.float32(0.5)
    np.tanh(values, out=values)
    values *= np.float32(0.5)
    values += np.float32(0.5)
    return values
