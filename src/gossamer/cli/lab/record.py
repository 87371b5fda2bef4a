"""`gossamer lab record`: webs to replay."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from gossamer.cli.common import DEFAULT_DATA, Data, Debug, Json, out, print_json, size
from gossamer.data.folder import DataFolder
from gossamer.errors import UsageError
from gossamer.lab.webs.files import web_of_files
from gossamer.lab.webs.recorder import record as record_folder
from gossamer.lab.webs.web import SUFFIX, RecordedWeb, save_web

_ORIGIN = re.compile(r"https?://[^/?#]+/?", re.IGNORECASE)
Output = Annotated[Path | None, Parameter(name=["--out", "-o"])]


def record(
    *,
    data: Data = DEFAULT_DATA,
    files: Annotated[Path | None, Parameter(name="--files")] = None,
    origin: str = "",
    start: str = "/",
    name: str = "",
    file: Output = None,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Record the responses of a crawl, page by page, for `gossamer lab replay`.

    Parameters
    ----------
    files
        Record a site from a folder of files instead of a crawl.
    origin
        With --files: scheme and host of the site, such as http://www.example.org.
    start
        With --files: the path of its start page.
    name
        Name of the recording; default: the name of the folder.
    file
        The file to write; default: NAME.web.parquet.
    """
    if files is not None:
        if not _ORIGIN.fullmatch(origin):
            raise UsageError("--files needs --origin: scheme and host of the site, such as http://www.example.org")
        if not files.is_dir():
            raise UsageError(f"{files} is not a folder: --files needs a folder with the files of a site")
        path = f"/{start.removeprefix('/')}"
        web = web_of_files(files, origin.rstrip("/").lower(), name=name or files.resolve().name, start=path)
    else:
        folder = DataFolder(data)
        if not folder.has_crawl():
            raise UsageError(f"there is no crawl in {data}: name another --data folder, or a site with --files")
        web = record_folder(folder, name or data.resolve().name)
    save(web, file, json)


def save(web: RecordedWeb, file: Path | None, json: bool) -> None:
    """Write the file of a web, and print what is in it."""
    path = file or Path(web.name + SUFFIX)
    try:
        save_web(web, path)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from error
    figures = {
        "file": str(path), "urls": len(web), "fetched": int(web.fetched.sum()), "links": len(web.links.values),
        "changes": len(web.changes.values), "useful": int(web.useful.sum()), "bytes": path.stat().st_size,
    }  # fmt: skip
    if json:
        print_json(figures)
        return
    out.print(
        f"{path}: {figures['urls']:,} URLs, {figures['fetched']:,} with a response, {figures['links']:,} links, "
        f"{figures['changes']:,} changes, {figures['useful']:,} useful pages; {size(path.stat().st_size)}",
        markup=False,
    )
