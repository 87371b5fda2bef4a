"""The settings name an engine."""

from __future__ import annotations

from pathlib import Path

import pytest

from gossamer.engine.config import EngineConfig
from gossamer.engine.opening import open_engine
from gossamer.errors import UsageError
from gossamer.settings import load


def test_without_settings_it_is_the_local_one_with_all_cores() -> None:
    engine = open_engine(EngineConfig())
    assert engine.name == "local"
    engine.close()


def test_files_between_tasks_lie_in_the_data_folder_unless_told(tmp_path: Path) -> None:
    assert EngineConfig().work_url(tmp_path) == str(tmp_path / "jobs")
    assert EngineConfig(work="s3://bucket/jobs").work_url(tmp_path) == "s3://bucket/jobs"


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ('kind = "ray"', "engine.kind is ray: engine.url must be the address"),
        ('url = "10.0.0.1:6379"', "engine.url is set, but engine.kind is local"),
        ('kind = "dask"', "engine.kind is 'dask': known are local, ray, spark"),
        ("workers = -1", "engine.workers is -1"),
        ('adress = "10.0.0.1:6379"', "unknown setting adress"),
    ],
)
def test_settings_that_do_not_go_together_are_told(tmp_path: Path, lines: str, message: str) -> None:
    (tmp_path / "gossamer.toml").write_text(f"[engine]\n{lines}\n")
    with pytest.raises(UsageError) as caught:
        load(tmp_path)
    assert message in str(caught.value)
