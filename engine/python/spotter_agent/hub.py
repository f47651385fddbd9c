"""Weights from a model hub: the files of one commit, each resumed where it broke off and checked by its hash."""

import hashlib
import json
import urllib.parse
import urllib.request
from pathlib import Path
from typing import Dict, List

from .errors import JobError
from .files import fetch_missing, hash_of
from .transport import Transport

# Formats that repeat the weights which lie beside them in safetensors.
LEFT_OUT = (".bin", ".pth", ".pt", ".h5", ".msgpack", ".onnx", ".gguf", ".ot", ".tflite", ".mlmodel")


def fetch_model(transport: Transport, base_url: str, name: str, revision: str, token: str, to: Path) -> None:
    """Fetches ``name`` at ``revision`` into ``to``. ``transport`` is one whose token is the hub's."""
    quoted = urllib.parse.quote(name, safe="/")
    listing = f"{base_url}/api/models/{quoted}/revision/{urllib.parse.quote(revision, safe='')}?blobs=true"
    try:
        told = transport.json(listing, timeout_s=60.0)
    except JobError as error:
        raise hub_error(error, name, token) from error
    commit = told["sha"]
    for file in wanted(told["siblings"]):
        path = file["rfilename"]
        target = (to / path).resolve()
        if to.resolve() not in target.parents:
            raise JobError("model_corrupt", f"The hub names a file outside of the model: {path}", where=path)
        url = f"{base_url}/{quoted}/resolve/{commit}/{urllib.parse.quote(path, safe='/')}"
        fetch_file(transport, url, file, target)


def wanted(siblings: List[Dict]) -> List[Dict]:
    """All but other formats of the same weights, and what Git needs."""
    names = [file["rfilename"] for file in siblings]
    has_safetensors = any(name.endswith(".safetensors") for name in names)
    return [
        file
        for file in siblings
        if not file["rfilename"].startswith(".")
        and not (has_safetensors and file["rfilename"].endswith(LEFT_OUT))
    ]


def fetch_file(transport: Transport, url: str, file: Dict, to: Path) -> None:
    size = int(file["size"])
    sha256 = (file.get("lfs") or {}).get("sha256")
    if to.exists() and to.stat().st_size == size and matches(to, file, sha256):
        return
    to.parent.mkdir(parents=True, exist_ok=True)
    partial = to.with_name(to.name + ".partial")
    for _ in range(3):
        fetch_missing(transport, url, partial, size, timeout_s=60.0)
        if partial.stat().st_size == size and matches(partial, file, sha256):
            partial.replace(to)
            return
        partial.unlink()
    raise JobError("model_corrupt", f"{file['rfilename']} does not match its hash.", where=file["rfilename"])


def matches(path: Path, file: Dict, sha256: str) -> bool:
    """By SHA-256 where it is a large file, by Git's own hash where it is not."""
    if sha256:
        return hash_of(path) == sha256
    blob_id = file.get("blobId")
    if not blob_id:
        return True
    data = path.read_bytes()
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest() == blob_id


def hub_error(error: JobError, name: str, token: str) -> JobError:
    if error.code in ("unauthorized", "forbidden", "GatedRepo"):
        hint = "Accept its terms on the hub." if token else "Grant the secret HF_TOKEN to the run or endpoint."
        return JobError("hub_gated", f"The hub does not give {name} to us: {error.message}", hint=hint)
    if error.code in ("not_found", "RepoNotFound", "RevisionNotFound"):
        return JobError("model_not_found", f"The hub has no model {name}: {error.message}")
    return error
