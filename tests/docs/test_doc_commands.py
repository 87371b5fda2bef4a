"""The commands of a page are found where they stand: what this misses, no test would run."""

from __future__ import annotations

from pathlib import Path

from doc_commands import Step, steps_of

PAGE = """# A page

<!-- run: mkdir data -->
```console
$ gossamer crawl https://www.example.org/ \\
      --data data     # politely
12 pages kept
$ gossamer search '# of pages'  # a remark
```

<!-- not run: it needs a database -->
```console
$ gossamer work --database postgresql://db/x
```

<!-- file: data/gossamer.toml -->
```toml
[crawl]
workers = 1
```

```console
$ cat > rules.toml <<'END'
[[rule]]   # kept
END
$ gossamer serve
```
<!-- stop -->

```python
$ not a command
```
"""


def test_commands_files_and_stops_come_in_their_order(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(PAGE)
    assert steps_of(page) == [
        Step("mkdir data"),
        Step("gossamer crawl https://www.example.org/ --data data"),
        Step("gossamer search '# of pages'"),
        Step("gossamer work --database postgresql://db/x", "it needs a database"),
        Step("cat >> data/gossamer.toml <<'WRITTEN'\n[crawl]\nworkers = 1\nWRITTEN"),
        Step("cat > rules.toml <<'END'\n[[rule]]   # kept\nEND"),
        Step("gossamer serve"),
        Step("stop"),
    ]


def test_what_runs_until_it_is_stopped_is_known() -> None:
    lasting = ["gossamer serve --port 0", "gossamer run", "gossamer crawl --watch", "gossamer index --data x --follow"]
    ending = ["gossamer crawl https://www.example.org/", "gossamer index --rebuild", "gossamer schedules list"]
    assert [command for command in lasting + ending if Step(command).is_lasting] == lasting
