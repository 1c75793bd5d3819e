"""Downloads: resumed, checked, and whole or not there; against a server on this machine."""

from __future__ import annotations

import hashlib
import threading
import urllib.error
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from headcount.models.data import multi30k
from headcount.models.data.fetch import RemoteFile, copy_from, fetch, fetchable
from headcount.models.errors import DataError, UsageError

CONTENT = bytes(range(256)) * 1000


@dataclass
class Behaviour:
    """What the server does, and what it was asked."""

    content: bytes = CONTENT
    knows_range: bool = True
    cut_after: int | None = None
    status: int | None = None
    ranges: list[str | None] = field(default_factory=list)


class Handler(BaseHTTPRequestHandler):
    behaviour: Behaviour

    def do_GET(self) -> None:
        behaviour = self.behaviour
        wanted = self.headers["Range"]
        behaviour.ranges.append(wanted)
        if behaviour.status is not None:
            self.send_error(behaviour.status)
            return
        start = 0
        if wanted and behaviour.knows_range:
            start = int(wanted.removeprefix("bytes=").removesuffix("-"))
        body = behaviour.content[start:]
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[: behaviour.cut_after])

    def log_message(self, format: str, *arguments: Any) -> None:
        pass


@dataclass
class Site:
    behaviour: Behaviour
    file: RemoteFile


@pytest.fixture
def site() -> Iterator[Site]:
    behaviour = Behaviour()
    handler = type("OwnHandler", (Handler,), {"behaviour": behaviour})
    with HTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        url = f"http://127.0.0.1:{server.server_port}/a.gz"
        digest = hashlib.sha256(CONTENT).hexdigest()
        yield Site(behaviour, RemoteFile("a.gz", url, len(CONTENT), digest))
        server.shutdown()
        thread.join()


def refused(site: Site, folder: Path) -> str:
    with pytest.raises(DataError) as caught:
        fetch([site.file], folder)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_file_comes_in_whole_and_only_once(site: Site, tmp_path: Path) -> None:
    seen: list[tuple[str, int, int]] = []
    for _ in range(2):
        paths = fetch([site.file], tmp_path / "new", progress=lambda *told: seen.append(told))
    assert paths == [tmp_path / "new" / "a.gz"]
    assert paths[0].read_bytes() == CONTENT
    assert site.behaviour.ranges == [None]
    assert [path.name for path in paths[0].parent.iterdir()] == ["a.gz"]
    assert seen[-1] == ("a.gz", len(CONTENT), len(CONTENT))
    assert [have for _, have, _ in seen] == sorted(have for _, have, _ in seen)


def test_a_cut_download_resumes_where_it_stopped(site: Site, tmp_path: Path) -> None:
    site.behaviour.cut_after = 100_000
    message = refused(site, tmp_path)
    assert "it resumes" in message and "--from DIR" in message
    assert [path.name for path in tmp_path.iterdir()] == ["a.gz.part"]
    assert (tmp_path / "a.gz.part").read_bytes() == CONTENT[:100_000]
    site.behaviour.cut_after = None
    fetch([site.file], tmp_path)
    assert (tmp_path / "a.gz").read_bytes() == CONTENT
    assert site.behaviour.ranges == [None, "bytes=100000-"]
    assert [path.name for path in tmp_path.iterdir()] == ["a.gz"]


def test_a_server_without_ranges_sends_it_all_again(site: Site, tmp_path: Path) -> None:
    site.behaviour.knows_range = False
    (tmp_path / "a.gz.part").write_bytes(CONTENT[:50])
    fetch([site.file], tmp_path)
    assert (tmp_path / "a.gz").read_bytes() == CONTENT
    assert site.behaviour.ranges == ["bytes=50-"]


def test_a_whole_part_needs_no_network(site: Site, tmp_path: Path) -> None:
    (tmp_path / "a.gz.part").write_bytes(CONTENT)
    fetch([site.file], tmp_path)
    assert (tmp_path / "a.gz").read_bytes() == CONTENT
    assert site.behaviour.ranges == []


@pytest.mark.parametrize("part", [b"x" * len(CONTENT), b"x" * (len(CONTENT) + 9)])
def test_a_full_but_wrong_part_starts_anew(site: Site, tmp_path: Path, part: bytes) -> None:
    (tmp_path / "a.gz.part").write_bytes(part)
    fetch([site.file], tmp_path)
    assert (tmp_path / "a.gz").read_bytes() == CONTENT
    assert site.behaviour.ranges == [None]


def test_a_wrong_checksum_leaves_nothing(site: Site, tmp_path: Path) -> None:
    site.behaviour.content = CONTENT[:-1] + b"?"
    message = refused(site, tmp_path)
    assert f"{tmp_path / 'a.gz'}: checksum differs" in message
    assert "nothing was kept" in message
    assert list(tmp_path.iterdir()) == []


def test_what_a_server_sends_beyond_the_size_is_not_written(site: Site, tmp_path: Path) -> None:
    site.behaviour.content = CONTENT + b"more" * 1000
    fetch([site.file], tmp_path)
    assert (tmp_path / "a.gz").read_bytes() == CONTENT


def test_a_damaged_file_in_the_cache_is_replaced(site: Site, tmp_path: Path) -> None:
    (tmp_path / "a.gz").write_bytes(b"damaged")
    fetch([site.file], tmp_path)
    assert (tmp_path / "a.gz").read_bytes() == CONTENT


def test_an_error_of_the_server_is_one_line(site: Site, tmp_path: Path) -> None:
    site.behaviour.status = 404
    assert "the server answers 404" in refused(site, tmp_path)
    assert list(tmp_path.iterdir()) == []
    site.behaviour.status = 416
    (tmp_path / "a.gz.part").write_bytes(b"longer than the file on the server")
    assert "416" in refused(site, tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("failure", [urllib.error.URLError("no route"), TimeoutError("timed out")])
def test_no_network_says_what_to_do(site: Site, tmp_path: Path, failure: Exception) -> None:
    def no_network(*arguments: Any, timeout: float) -> Any:
        raise failure

    with pytest.raises(DataError, match=r"no connection \((no route|timed out)\).*--from DIR"):
        fetch([site.file], tmp_path, opener=no_network)
    assert list(tmp_path.iterdir()) == []


def test_a_local_folder_goes_through_the_same_checks(site: Site, tmp_path: Path) -> None:
    origin, cache = tmp_path / "origin", tmp_path / "cache"
    origin.mkdir()
    with pytest.raises(DataError, match="no such file; give the folder"):
        copy_from([site.file], origin, cache)
    (origin / "a.gz").write_bytes(b"another")
    with pytest.raises(DataError, match=r"checksum differs.*give the original files"):
        copy_from([site.file], origin, cache)
    assert not cache.exists()
    (origin / "a.gz").write_bytes(CONTENT)
    assert copy_from([site.file], origin, cache) == [cache / "a.gz"]
    assert (cache / "a.gz").read_bytes() == CONTENT
    assert site.behaviour.ranges == []


def test_multi30k_is_pinned() -> None:
    known = fetchable["multi30k"]
    assert "non-commercial" in known.licence
    assert {file.name for file in known.files} == {
        f"{split}.{language}.gz" for split in multi30k.SPLITS for language in ("en", "de")
    }
    for file in known.files:
        assert len(bytes.fromhex(file.sha256)) == 32
        assert multi30k.COMMIT in file.url and file.url.startswith("https://")
    with pytest.raises(UsageError, match="did you mean 'multi30k'"):
        fetchable["multi3k"]
