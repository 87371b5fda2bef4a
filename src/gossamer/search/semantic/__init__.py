"""Searching by meaning: texts become vectors, and near vectors mean alike."""
