"""Files that cannot be written: an error that names the file, and the old file stays."""

import os
import subprocess
import sys
from contextlib import contextmanager

import pytest
from saved_models import small

from puforest import PUExtraTreesClassifier
from puforest._atomic_write import atomic_write
from puforest.cli._app import run
from puforest.export import to_onnx

resource = pytest.importorskip("resource", reason="limits the size of files")


@contextmanager
def full_disk(n_bytes):
    """Let files grow to so many bytes only, which fails as a full disk does."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


@pytest.fixture(scope="module")
def model(blobs):
    X, labeled, _ = blobs
    return small(PUExtraTreesClassifier, n_estimators=20).fit(X, labeled)


WRITERS = {
    "model.puf": lambda model, path: model.save(path),
    "report.html": lambda model, path: model.report(path, overwrite=True),
    "forest.onnx": lambda model, path: to_onnx(model, path),
}


@pytest.mark.parametrize("name", WRITERS)
def test_a_full_disk_leaves_the_old_file(name, model, tmp_path):
    path = tmp_path / name
    write = WRITERS[name]
    write(model, path)
    size = path.stat().st_size
    path.write_bytes(b"what was there before")
    for allowed in (0, 7, 8, 100, size // 2, size - 1):
        with full_disk(allowed), pytest.raises(OSError, match=f"File too large: .*{name}'"):
            write(model, path)
        assert path.read_bytes() == b"what was there before"
        assert os.listdir(tmp_path) == [name]
    with full_disk(size):
        write(model, path)


@pytest.mark.parametrize("to", ["onnx", "treelite", "text", "dot"])
def test_exports_of_the_command_line_on_a_full_disk(to, model, tmp_path, capfd):
    model.save(tmp_path / "model.puf")
    out = tmp_path / "out"
    arguments = ["export", str(tmp_path / "model.puf"), "--to", to, "-o", str(out)]
    assert run(arguments) == 0
    whole = out.read_bytes()
    capfd.readouterr()
    with full_disk(1000):
        code = run([*arguments, "--force"])
    error = capfd.readouterr().err
    assert code == 1
    assert error == f"error: [Errno 27] File too large: '{out}'\n"
    assert out.read_bytes() == whole
    assert sorted(os.listdir(tmp_path)) == ["model.puf", "out"]


KILLED = """
import os, resource, signal, sys
import puforest
from test_atomic_files import WRITERS

model = puforest.load(sys.argv[1])
signal.signal(signal.SIGXFSZ, signal.SIG_DFL)  # ends the process in the midst of a write
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
resource.setrlimit(resource.RLIMIT_FSIZE, (9000, -1))
for path in sys.argv[2:]:
    child = os.fork()
    if child == 0:
        WRITERS[os.path.basename(path)](model, path)
    assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGXFSZ
"""


def test_a_killed_process_leaves_only_parts(model, tmp_path):
    model.save(tmp_path / "given.puf")
    folder = tmp_path / "out"
    folder.mkdir()
    paths = [str(folder / name) for name in WRITERS]
    tests = os.path.dirname(__file__)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([tests, *sys.path])}
    command = [sys.executable, "-c", KILLED, str(tmp_path / "given.puf"), *paths]
    subprocess.run(command, env=environment, check=True)
    left = sorted(name.rsplit("-", 1)[0] for name in os.listdir(folder))
    assert left == [".forest.onnx.part", ".model.puf.part", ".report.html.part"]


def test_long_names(model, tmp_path):
    for name in ("a" * 255, "ü" * 127):
        for write in WRITERS.values():
            write(model, tmp_path / name)
            (tmp_path / name).unlink()
    too_long = tmp_path / ("a" * 256)
    for write in WRITERS.values():
        with pytest.raises(OSError, match=r"File name too long: '[^']*/a+'$"):
            write(model, too_long)


def test_places_that_cannot_be_written_to(model, tmp_path):
    for write in WRITERS.values():
        with pytest.raises(IsADirectoryError, match="is a directory: name a file in it"):
            write(model, tmp_path)
        with pytest.raises(FileNotFoundError, match=r"no directory .*nowhere"):
            write(model, tmp_path / "nowhere" / "file")


def test_errors_about_other_files_keep_their_names(tmp_path):
    with pytest.raises(FileNotFoundError, match="nowhere"), atomic_write(tmp_path / "out"):
        (tmp_path / "nowhere").read_bytes()
    with pytest.raises(FileExistsError, match=r"^ours$"), atomic_write(tmp_path / "out"):
        raise FileExistsError("ours")
    with pytest.raises(FileNotFoundError, match=r"out'$"), atomic_write(tmp_path / "out"):
        pass  # nothing was written
    assert os.listdir(tmp_path) == []
