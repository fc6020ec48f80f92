"""Files of publishers: found in the data folder, or downloaded into it."""

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
    """A file as its publisher ships it.

    Attributes
    ----------
    path : str
        Where it belongs in the data folder.
    rows : int
        How many rows it has.
    publisher : str
        Whom to get it from, in words.
    urls : tuple of str
        Addresses of it, the first that answers is taken; none where it is to be had by hand only.
    sha256 : str or None
        Checksum of what the addresses have.
    member : str or None
        Its name in the tar archive that the addresses have; None where they have the file itself.
    recipe : str or None
        How to make it, where nobody publishes it as it is.
    """

    path: str
    rows: int
    publisher: str
    urls: tuple[str, ...] = ()
    sha256: str | None = None
    member: str | None = None
    recipe: str | None = None

    def instructions(self) -> str:
        """How to get it by hand."""
        if self.recipe is not None:
            return self.recipe
        what = "it" if self.member is None else f"{self.member} of the archive"
        where = f" ({self.urls[0]})" if self.urls else ""
        return f"Get {what} from {self.publisher}{where}, and put it there by that name."

    def in_folder(self, folder: Path, *, download: bool = True, progress: bool = False) -> Path:
        """Path of the file, which is downloaded if it is missing.

        Parameters
        ----------
        folder : Path
            The data folder.
        download : bool, default=True
            Whether to download it if it is missing.
        progress : bool, default=False
            Whether to tell on standard error how far a download is.
        """
        check.boolean("download", download)
        check.boolean("progress", progress)
        path = folder / self.path
        if path.is_file():
            return path
        missing = f"{self.path} is not in the data folder {folder}"
        by_hand = self.instructions()
        if not download or not self.urls:
            raise FileNotFoundError(f"{missing}. {by_hand}")
        failures: list[tuple[str, Exception]] = []
        for url in self.urls:
            try:
                return self._download(url, path, progress, by_hand)
            except (OSError, http.client.HTTPException, ValueError) as error:
                failures.append((url, error))
        told = "; ".join(f"{url}: {error}" for url, error in failures)
        if any(isinstance(error, ValueError) for _, error in failures):
            raise ValueError(f"{missing}, and what can be downloaded is not it ({told}). {by_hand}")
        raise FileNotFoundError(
            f"{missing}, and could not be downloaded ({told}). What was received is kept: the next "
            f"try goes on from there. {by_hand}"
        )

    def _download(self, url: str, path: Path, progress: bool, by_hand: str) -> Path:
        pooch = import_pooch(by_hand)
        folder = path.parent
        name = path.name
        if self.member is not None:
            folder, name = _top(path, self.path), url.rsplit("/", 1)[-1]
        shelf = pooch.create(
            path=folder, base_url="", registry={name: self.sha256}, urls={name: url}
        )
        downloader = ResumingDownloader(folder / f"{name}.part", progress=progress)
        received = Path(shelf.fetch(name, downloader=downloader))
        if self.member is not None:
            _extract(received, self.member, path)
        return path


def _top(path: Path, below: str) -> Path:
    """The folder of the data set: the first one of the path below the data folder."""
    return path.parents[len(Path(below).parts) - 2]


def _extract(archive: Path, member: str, path: Path) -> None:
    """Take one file out of an archive; it has its name only when it is whole."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.part")
    with tarfile.open(archive) as tar:
        source = tar.extractfile(member)
        if source is None:
            raise ValueError(f"{archive}: {member} is not a file")
        with closing(source), part.open("wb") as out:
            shutil.copyfileobj(source, out)
    part.replace(path)


class ResumingDownloader:
    """A downloader for pooch that goes on where an earlier one was interrupted.

    Parameters
    ----------
    part : Path
        File for what has been received so far, which outlives an interruption.
    progress : bool, default=False
        Whether to tell on standard error how much has been received, about every second.
    """

    def __init__(self, part: Path, *, progress: bool = False) -> None:
        self.part = part
        self.progress = progress

    def __call__(self, url: str, output_file: str, pooch: Any, check_only: bool = False) -> None:
        """Download `url`, in as many connections as it takes, and move it to `output_file`.

        Each connection must bring something more than those before: this ends.
        """
        while not self._receive(url):
            pass
        os.replace(self.part, output_file)

    def _receive(self, url: str) -> bool:
        """Receive as much as one connection brings; whether the file is whole now."""
        before = self.part.stat().st_size if self.part.exists() else 0
        headers = {"User-Agent": "puforest"} | ({"Range": f"bytes={before}-"} if before else {})
        try:
            response = urlopen(Request(url, headers=headers), timeout=TIMEOUT)
        except HTTPError as error:
            error.close()
            if error.code != 416 or not before:
                raise
            self.part.unlink()  # no beginning of this file: as long as it, or longer
            return False
        with response:
            start = before if response.status == 206 else 0  # else the server begins anew
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
        """Copy to the end or to an interruption, which is returned."""
        done, spoke = start, time.monotonic()
        while True:
            try:
                chunk = response.read(CHUNK)
            except (OSError, http.client.HTTPException) as error:
                return error
            out.write(chunk)
            done += len(chunk)
            if self.progress and (not chunk or time.monotonic() - spoke >= 1):
                spoke = time.monotonic()
                of_total = "" if total is None else f" of {total / 1e6:.1f}"
                name = self.part.name.removesuffix(".part")
                print(f"puforest: {name}: {done / 1e6:.1f}{of_total} MB", file=sys.stderr)
            if not chunk:
                return None
