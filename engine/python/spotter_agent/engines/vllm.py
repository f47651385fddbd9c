"""vLLM's OpenAI server: how it says what it does, and when it can be asked."""

import re
from typing import Optional

# In the order in which they come; each is a phase of a cold start that people can see.
PHASES = [
    (re.compile(r"Starting to load model|Loading weights|Loading safetensors"), "load-weights"),
    (re.compile(r"torch\.compile|Compiling a graph|Dynamo bytecode"), "compile"),
    (re.compile(r"Capturing (CUDA|cudagraph)|Capturing cuda", re.IGNORECASE), "capture-graphs"),
    (re.compile(r"Application startup complete|Uvicorn running|Started server process"), "warm-up"),
]


def phase_of(line: str) -> Optional[str]:
    for pattern, phase in PHASES:
        if pattern.search(line):
            return phase
    return None
