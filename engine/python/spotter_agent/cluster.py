"""Ray over the hosts of one job, and the checkpoints that each of them writes on a disk of its own.

The main node runs Ray's head and, beside it, the engine; the others join it and do what the engine asks of them.
No disk is shared: each node has the weights, the rows and the checkpoint that is gone on from, and what any of them
has written of a checkpoint is brought to the main node, which stores it.
"""

import socket
import time
from pathlib import Path
from typing import Callable, Dict, List, Optional

from .engine_process import EngineProcess
from .engines.slime_checkpoint import TRACKER, tracked
from .errors import JobError
from .node_files import NodeFiles, iteration_of
from .nodes import Children, proof

# What a child's files are asked for with: a proof of its own, so that no beat can be taken for it.
FILES_NONCE = "files"


def ray_start(head: str, is_head: bool) -> List[str]:
    """`--block`: what it starts in the background would end with its process group, which is ours to end.

    ``head``: ``address:port``.
    """
    address, port = head.rsplit(":", 1)
    where = ["--head", f"--node-ip-address={address}", f"--port={port}"] if is_head else [f"--address={head}"]
    return ["ray", "start", *where, "--block", "--disable-usage-stats"]


class Cluster:
    """The main node's side: Ray's head, the further nodes, and what they have saved."""

    def __init__(
        self, children: Children, head: str, token: str, work_dir: Path, line: Callable[[str], None]
    ) -> None:
        self._children = children
        self._head = head
        self._token = token
        self._work_dir = work_dir
        self._line = line
        self._ray: Optional[EngineProcess] = None

    def environment(self) -> Dict[str, str]:
        """What makes an engine take this cluster, and not begin one of its own."""
        return {"RAY_ADDRESS": self._head}

    def start(self, env: Dict[str, str], is_over: Callable[[], bool], poll_s: float) -> None:
        """Starts Ray's head, and waits until all nodes are in; `is_over` ends the wait."""
        self._ray = EngineProcess(ray_start(self._head, is_head=True), env, self._work_dir, self._line)
        # A node that wants to join what is not there yet gives up.
        while not self._listens() and not is_over():
            self.check()
            time.sleep(min(0.5, poll_s))
        self._children.head_is_up()
        self._line(f"Ray's head is at {self._head}; waiting for {self._children.expected} further nodes")
        while not self._children.wait_up(poll_s) and not is_over():
            self.check()

    def _listens(self) -> bool:
        address, port = self._head.rsplit(":", 1)
        try:
            socket.create_connection((address, int(port)), timeout=1.0).close()
            return True
        except OSError:
            return False

    def check(self) -> None:
        """Raises where the head has ended: the engine would wait for it for ever."""
        code = None if self._ray is None else self._ray.poll()
        if self._ray is not None and code is not None:
            self._ray.drain()
            words = "\n".join(self._ray.tail()[-5:])
            raise JobError("engine_failed", f"Ray's head ended with exit code {code}: {words}")

    def gather(self, save: Path) -> int:
        """Brings what other nodes have written of finished iterations. Returns the last that Megatron has finished."""
        nodes = [NodeFiles(address, proof(self._token, FILES_NONCE, rank)) for rank, address in self._children.files()]
        # Megatron writes its tracker when every node has written its part, on the node of its first rank: whatever is
        # listed after a tracker was read has all of Megatron's that it speaks of. The rest comes with a later look.
        latest = max([tracked(save), *(node.list().tracked for node in nodes)])
        for node in nodes:
            for path, size in node.list().files.items():
                there = save / path
                if iteration_of(path) <= latest and not (there.is_file() and there.stat().st_size == size):
                    node.fetch(path, there)
        if latest > tracked(save):
            (save / TRACKER).write_text(str(latest))
        return latest

    def close(self) -> None:
        if self._ray is not None:
            self._ray.close(grace_s=5.0)
