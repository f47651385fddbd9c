"""Reference values for the optimizers of the embedded engine, in PyTorch and float64.

SGD is torch.optim.SGD itself; Muon and sign-SGD are written out after their papers. Writes
test/fixtures/engine/optimizers.json, which is checked in; run it again only to change the cases:

    python3 -m venv /tmp/venv && /tmp/venv/bin/pip install torch numpy
    /tmp/venv/bin/python test/reference/optimizers.py
"""

import hashlib
import json
import math
from pathlib import Path

import torch

OUT = Path(__file__).resolve().parent.parent / "fixtures" / "engine" / "optimizers.json"
RATE, MAX_NORM = 0.05, 1.5
# name: shape and the rows of its parts, each a matrix of its own on disk
SHAPES = {
    "matrix": ((4, 6), (4,)),
    "stacked": ((7, 3), (5, 2)),
    "model.embed_tokens.weight": ((5, 3), (5,)),
    "vector": ((6,), (6,)),
}
COEFFICIENTS = [(4.0848, -6.8946, 2.9270), (3.9505, -6.3029, 2.6377), (3.7418, -5.5913, 2.3037),
                (2.8769, -3.1427, 1.2046), (2.8366, -3.0525, 1.2012)]


def float32(tensor):
    return tensor.float().double()


def orthogonal(matrix):
    """Newton-Schulz: U V^T of the singular value decomposition, about."""
    x = matrix / (matrix.norm() + 1e-8)
    for a, b, c in COEFFICIENTS:
        inner = x @ x.T
        x = a * x + (b * inner + c * inner @ inner) @ x
    u, _, vh = torch.linalg.svd(matrix, full_matrices=False)
    assert (x - u @ vh).abs().max() < 0.2, (x, u @ vh)
    return x


class Muon:
    """Momentum made orthogonal for matrices, torch.optim.AdamW for what is none."""

    def __init__(self, weights, decay):
        self.weights, self.decay = weights, decay
        self.momenta = {name: torch.zeros_like(weights[name]) for name in ("matrix", "stacked")}
        groups = [{"params": [weights["model.embed_tokens.weight"]], "weight_decay": decay},
                  {"params": [weights["vector"]], "weight_decay": 0.0}]
        self.rest = torch.optim.AdamW(groups, lr=RATE, betas=(0.9, 0.95), eps=1e-8)

    def step(self):
        for name, momentum in self.momenta.items():
            momentum.mul_(0.95).add_(self.weights[name].grad)
            columns = momentum.shape[1]
            step = torch.cat([0.2 * math.sqrt(max(part.shape[0], columns)) * orthogonal(part)
                              for part in momentum.split(SHAPES[name][1])])
            with torch.no_grad():
                self.weights[name].mul_(1 - RATE * self.decay).sub_(RATE * step)
        self.rest.step()


class SignSgd:
    def __init__(self, weights, decay):
        self.weights, self.decay = weights, decay

    def step(self):
        with torch.no_grad():
            for name, weight in self.weights.items():
                if len(SHAPES[name][0]) > 1:
                    weight.mul_(1 - RATE * self.decay)
                weight.sub_(RATE * weight.grad.sign())


def sgd(momentum, nesterov):
    def create(weights, decay):
        groups = [{"params": [weight], "weight_decay": decay if weight.ndim > 1 else 0.0} for weight in weights.values()]
        return torch.optim.SGD(groups, lr=RATE, momentum=momentum, nesterov=nesterov)
    return create


def case(setup, create, generator):
    random = lambda shape: float32(torch.randn(shape, generator=generator, dtype=torch.float64))
    weights = {name: random(shape).requires_grad_() for name, (shape, _) in SHAPES.items()}
    flat = lambda tensors: {name: tensor.detach().flatten().tolist() for name, tensor in tensors.items()}
    result = {"setup": {**setup, "weightDecay": 0.1, "maxGradNorm": MAX_NORM}, "start": flat(weights), "steps": []}
    optimizer = create(weights, 0.1)
    for scale in (1.0, 0.05, 3.0):
        for name, weight in weights.items():
            weight.grad = float32(scale * random(SHAPES[name][0]))
        gradients = flat({name: weight.grad for name, weight in weights.items()})
        norm = float(torch.nn.utils.clip_grad_norm_(weights.values(), MAX_NORM))
        optimizer.step()
        result["steps"].append({"gradients": gradients, "norm": norm, "weights": flat(weights)})
    return result


def main():
    generator = torch.Generator().manual_seed(11)
    cases = [
        case({"type": "sgd", "momentum": 0.9, "nesterov": True}, sgd(0.9, True), generator),
        case({"type": "sgd", "momentum": 0.9, "nesterov": False}, sgd(0.9, False), generator),
        case({"type": "sgd", "momentum": 0, "nesterov": False}, sgd(0.0, False), generator),
        case({"type": "muon", "momentum": 0.95, "beta1": 0.9, "beta2": 0.95, "epsilon": 1e-8}, Muon, generator),
        case({"type": "sign_sgd"}, SignSgd, generator),
    ]
    script = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()
    made = {"script": "test/reference/optimizers.py", "sha256": script, "torch": torch.__version__}
    parts = {name: {"shape": shape, "rows": rows} for name, (shape, rows) in SHAPES.items()}
    OUT.write_text(json.dumps({"made": made, "learningRate": RATE, "parameters": parts, "cases": cases}) + "\n")


if __name__ == "__main__":
    main()
