"""A plug-in of vLLM (group ``vllm.general_plugins``, interface of vLLM 0.33 in vllm/lora/resolver.py).

A request whose ``model`` is ``run@step`` means a LoRA checkpoint of the model that this replica serves. vLLM asks its
resolvers for a name that it does not know; this one fetches the adapter's files from the control plane, once.
"""

import asyncio
import hashlib
import os
import re
import threading
from pathlib import Path
from typing import Dict, Optional

from spotter_agent.errors import JobError
from spotter_agent.files import download
from spotter_agent.transport import Transport

CHECKPOINT = re.compile(r"^[A-Za-z0-9._-]+@\d+$")
# Longer than the control plane may be away for a restart, shorter than a client waits.
GIVE_UP_AFTER_S = 60.0


class Adapters:
    """Folders of adapters by the checkpoint's id; two requests at once fetch one."""

    def __init__(self, url: str, job_id: str, token: str, folder: Path) -> None:
        self._job = f"jobs/{job_id}"
        self._transport = Transport(url, token, threading.Event(), GIVE_UP_AFTER_S)
        self._folder = folder
        self._locks: Dict[str, threading.Lock] = {}
        self._guard = threading.Lock()

    def fetch(self, name: str) -> Optional[Path]:
        """The folder of an adapter in PEFT's format; None for a name that is no adapter of this model."""
        if not CHECKPOINT.match(name):
            return None
        with self._guard:
            lock = self._locks.setdefault(name, threading.Lock())
        with lock:
            target = self._folder / name
            if (target / ".complete").exists():
                return target
            try:
                told = self._transport.json(f"{self._job}/adapters/{name.replace('@', '%40')}")
            except JobError as error:
                if error.code in ("checkpoint_not_found", "model_not_found", "not_found"):
                    return None
                raise
            if told["kind"] != "lora":
                return None
            for file in told["files"]:
                kind, _, rest = file["path"].partition("/")
                if kind == "model":
                    download(self._transport, file, target / rest)
            (target / ".complete").touch()
            return target


def id_of(name: str) -> int:
    """vLLM tells adapters apart by a positive number; Python's own hash is another in each process."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:4], "big") % (2**31 - 1) + 1


def register() -> None:
    """Called by vLLM in each of its processes; only the server asks."""
    needed = ("SPOTTER_URL", "SPOTTER_JOB_ID", "SPOTTER_JOB_TOKEN", "SPOTTER_WORK_DIR")
    if not all(os.environ.get(name) for name in needed):
        return
    from vllm.lora.request import LoRARequest
    from vllm.lora.resolver import LoRAResolver, LoRAResolverRegistry

    url, job_id, token, work_dir = (os.environ[name] for name in needed)
    adapters = Adapters(url, job_id, token, Path(work_dir) / "adapters")

    class SpotterResolver(LoRAResolver):
        async def resolve_lora(self, base_model_name: str, lora_name: str):
            path = await asyncio.to_thread(adapters.fetch, lora_name)
            if path is None:
                return None
            return LoRARequest(lora_name=lora_name, lora_int_id=id_of(lora_name), lora_path=str(path))

    LoRAResolverRegistry.register_resolver("Spotter", SpotterResolver())
