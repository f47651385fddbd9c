"""What can be set about the agent itself, as JSON in SPOTTER_AGENT_OPTIONS. All have defaults."""

import json
from typing import Dict, NamedTuple

from .errors import JobError


class Options(NamedTuple):
    # How long the control plane may stay away before the container gives up.
    give_up_after_s: float = 600.0
    # Divides the waiting times between attempts at a request.
    speed: float = 1.0
    # Between two looks at the engine and its checkpoints.
    poll_s: float = 2.0
    # Time an engine has to save after it was asked to stop; spot instances give two minutes in all.
    grace_s: float = 75.0
    # Time a replica has until it answers.
    ready_within_s: float = 1_800.0
    # Where a replica listens. The port is any free one.
    host: str = "0.0.0.0"
    # The address that a replica is reached at; empty: this host's own in its network.
    address: str = ""
    # Where the hosts of one job find each other, see nodes.py.
    nodes_port: int = 29_399
    # Where Ray's head listens.
    ray_port: int = 6379
    # Between two signs of life of a further host.
    nodes_beat_s: float = 5.0
    # Where it is remembered which commands of an image overlay ran last; empty: /var/tmp/spotter-UID.
    overlay_marks_dir: str = ""
    hub_url: str = "https://huggingface.co"


def read_options(env: Dict[str, str]) -> Options:
    text = env.get("SPOTTER_AGENT_OPTIONS", "")
    if not text:
        return Options()
    try:
        given = json.loads(text)
        return Options(**given)
    except (ValueError, TypeError) as error:
        raise JobError("invalid_input", f"SPOTTER_AGENT_OPTIONS: {error}", where="SPOTTER_AGENT_OPTIONS") from error
