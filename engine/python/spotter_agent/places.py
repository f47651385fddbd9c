"""Where things lie on this host: what a plan may name, and how what it names gets there."""

import os
from pathlib import Path
from typing import Dict

from .client import JobClient
from .errors import JobError
from .hub import fetch_model
from .nodes import Place
from .options import Options
from .transport import Transport


def fetch_model_files(client: JobClient, work_dir: Path, options: Options) -> None:
    """Brings the weights into ``work_dir/model``: stored ones from the control plane, others from the hub."""
    job = client.job
    target = work_dir / "model"
    files = job.get("modelFiles")
    if files is not None:
        for file in files:
            client.download(file, target / file["path"])
        return
    model = job["spec"]["model"] if "spec" in job else job["model"]
    if "path" in model:
        return
    if job.get("checkpoint", {}).get("kind") == "full":
        return
    token = os.environ.get("HF_TOKEN", "")
    hub = Transport(options.hub_url, token, client.ended, options.give_up_after_s, options.speed)
    name = model.get("name")
    if not name:
        raise JobError("model_not_found", "The job names no model that could be fetched.", where="model")
    fetch_model(hub, options.hub_url, name, model.get("revision", "main"), token, target)


def places_of(job: Dict, work_dir: Path, options: Options) -> Dict[str, str]:
    """What ``{{spotter.NAME}}`` means in a plan."""
    model = job["spec"]["model"] if "spec" in job else job["model"]
    node = Place()
    return {
        "workDir": str(work_dir),
        "modelDir": str(model.get("path") or work_dir / "model"),
        "saveDir": str(work_dir / "save"),
        "startDir": str(work_dir / "start"),
        "dataset": str(work_dir / "datasets" / "dataset.jsonl"),
        "evalDataset": str(work_dir / "datasets" / "evalDataset.jsonl"),
        "checkpointDir": str(work_dir / "checkpoint"),
        "agentDir": str(Path(__file__).resolve().parent.parent),
        "nodes": str(node.count),
        "nodeRank": str(node.rank),
        "mainHost": node.main_host,
        "host": options.host,
    }
