"""Several hosts for one job: the main one speaks for all, and knows when another is gone.

AWS Batch ends a multi-node job with its main node, and does not tell it of a child that dies; collective
operations then hang until NCCL's own timeout. So each child keeps a connection open to the main node and beats
on it. A child that falls silent ends the job at once; a child that loses the main node ends itself, as failed where
it was not told before that the work is done.
"""

import hashlib
import hmac
import json
import os
import secrets
import socket
import threading
import time
from typing import Callable, Dict, List, Optional, Set, Tuple

from .errors import JobError, Stopped

PORT = 29_399  # as options.py has it
BEAT_EVERY_S = 5.0
SILENT_AFTER_S = 30.0
JOIN_WITHIN_S = 900.0
# Until all have heard that the work is done: one that has not only ends in another way.
TOLD_WITHIN_S = 5.0


class Place:
    """Which of the job's hosts this is, from AWS Batch's variables; alone where there are none."""

    def __init__(self, env: Optional[Dict[str, str]] = None) -> None:
        env = dict(os.environ) if env is None else env
        self.count = int(env.get("AWS_BATCH_JOB_NUM_NODES", "1"))
        self.rank = int(env.get("AWS_BATCH_JOB_NODE_INDEX", "0"))
        main = int(env.get("AWS_BATCH_JOB_MAIN_NODE_INDEX", "0"))
        self.is_main = self.rank == main
        self.main_host = env.get("AWS_BATCH_JOB_MAIN_NODE_PRIVATE_IPV4_ADDRESS", own_address())


def own_address() -> str:
    """The address of this host in its network; nothing is sent to find it."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("10.255.255.255", 1))
            return str(probe.getsockname()[0])
        except OSError:
            return "127.0.0.1"


def proof(token: str, nonce: str, rank: int) -> str:
    """That both know the job's token, without saying it."""
    return hmac.new(token.encode(), f"{nonce}:{rank}".encode(), hashlib.sha256).hexdigest()


class Children:
    """The main node's side. ``lost`` is called once, with the first failure."""

    def __init__(
        self,
        expected: int,
        token: str,
        lost: Callable[[JobError], None],
        host: str = "",
        port: int = PORT,
        silent_after_s: float = SILENT_AFTER_S,
        join_within_s: float = JOIN_WITHIN_S,
    ) -> None:
        self.expected = expected
        self._token = token
        self._lost = lost
        self._silent_after_s = silent_after_s
        self._joined: Set[int] = set()
        self._up: Set[int] = set()
        self._has_head = threading.Event()
        # Where each node's files are asked for.
        self._files: Dict[int, str] = {}
        self._open: Dict[int, socket.socket] = {}
        self._is_done = False
        self._changed = threading.Condition()
        self._closed = threading.Event()
        self._told = False
        self._server = socket.create_server((host, port))
        self.port = self._server.getsockname()[1]
        threading.Thread(target=self._accept, name="nodes", daemon=True).start()
        if expected > 0:
            threading.Thread(target=self._await, args=(join_within_s,), name="nodes-join", daemon=True).start()

    def wait_joined(self, timeout_s: float) -> bool:
        with self._changed:
            return self._changed.wait_for(lambda: len(self._joined) >= self.expected, timeout_s)

    def head_is_up(self) -> None:
        """Told to each node with its next beat: there is something to join."""
        self._has_head.set()

    def wait_up(self, timeout_s: float) -> bool:
        """Whether all are ready to work; those that never come end the job, see ``lost``."""
        with self._changed:
            return self._changed.wait_for(lambda: len(self._up) >= self.expected, timeout_s)

    def files(self) -> List[Tuple[int, str]]:
        """Rank and ``address:port`` of every node that gives what it has written."""
        with self._changed:
            return sorted(self._files.items())

    def done(self, timeout_s: float = TOLD_WITHIN_S) -> None:
        """Tells all that the work came to a good end, so that they end well too; from here on none is lost."""
        with self._changed:
            self._is_done = True
            for connection in self._open.values():
                try:
                    connection.sendall(json.dumps({"done": True}).encode() + b"\n")
                except OSError:
                    pass  # It is gone, which does no harm any more.
            self._changed.wait_for(lambda: not self._open, timeout_s)

    def close(self) -> None:
        self._closed.set()
        self._server.close()

    def _await(self, within_s: float) -> None:
        if not self.wait_joined(within_s) and not self._closed.is_set():
            words = f"{len(self._joined)} of {self.expected} further nodes came within {round(within_s)} s."
            self._tell(JobError("container_failed", words, hint="The next attempt gets other instances."))

    def _accept(self) -> None:
        while not self._closed.is_set():
            try:
                connection, (host, *_) = self._server.accept()
            except OSError:
                return
            threading.Thread(target=self._hear, args=(connection, host), daemon=True).start()

    def _hear(self, connection: socket.socket, host: str) -> None:
        rank: Optional[int] = None
        how = "closed its connection"
        with connection:
            connection.settimeout(self._silent_after_s)
            try:
                nonce = secrets.token_hex(16)
                connection.sendall(json.dumps({"nonce": nonce}).encode() + b"\n")
                lines = connection.makefile("rb")
                hello = json.loads(lines.readline(4096))
                claimed = int(hello["rank"])
                if not hmac.compare_digest(str(hello["proof"]), proof(self._token, nonce, claimed)):
                    return
                rank = claimed
                with self._changed:
                    self._joined.add(rank)
                    self._open[rank] = connection
                    if "filesPort" in hello:
                        self._files[rank] = f"{host}:{int(hello['filesPort'])}"
                    self._changed.notify_all()
                while not self._closed.is_set():
                    line = lines.readline(4096)
                    if not line:
                        break
                    beat = json.loads(line)
                    if beat.get("done"):
                        return
                    if beat.get("up"):
                        with self._changed:
                            self._up.add(rank)
                            self._changed.notify_all()
                    reply = {"head": True} if self._has_head.is_set() else {}
                    with self._changed:
                        connection.sendall(json.dumps(reply).encode() + b"\n")
            except (socket.timeout, TimeoutError):
                how = f"was silent for {round(self._silent_after_s)} s"
            except ConnectionError:
                pass  # A node that dies with a beat's reply unread resets the connection: it is gone all the same.
            except (OSError, ValueError, KeyError, TypeError):
                how = "broke its connection"
            finally:
                with self._changed:
                    if rank is not None and self._open.get(rank) is connection:
                        del self._open[rank]
                        self._changed.notify_all()
        if rank is not None and not self._closed.is_set():
            self._tell(JobError("container_failed", f"Node {rank} is gone: it {how}."))

    def _tell(self, error: JobError) -> None:
        with self._changed:
            if self._told or self._is_done:
                return
            self._told = True
        self._lost(error)


class Main:
    """A child's side: beats until it is closed. ``lost`` is called when the main node is gone."""

    def __init__(
        self,
        host: str,
        rank: int,
        token: str,
        lost: Callable[[JobError], None],
        port: int = PORT,
        every_s: float = BEAT_EVERY_S,
        silent_after_s: float = SILENT_AFTER_S,
        join_within_s: float = JOIN_WITHIN_S,
        files_port: Optional[int] = None,
        is_over: Callable[[], bool] = lambda: False,
    ) -> None:
        self._closed = threading.Event()
        self._is_up = threading.Event()
        # The main node's cluster can be joined.
        self.has_head = threading.Event()
        # The work came to a good end.
        self.is_done = threading.Event()
        self._every_s = every_s
        self._connection = connect(host, port, join_within_s, is_over)
        self._connection.settimeout(silent_after_s)
        self._lines = self._connection.makefile("rb")
        nonce = json.loads(self._lines.readline(4096))["nonce"]
        files = {} if files_port is None else {"filesPort": files_port}
        self._send({"rank": rank, "proof": proof(token, nonce, rank), **files})
        self._lost = lost
        for work in (self._beat, self._hear):
            threading.Thread(target=work, name="main-node", daemon=True).start()

    def up(self) -> None:
        """From the next beat on: it is ready to work."""
        self._is_up.set()

    def close(self) -> None:
        """Says that it is done, so that its end is not taken for a loss."""
        self._closed.set()
        try:
            self._send({"done": True})
        except OSError:
            pass
        self._connection.close()

    def _send(self, message: Dict) -> None:
        self._connection.sendall(json.dumps(message).encode() + b"\n")

    def _beat(self) -> None:
        try:
            while not self._closed.wait(self._every_s):
                self._send({"up": True} if self._is_up.is_set() else {})
        except OSError:
            pass  # Whoever hears it knows why.

    def _hear(self) -> None:
        """Each beat is answered; that the work is done is told by itself."""
        try:
            while not self._closed.is_set():
                line = self._lines.readline(4096)
                if not line:
                    raise OSError("closed")
                told = json.loads(line)
                if told.get("head"):
                    self.has_head.set()
                if told.get("done"):
                    self.is_done.set()
                    self.close()
        except (OSError, ValueError):
            if not self._closed.is_set():
                self._lost(JobError("container_failed", "The main node is gone."))


def connect(host: str, port: int, within_s: float, is_over: Callable[[], bool]) -> socket.socket:
    until = time.monotonic() + within_s
    while True:
        if is_over():
            raise Stopped()
        try:
            return socket.create_connection((host, port), timeout=10.0)
        except OSError as error:
            if time.monotonic() >= until:
                raise JobError("container_failed", f"The main node {host} cannot be reached: {error}") from error
            time.sleep(0.5)
