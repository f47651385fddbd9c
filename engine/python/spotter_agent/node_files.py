"""What a node has written below its save folder, for the main node of its job to fetch."""

import hmac
import http.server
import json
import os
import re
import shutil
import threading
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path
from typing import Any, Dict, NamedTuple

from .engines.slime_checkpoint import files_below, tracked
from .errors import JobError

TIMEOUT_S = 60.0
# `iter_0000004/…` of Megatron, `hf/4/…` of its weights but shards that have no name yet,
# `rollout/global_dataset_state_dict_4.pt`.
ITERATION = re.compile(r"^(?:(?:critic/)?iter_(\d{7})/|hf/(\d+)/(?!model-\d{5}\.safetensors$)|rollout/.*_(\d+)\.pt$)")


class Listing(NamedTuple):
    # Sizes by path below the save folder, of what belongs to an iteration.
    files: Dict[str, int]
    # The last iteration that is finished, as this node's tracker says; -1 where it has none.
    tracked: int


def iteration_of(path: str) -> int:
    """-1 for a file of no iteration."""
    match = ITERATION.match(path)
    return -1 if match is None else int(next(group for group in match.groups() if group is not None))


def listing_of(save: Path) -> Listing:
    # The tracker first: what it says is finished is there by then.
    latest = tracked(save)
    sizes = {name: path.stat().st_size for name, path in files_below(save).items() if iteration_of(name) >= 0}
    return Listing(sizes, latest)


class FileServer:
    """A further node's side: answers the main node, and nobody who does not know the job's token."""

    def __init__(self, save: Path, key: str, host: str = "") -> None:
        self._server = http.server.ThreadingHTTPServer((host, 0), handler(save, key))
        self._server.daemon_threads = True
        self.port = self._server.server_address[1]
        serve = self._server.serve_forever
        threading.Thread(target=serve, args=(0.1,), name="node-files", daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


def handler(save: Path, key: str) -> type:
    class Handler(http.server.BaseHTTPRequestHandler):
        timeout = TIMEOUT_S

        def do_GET(self) -> None:
            given = self.headers.get("authorization", "").encode("latin-1")
            if not hmac.compare_digest(given, f"Bearer {key}".encode()):
                return self.send_error(401)
            if self.path == "/":
                return self.send(json.dumps(listing_of(save)._asdict()).encode())
            path = (save / urllib.parse.unquote(self.path[1:])).resolve()
            if save.resolve() not in path.parents or not path.is_file():
                return self.send_error(404)
            with path.open("rb") as file:
                self.head(os.fstat(file.fileno()).st_size)
                shutil.copyfileobj(file, self.wfile)

        def send(self, body: bytes) -> None:
            self.head(len(body))
            self.wfile.write(body)

        def head(self, size: int) -> None:
            self.send_response(200)
            self.send_header("content-length", str(size))
            self.end_headers()

        def log_message(self, *_) -> None:
            pass

    return Handler


class NodeFiles:
    """The main node's side."""

    def __init__(self, address: str, key: str) -> None:
        self._base = f"http://{address}/"
        self._key = key

    def list(self) -> Listing:
        with self._open("") as answer:
            try:
                return Listing(**json.loads(answer.read()))
            except (OSError, ValueError, TypeError) as error:
                raise JobError("container_failed", f"A node of this job does not list its files: {error}") from error

    def fetch(self, path: str, to: Path) -> None:
        """The file appears when it is whole."""
        to.parent.mkdir(parents=True, exist_ok=True)
        partial = to.with_name(to.name + ".partial")
        with self._open(urllib.parse.quote(path)) as answer, partial.open("wb") as target:
            try:
                shutil.copyfileobj(answer, target)
            except OSError as error:
                raise JobError("container_failed", f"{path} broke off on its way from another node: {error}") from error
            size = int(answer.headers["content-length"])
        if partial.stat().st_size != size:
            words = f"{path} broke off on its way from another node, at {partial.stat().st_size} of {size} bytes."
            raise JobError("container_failed", words)
        os.replace(partial, to)

    def _open(self, path: str) -> Any:
        # No proxy stands between hosts of one job.
        request = urllib.request.Request(self._base + path, headers={"authorization": f"Bearer {self._key}"})
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            return opener.open(request, timeout=TIMEOUT_S)
        except (OSError, urllib.error.URLError) as error:
            raise JobError("container_failed", f"A node of this job does not give its checkpoint: {error}") from error
