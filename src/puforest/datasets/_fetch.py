"""Published files: found in the data folder or downloaded into it."""

from __future__ import annotations

import http.client
import os
import shutil
import sys
import tarfile
import time
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from puforest import _validation as check
from puforest.datasets._folder import import_pooch

TIMEOUT = 60.0
CHUNK = 2**18


@dataclass(frozen=True)
class PublishedFile:
    """A file as published."""

    path: str  # in the data folder
    rows: int
    publisher: str
    urls: tuple[str, ...] = ()  # tried in order; empty if it cannot be downloaded automatically
    sha256: str | None = None  # of the download
    member: str | None = None  # name in the archive at the addresses, if they serve one
    recipe: str | None = None  # how to build the file, if it is not published as such

    def instructions(self) -> str:
        """Describe how to get the file manually."""
        if self.recipe is not None:
            return self.recipe
        what = "it" if self.member is None else f"{self.member} from the archive"
        where = f" ({self.urls[0]})" if self.urls else ""
        return f"Download {what} from {self.publisher}{where} and save it there."

    def in_folder(self, folder: Path, *, download: bool = True, progress: bool = False) -> Path:
        """Return the path of the file in the data folder, after downloading it if missing."""
        check.boolean("download", download)
        check.boolean("progress", progress)
        path = folder / self.path
        if path.is_file():
            return path
        missing = f"{self.path} is not in the data folder {folder}"
        manually = self.instructions()
        if not download or not self.urls:
            raise FileNotFoundError(f"{missing}. {manually}")
        failures: list[tuple[str, Exception]] = []
        for url in self.urls:
            try:
                return self._download(url, path, progress)
            except (OSError, http.client.HTTPException, ValueError) as error:
                failures.append((url, error))
        reasons = "; ".join(f"{url}: {error}" for url, error in failures)
        if any(isinstance(error, ValueError) for _, error in failures):
            raise ValueError(
                f"{missing}, and the downloads are not the published file ({reasons}). {manually}"
            )
        parts = (_partial(self._received(url, path)) for url in self.urls)
        resumable = any(part.exists() and part.stat().st_size for part in parts)
        resumes = "The next attempt resumes the download. " if resumable else ""
        raise FileNotFoundError(
            f"{missing} and could not be downloaded ({reasons}). {resumes}{manually}"
        )

    def _received(self, url: str, path: Path) -> Path:
        """Path of the download: the file itself, or the archive in the data set's folder."""
        if self.member is None:
            return path
        return path.parents[len(Path(self.path).parts) - 2] / url.rsplit("/", 1)[-1]

    def _download(self, url: str, path: Path, progress: bool) -> Path:
        pooch = import_pooch(self.instructions())
        received = self._received(url, path)
        name = received.name
        shelf = pooch.create(
            path=received.parent, base_url="", registry={name: self.sha256}, urls={name: url}
        )
        shelf.fetch(name, downloader=ResumingDownloader(_partial(received), progress=progress))
        if self.member is not None:
            _extract(received, self.member, path)
        return path


def _partial(path: Path) -> Path:
    """Path of an incomplete file."""
    return path.with_name(f"{path.name}.part")


def _extract(archive: Path, member: str, path: Path) -> None:
    """Extract one file of an archive; it is written atomically."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = _partial(path)
    with tarfile.open(archive) as tar:
        source = tar.extractfile(member)
        if source is None:
            raise ValueError(f"{archive}: {member} is not a file")
        with closing(source), part.open("wb") as out:
            shutil.copyfileobj(source, out)
    part.replace(path)


class ResumingDownloader:
    """A downloader for pooch that resumes interrupted downloads from the file `part`.

    With `progress`, it reports the progress on standard error, about once per second.
    """

    def __init__(self, part: Path, *, progress: bool = False) -> None:
        self.part = part
        self.progress = progress

    def __call__(self, url: str, output_file: str, pooch: Any, check_only: bool = False) -> None:
        """Download `url` over as many connections as necessary, and move it to `output_file`.

        Every connection must make progress, so this terminates.
        """
        while not self._receive(url):
            pass
        os.replace(self.part, output_file)

    def _receive(self, url: str) -> bool:
        """Receive data over one connection; return whether the file is complete."""
        before = self.part.stat().st_size if self.part.exists() else 0
        headers = {"User-Agent": "puforest"} | ({"Range": f"bytes={before}-"} if before else {})
        try:
            response = urlopen(Request(url, headers=headers), timeout=TIMEOUT)
        except HTTPError as error:
            error.close()
            if error.code != 416 or not before:
                raise
            self.part.unlink()  # not a part of this file: at least as long as all of it
            return False
        with response:
            start = before if response.status == 206 else 0  # the server restarts
            length = response.headers["Content-Length"]
            total = None if length is None else start + int(length)
            with self.part.open("ab" if start else "wb") as out:
                interruption = self._copy(response, out, start, total)
        size = self.part.stat().st_size
        if interruption is None and total in (None, size):
            return True
        if size > before:
            return False
        raise ConnectionError(
            f"the connection ended after {size} of {total or 'an unknown number of'} bytes"
        ) from interruption

    def _copy(
        self, response: IO[bytes], out: IO[bytes], start: int, total: int | None
    ) -> Exception | None:
        """Copy until the end or an interruption, which is returned."""
        done, reported = start, time.monotonic()
        while True:
            try:
                chunk = response.read(CHUNK)
            except (OSError, http.client.HTTPException) as error:
                return error
            out.write(chunk)
            done += len(chunk)
            if self.progress and (not chunk or time.monotonic() - reported >= 1):
                reported = time.monotonic()
                of_total = "" if total is None else f" of {total / 1e6:.1f}"
                name = self.part.name.removesuffix(".part")
                print(f"puforest: {name}: {done / 1e6:.1f}{of_total} MB", file=sys.stderr)
            if not chunk:
                return None
