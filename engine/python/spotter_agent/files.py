"""Files of a job: fetched so that an interrupted download goes on, and checked before they count."""

import hashlib
import os
from pathlib import Path
from typing import BinaryIO, Dict, Optional

from .errors import JobError
from .retry import RetryLater
from .transport import Transport

CHUNK_BYTES = 1024 * 1024
# Fetches of one file whose content turned out wrong, before the source counts as damaged.
DOWNLOAD_ATTEMPTS = 3


def download(transport: Transport, file: Dict, to: Path, timeout_s: float = 60.0) -> None:
    """Fetches ``file`` (``url``, ``size``, ``sha256``, ``path``); the target appears only when it is whole.

    What an earlier attempt left behind is gone on from with a range request. Raises ``blob_corrupt`` when the
    source does not hash to what the job says.
    """
    to.parent.mkdir(parents=True, exist_ok=True)
    if to.exists() and to.stat().st_size == file["size"] and hash_of(to) == file["sha256"]:
        return
    partial = to.with_name(to.name + ".partial")
    damaged = 0
    while True:
        fetch_missing(transport, file["url"], partial, file["size"], timeout_s)
        if partial.stat().st_size == file["size"] and hash_of(partial) == file["sha256"]:
            os.replace(partial, to)
            return
        size = partial.stat().st_size
        partial.unlink()
        damaged += 1
        if damaged >= DOWNLOAD_ATTEMPTS:
            raise JobError(
                "blob_corrupt",
                f"{file['path']} does not match its hash ({size} bytes received).",
                hint="Upload it again.",
                where=file["path"],
            )


def fetch_missing(transport: Transport, url: str, partial: Path, size: int, timeout_s: float) -> None:
    """Appends to ``partial`` what it lacks of ``size`` bytes."""
    partial.touch()

    def read(response) -> None:
        begin = partial.stat().st_size
        # Who does not know ranges sends everything from the start.
        if response.status != 206:
            begin = 0
        with open(partial, "r+b") as target:
            target.seek(begin)
            target.truncate()
            while True:
                chunk = response.read(CHUNK_BYTES)
                if not chunk:
                    break
                target.write(chunk)
            end = target.tell()
        if end < size:
            # What came is kept: the next attempt asks for the rest.
            raise RetryLater(f"{url} ended after {end} of {size} bytes")

    def size_now() -> int:
        return partial.stat().st_size

    def headers() -> Dict[str, str]:
        have = size_now()
        return {"range": f"bytes={have}-"} if 0 < have < size else {}

    if partial.stat().st_size < size:
        transport.request("GET", url, read, headers=headers, timeout_s=timeout_s, progress=size_now)


def hash_of(path: Path) -> str:
    digest = hashlib.sha256()
    with open(path, "rb") as source:
        for chunk in iter(lambda: source.read(CHUNK_BYTES), b""):
            digest.update(chunk)
    return digest.hexdigest()


class Slice:
    """Bytes [start, end) of a file as something to send; knows its length, as stores demand."""

    def __init__(self, path: Path, start: int = 0, end: Optional[int] = None) -> None:
        size = path.stat().st_size
        self._left = (size if end is None else min(end, size)) - start
        self.length = self._left
        self._file: BinaryIO = open(path, "rb")
        self._file.seek(start)

    def read(self, amount: int = -1) -> bytes:
        wanted = self._left if amount < 0 else min(amount, self._left)
        data = self._file.read(wanted)
        self._left -= len(data)
        return data

    def close(self) -> None:
        self._file.close()


def put_file(
    transport: Transport,
    url: str,
    path: Path,
    headers: Optional[Dict[str, str]] = None,
    start: int = 0,
    end: Optional[int] = None,
) -> Optional[str]:
    """PUTs a file or a piece of it, and returns the ETag of the answer."""
    size = path.stat().st_size
    length = (size if end is None else min(end, size)) - start

    def read(response) -> Optional[str]:
        response.read()
        return response.headers.get("etag")

    return transport.request(
        "PUT",
        url,
        read,
        body=lambda: Slice(path, start, end),
        headers={"content-type": "application/octet-stream", **(headers or {}), "content-length": str(length)},
        timeout_s=120.0,
    )
