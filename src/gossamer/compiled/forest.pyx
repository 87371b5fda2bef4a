"""The twin of `parse.text.forest.Forest.scores`: trees one after the other, samples side by side."""

import numpy as np

cdef enum:
    CHUNK = 256  # samples walked together: their answers stay in the first cache


def scores(
    const float[:, ::1] rows,
    const int[:, ::1] features,
    const float[:, ::1] borders,
    const float[:, :, ::1] leaves,
    const float[::1] bias,
):
    """Features × samples → samples × outputs.

    `features` and `borders`: trees × depth, the question of each level; `leaves`: trees × 2^depth × outputs."""
    cdef Py_ssize_t samples = rows.shape[1], trees = features.shape[0], depth = features.shape[1]
    cdef Py_ssize_t outputs = leaves.shape[2], tree, level, sample, output, start, size
    cdef int leaf[CHUNK]
    cdef const float *row
    cdef const float *values
    cdef float border
    cdef float[:, ::1] total
    for tree in range(trees):
        for level in range(depth):
            if not 0 <= features[tree, level] < rows.shape[0]:
                raise ValueError("the trees ask for rows that are not there")
    if leaves.shape[0] != trees or leaves.shape[1] != 1 << depth or bias.shape[0] != outputs:
        raise ValueError("the leaves are not those of the trees")
    found = np.zeros((samples, outputs), np.float32)
    total = found
    for start in range(0, samples, CHUNK):
        size = min(<Py_ssize_t>CHUNK, samples - start)
        for tree in range(trees):
            for sample in range(size):
                leaf[sample] = 0
            for level in range(depth):
                row = &rows[features[tree, level], start]
                border = borders[tree, level]
                for sample in range(size):
                    leaf[sample] |= (row[sample] > border) << level
            values = &leaves[tree, 0, 0]
            if outputs == 1:
                for sample in range(size):
                    total[start + sample, 0] += values[leaf[sample]]
            else:
                for sample in range(size):
                    for output in range(outputs):
                        total[start + sample, output] += values[leaf[sample] * outputs + output]
    for sample in range(samples):
        for output in range(outputs):
            total[sample, output] += bias[output]
    return found
