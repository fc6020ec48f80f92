"""Downloads of data sets, from a server in this process."""

import hashlib
import io
import tarfile
import threading
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from small_datasets import TARGETS, expect_small_files, small_files, write_files

from puforest.datasets import cifar10, load_cifar10, load_mnist, mnist
from puforest.datasets._fetch import PublishedFile, ResumingDownloader


@pytest.fixture
def small(tmp_path, monkeypatch):
    write_files(tmp_path, small_files())
    expect_small_files(monkeypatch)
    return tmp_path


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        server = self.server
        server.requests.append(self.headers["Range"])
        content = server.contents.get(self.path)
        if content is None:
            self.send_error(404)
            return
        start = 0
        if self.headers["Range"] and server.ranges:
            start = int(self.headers["Range"].removeprefix("bytes=").removesuffix("-"))
            if start >= len(content):
                self.send_error(416)
                return
        self.send_response(206 if start else 200)
        if server.lengths:
            self.send_header("Content-Length", str(len(content) - start))
        self.end_headers()
        cut = server.cuts.pop(0) if server.cuts else None
        self.wfile.write(content[start:] if cut is None else content[start : start + cut])

    def log_message(self, *_):
        pass


@pytest.fixture
def server():
    """A server of `contents`, which truncates its next responses to the lengths in `cuts`."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.contents, server.cuts, server.requests = {}, [], []
        server.ranges = server.lengths = True
        server.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


CONTENT = np.random.default_rng(1).bytes(50_000)
SHA256 = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture
def file(server):
    server.contents["/table.bin"] = CONTENT
    return PublishedFile("set/table.bin", 1, "the publisher", (f"{server.url}/table.bin",), SHA256)


def names_in(folder):
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


def test_download(server, file, tmp_path):
    path = file.in_folder(tmp_path)
    assert path == tmp_path / "set" / "table.bin"
    assert path.read_bytes() == CONTENT
    assert names_in(tmp_path) == ["table.bin"]
    file.in_folder(tmp_path)
    assert server.requests == [None]


def test_interrupted_downloads_are_resumed(server, file, tmp_path):
    server.cuts = [20_000, 10_000]
    assert file.in_folder(tmp_path).read_bytes() == CONTENT
    assert server.requests == [None, "bytes=20000-", "bytes=30000-"]
    assert names_in(tmp_path) == ["table.bin"]


def test_the_next_call_resumes(server, file, tmp_path):
    server.cuts = [20_000, 0]
    with pytest.raises(FileNotFoundError, match=r"20000 of 50000 bytes.*resumes the download"):
        file.in_folder(tmp_path)
    assert names_in(tmp_path) == ["table.bin.part"]
    assert file.in_folder(tmp_path).read_bytes() == CONTENT
    assert server.requests[-1] == "bytes=20000-"


def test_a_server_without_ranges_restarts(server, file, tmp_path):
    server.ranges = False
    server.cuts = [20_000]
    assert file.in_folder(tmp_path).read_bytes() == CONTENT
    assert len(server.requests) == 2


def test_a_server_that_makes_no_progress_fails(server, file, tmp_path):
    server.ranges = False
    server.cuts = [20_000] * 9
    with pytest.raises(FileNotFoundError, match="20000 of 50000 bytes"):
        file.in_folder(tmp_path)
    assert len(server.requests) == 2


def test_an_invalid_part_is_discarded(server, file, tmp_path):
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "table.bin.part").write_bytes(b"x" * 60_000)
    assert file.in_folder(tmp_path).read_bytes() == CONTENT
    assert server.requests == ["bytes=60000-", None]


def test_unknown_length(server, file, tmp_path):
    server.lengths = False
    assert file.in_folder(tmp_path).read_bytes() == CONTENT


def test_wrong_checksum(server, file, tmp_path):
    server.contents["/table.bin"] = CONTENT[:-1] + b"?"
    with pytest.raises(ValueError, match=r"hash of downloaded file \(table.bin\) does not match"):
        file.in_folder(tmp_path)
    assert names_in(tmp_path) == []
    server.contents["/table.bin"] = CONTENT
    assert file.in_folder(tmp_path).read_bytes() == CONTENT


def test_mirrors(server, file, tmp_path):
    two = replace(file, urls=(f"{server.url}/gone", *file.urls))
    assert two.in_folder(tmp_path / "a").read_bytes() == CONTENT
    server.contents["/other"] = b"not the file"
    other = replace(file, urls=(f"{server.url}/other", *file.urls))
    assert other.in_folder(tmp_path / "c").read_bytes() == CONTENT
    none = replace(file, urls=(f"{server.url}/gone", f"{server.url}/lost"))
    with pytest.raises(FileNotFoundError, match=r"gone: HTTP Error 404.*lost: HTTP Error 404"):
        none.in_folder(tmp_path / "b")


def test_without_network(file, tmp_path):
    nowhere = replace(file, urls=("http://127.0.0.1:9/table.bin",))
    message = r"could not be downloaded \([^)]*\)\. Download it from the pub"
    with pytest.raises(FileNotFoundError, match=message):
        nowhere.in_folder(tmp_path)
    with pytest.raises(
        FileNotFoundError, match=r"is not in the data folder .*Download it from the pub"
    ):
        nowhere.in_folder(tmp_path, download=False)


def test_progress(server, file, tmp_path, capsys):
    part = tmp_path / "table.bin.part"
    for progress in (False, True):
        ResumingDownloader(part, progress=progress)(file.urls[0], tmp_path / "out", None)
        said = capsys.readouterr()
        assert said.out == ""
        assert said.err == ("puforest: table.bin: 0.1 of 0.1 MB\n" if progress else "")


def served(server, file):
    """The same file, from the server."""
    (url,) = file.urls[:1]
    name = "/" + url.rsplit("/", 1)[-1]
    sha256 = hashlib.sha256(server.contents[name]).hexdigest()
    return replace(file, urls=(server.url + name,), sha256=sha256)


def test_loaders_download_missing_files(server, small, monkeypatch):
    for part, files in mnist.FILES.items():
        for f in files:
            path = small / f.path
            server.contents[f"/{path.name}"] = path.read_bytes()
            path.unlink()
        monkeypatch.setitem(mnist.FILES, part, tuple(served(server, f) for f in files))
    with pytest.raises(FileNotFoundError, match="LeCun"):
        load_mnist(data_home=small, download=False)
    assert_array_equal(load_mnist(data_home=small).target, TARGETS["mnist"])
    assert len(server.requests) == 4


def test_files_in_an_archive(server, small, monkeypatch):
    whole = load_cifar10(data_home=small)
    archive = io.BytesIO()
    batches = small / "cifar-10" / "cifar-10-batches-bin"
    with tarfile.open(fileobj=archive, mode="w:gz") as tar:
        tar.add(batches, "cifar-10-batches-bin")
    for path in batches.iterdir():
        path.unlink()
    server.contents["/cifar-10-binary.tar.gz"] = archive.getvalue()
    for part, files in cifar10.FILES.items():
        monkeypatch.setitem(cifar10.FILES, part, [served(server, f) for f in files])
    assert_array_equal(load_cifar10(data_home=small).data, whole.data)
    assert len(server.requests) == 1
    assert (batches.parent / "cifar-10-binary.tar.gz").exists()
    assert names_in(batches) == [*(f"data_batch_{i}.bin" for i in range(1, 6)), "test_batch.bin"]
