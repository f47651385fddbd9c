"""Files on their way home: announced, uploaded, and there only when the control plane says that they are complete."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Callable, Dict, List, Optional

from .files import hash_of, put_file
from .transport import Transport

# Uploads of one checkpoint that run side by side.
PARALLEL_UPLOADS = 4


def upload_checkpoint(
    transport: Transport,
    job_path: str,
    attempt: int,
    step: int,
    kind: str,
    files: Dict[str, Path],
    metrics: Optional[Dict[str, float]] = None,
) -> Dict:
    """``files``, by the path they are stored under, become checkpoint ``step``; it exists when this returns."""
    about: Dict = {"attempt": attempt, "step": step, "kind": kind}
    if metrics:
        about["metrics"] = metrics
    path = f"{job_path}/checkpoints"
    return publish(transport, path, about, f"{path}/{step}/complete", files)


def publish(transport: Transport, path: str, about: Dict, complete_path: str, files: Dict[str, Path]) -> Dict:
    """Announces ``files`` at ``path``, sends them where the answer says, and completes them."""
    listed = [
        {"path": name, "size": source.stat().st_size, "sha256": hash_of(source)}
        for name, source in sorted(files.items())
    ]
    answer = transport.json(path, {**about, "files": listed}, timeout_s=120.0)
    parts = upload_all(transport, files, answer["uploads"])
    complete: Dict = {"attempt": about["attempt"]}
    if parts:
        complete["parts"] = parts
    # Checking large files takes the control plane a while.
    return transport.json(complete_path, complete, timeout_s=600.0)


def upload_all(transport: Transport, files: Dict[str, Path], uploads: List[Dict]) -> List[Dict]:
    """Sends every file, or every part of it, a few side by side; tells what parts were answered with."""
    work: List[Callable[[], None]] = []
    in_parts: List[Dict] = []
    for upload in uploads:
        source = files[upload["path"]]
        parts = upload.get("parts")
        if parts is None:
            work.append(whole(transport, upload, source))
            continue
        etags: List[str] = [""] * len(parts["urls"])
        in_parts.append({"path": upload["path"], "etags": etags})
        for index, url in enumerate(parts["urls"]):
            work.append(piece(transport, url, source, index, parts["partBytes"], etags))
    with ThreadPoolExecutor(PARALLEL_UPLOADS) as pool:
        for done in [pool.submit(each) for each in work]:
            done.result()
    return in_parts


def whole(transport: Transport, upload: Dict, source: Path) -> Callable[[], None]:
    return lambda: void(put_file(transport, upload["url"], source, upload.get("headers")))


def piece(
    transport: Transport, url: str, source: Path, index: int, size: int, etags: List[str]
) -> Callable[[], None]:
    def send() -> None:
        etags[index] = put_file(transport, url, source, start=index * size, end=(index + 1) * size) or ""

    return send


def void(_: object) -> None:
    return None
