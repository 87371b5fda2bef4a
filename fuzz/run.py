"""Coverage-guided fuzzing of one target, or all, for a bounded time (atheris, libFuzzer).

Exit code 0: nothing was found. Inputs that crash or take too long are kept in `fuzz/crashes`.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
SEEDS = {
    "pages": [
        b"\x10<!doctype html><html lang=ru><head><title>T</title><meta property=og:type content=article>"
        b'<script type=application/ld+json>{"@graph":[{"@type":"NewsArticle","articleBody":"x"}]}</script>'
        b"<body><nav class=menu><a href=/a>a</a></nav><main><h1>T</h1><p>words and words, more of them.</p></main>",
        b"\x00<table><tr><td>a<td>b</table><script>location.href='/next'</script><time pubdate datetime=2024-05-03>",
        b"\x03%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj 2 0 obj<</Type/Pages/Kids[]/Count 0>>endobj\n%%EOF",
    ],
    "dates": [
        b"3 May 2024",
        "3 мая 2024".encode(),
        "2024年5月3日".encode(),
        b"2024-05-03T10:00:00+02:00",
        b"03.05.2024",
    ],
    "rules": [
        b"[[rule]]\ndomain = 'site.example'\nurls = ['/{year}/{id}', '^/news/\\d+$']\ntext = ['article']\n"
        b"date = ['time@datetime']\ndate_format = '%d.%m.%Y'\nremove = ['.share']\ncategory = 'news'\n",
    ],
    "fingerprints": [b"the quick brown fox " * 10, "汉字没有空格".encode() * 10],
}


def fuzz_one(name: str, seconds: int, inputs: list[str]) -> int:
    """Runs in a process of its own: libFuzzer ends the process it runs in."""
    import atheris

    with atheris.instrument_imports(include=["gossamer"]):
        import targets
    target = targets.TARGETS[name]
    corpus = HERE / "corpus" / name
    corpus.mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(SEEDS[name]):
        (corpus / f"seed-{number}").write_bytes(seed)
    crashes = HERE / "crashes" / name
    crashes.mkdir(parents=True, exist_ok=True)
    options = [
        f"-max_total_time={seconds}",
        "-timeout=10",
        "-rss_limit_mb=4096",
        "-max_len=65536",
        "-print_final_stats=1",
    ]
    options.append(f"-artifact_prefix={crashes}/")
    atheris.Setup([sys.argv[0], *options, *(inputs or [str(corpus)])], lambda data: targets.run(target, data))
    atheris.Fuzz()
    return 0


def main() -> int:
    """All targets one after the other, or one."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target", nargs="?", choices=[*SEEDS, "all"], default="all")
    parser.add_argument("inputs", nargs="*", help="files to run again instead of fuzzing")
    parser.add_argument("--seconds", type=int, default=60, help="time for each target")
    options = parser.parse_args()
    if options.target != "all":
        return fuzz_one(options.target, options.seconds, options.inputs)
    failed = []
    for name in SEEDS:
        print(f"== {name}: {options.seconds} s", flush=True)
        command = [sys.executable, str(HERE / "run.py"), name, "--seconds", str(options.seconds)]
        if subprocess.run(command, env={**os.environ, "PYTHONPATH": str(HERE)}, check=False).returncode:
            failed.append(name)
    print(f"failed: {', '.join(failed)}: see fuzz/crashes" if failed else "nothing found")
    return len(failed)


if __name__ == "__main__":
    sys.exit(main())
