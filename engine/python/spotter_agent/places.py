"""Where things lie on this host: what a plan may name, and how what it names gets there."""

import os
from pathlib import Path
from typing import Dict

from .client import JobClient
from .hub import fetch_model
from .metrics import metrics_dir
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
    if folder_of(model):
        return
    if job.get("checkpoint", {}).get("kind") == "full":
        return
    token = os.environ.get("HF_TOKEN", "")
    hub = Transport(options.hub_url, token, client.ended, options.give_up_after_s, options.speed)
    fetch_model(hub, options.hub_url, model["name"], model.get("revision", "main"), token, target)


def places_of(job: Dict, work_dir: Path, options: Options, token: str) -> Dict[str, str]:
    """What ``{{spotter.NAME}}`` means in a plan."""
    model = job["spec"]["model"] if "spec" in job else job["model"]
    model_dir = folder_of(model) or str(work_dir / "model")
    weights_dir = str(work_dir / "start") if starts_from_weights(job) else model_dir
    critic_dir = work_dir / "save" / "critic"
    is_converted = "toMegatron" in job.get("native", {}).get("conversions", {})
    converted_dir = str(work_dir / "converted")
    node = Place()
    return {
        "workDir": str(work_dir),
        "modelDir": model_dir,
        "saveDir": str(work_dir / "save"),
        # What is written there as event files or lines of JSON is told as metrics.
        "metricsDir": str(metrics_dir(work_dir)),
        # What a training begins with that has no checkpoint of its own: the model, or what it starts from.
        "weightsDir": weights_dir,
        "convertedDir": converted_dir,
        # A critic begins with the weights too.
        "criticLoadDir": str(critic_dir) if critic_dir.is_dir() else converted_dir if is_converted else weights_dir,
        "dataset": str(work_dir / "datasets" / "dataset.jsonl"),
        "evalDataset": str(work_dir / "datasets" / "evalDataset.jsonl"),
        "slimeDataset": str(work_dir / "datasets" / "dataset.slime.jsonl"),
        "slimeEvalDataset": str(work_dir / "datasets" / "evalDataset.slime.jsonl"),
        "slimeSetup": str(work_dir / "slime-setup.json"),
        "checkpointDir": str(work_dir / "checkpoint"),
        "agentDir": str(Path(__file__).resolve().parent.parent),
        "nodes": str(node.count),
        "nodeRank": str(node.rank),
        "mainHost": node.main_host,
        "host": options.host,
        "jobToken": token,
        "attempt": str(job["attempt"]),
        # Where the engine lies in its image, and the Python that has its packages.
        "engineDir": os.environ.get("SPOTTER_ENGINE_DIR", "/root/slime"),
        "python": os.environ.get("SPOTTER_ENGINE_PYTHON", "python3"),
    }


def starts_from_weights(job: Dict) -> bool:
    """Whether it takes the weights alone of a checkpoint of another run."""
    if job.get("start") is None:
        return False
    start = (job.get("spec") or {}).get("startFrom") or {}
    return job["kind"] == "convert" or start.get("mode") == "weights"


def folder_of(model: Dict) -> str:
    """A model that is a folder of this host is used where it lies."""
    name = str(model["name"])
    return name if name.startswith("/") else ""
