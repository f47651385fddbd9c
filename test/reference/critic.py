"""Reference values for the critic of the embedded engine, in PyTorch and float64: advantages summed up as the paper
defines them, and the clipped value loss with torch's own gradients and AdamW. Writes test/fixtures/engine/critic.json:

    python3 -m venv /tmp/venv && /tmp/venv/bin/pip install torch numpy
    /tmp/venv/bin/python test/reference/critic.py
"""

import hashlib
import json
from pathlib import Path

import torch

OUT = Path(__file__).resolve().parent.parent / "fixtures" / "engine" / "critic.json"
SETUP = {"learningRate": 0.05, "updates": 4, "clip": 0.08}
WIDTH = 5


def gae(reward, values, gamma, lam):
    """Each advantage by the sum of its definition, not by recursion."""
    length = len(values)
    rewards = [0.0] * (length - 1) + [reward]
    after = values[1:] + [0.0]
    surprises = [rewards[t] + gamma * after[t] - values[t] for t in range(length)]
    return [sum((gamma * lam) ** (later - t) * surprises[later] for later in range(t, length)) for t in range(length)]


def advantage_cases(generator):
    cases = []
    for gamma, lam, length in ((1.0, 0.95, 6), (0.9, 0.5, 5), (1.0, 1.0, 3), (0.99, 0.0, 4), (1.0, 0.95, 1)):
        values = torch.randn(length, generator=generator, dtype=torch.float64).tolist()
        reward = float(torch.randn((), generator=generator, dtype=torch.float64))
        advantages = gae(reward, values, gamma, lam)
        returns = [a + v for a, v in zip(advantages, values)]
        cases.append({"gamma": gamma, "lambda": lam, "reward": reward, "values": values,
                      "advantages": advantages, "returns": returns})
    return cases


def learning_cases(generator):
    """Two steps: the first begins at the mean return, the second is clipped to what was expected before it."""
    random = lambda *shape: torch.randn(shape, generator=generator, dtype=torch.float64).float().double()
    weight = torch.zeros(1, WIDTH, dtype=torch.float64, requires_grad=True)
    bias = torch.zeros(1, dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.AdamW([weight, bias], lr=SETUP["learningRate"], betas=(0.9, 0.95), eps=1e-5, weight_decay=0)
    steps = []
    for step in range(2):
        hidden, returns = random(7, WIDTH), random(7)
        if step == 0:
            with torch.no_grad():
                bias.fill_(returns.mean())
        value = lambda: hidden @ weight[0] + bias
        before = value().detach()
        clipped, first = 0, None
        for _ in range(SETUP["updates"]):
            now = value()
            held = torch.min(before + SETUP["clip"], torch.max(before - SETUP["clip"], now))
            free, bounded = (now - returns) ** 2, (held - returns) ** 2
            clipped += int((bounded > free).sum())
            loss = (torch.max(free, bounded) / 2).mean()
            first = loss.item() if first is None else first
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        assert clipped > 0
        steps.append({"hidden": hidden.flatten().tolist(), "returns": returns.tolist(), "values": before.tolist(),
                      "loss": first, "weight": weight.detach().flatten().tolist(), "bias": bias.item()})
    return steps


def main():
    generator = torch.Generator().manual_seed(5)
    script = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()
    made = {"script": "test/reference/critic.py", "sha256": script, "torch": torch.__version__}
    fixture = {"made": made, "setup": SETUP, "width": WIDTH, "advantages": advantage_cases(generator),
               "learning": learning_cases(generator)}
    OUT.write_text(json.dumps(fixture) + "\n")


if __name__ == "__main__":
    main()
