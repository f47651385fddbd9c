"""What a training goes on from: its own last checkpoint, that of another run, or the weights of that one."""

from pathlib import Path
from typing import Dict, NamedTuple

from .client import JobClient
from .engines import slime_checkpoint as slime
from .errors import JobError
from .log import Log
from .places import starts_from_weights


class Start(NamedTuple):
    # Steps behind the state that the engine goes on from; 0: it begins with weights alone.
    made_steps: int = 0
    has_optimizer: bool = True


def fetch_start(client: JobClient, log: Log, work_dir: Path, inherited_steps: int) -> Start:
    """Fetches weights into ``start`` and state into ``save``. Raises ``checkpoint_mismatch`` for half a state."""
    start, resume = client.job.get("start"), client.job.get("resume")
    if starts_from_weights(client.job):
        fetch(client, start, "model", work_dir / "start")
        start = None
    state = resume or start
    if state is None:
        return Start()
    save = work_dir / "save"
    fetch(client, state, "trainer", save)
    made = inherited_steps + (resume["step"] if resume else 0)
    folder = slime.iteration_folder(save, made)
    if not slime.is_whole(folder):
        words = f"Checkpoint {state['id']} has no whole state of step {made} of this engine."
        raise JobError("checkpoint_mismatch", words, hint='Start from its weights: mode "weights".')
    slime.restore(save, made)
    has_optimizer = slime.has_optimizer(folder)
    if not has_optimizer:
        log.warn(f"checkpoint {state['id']} was saved without its optimizer, which begins anew")
    return Start(made, has_optimizer)


def fetch(client: JobClient, checkpoint: Dict, part: str, to: Path) -> None:
    for file in checkpoint["files"]:
        kind, _, rest = file["path"].partition("/")
        if kind == part:
            client.download(file, to / rest)
