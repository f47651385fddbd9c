"""Reference values for the policy losses of the embedded engine: each objective as its paper writes it, in PyTorch
float64 over the small Llama of llama_gradients.py, differentiated by autograd.

Written after the papers and independent of the engine, which has the derivatives in closed form. Writes
test/fixtures/engine/policy-losses.json, which is checked in; run it again only to change the cases:

    python3 -m venv /tmp/venv && /tmp/venv/bin/pip install torch numpy
    /tmp/venv/bin/python test/reference/policy_losses.py
"""

import hashlib
import json
import math
import struct
from pathlib import Path

import torch

from llama_gradients import OUT, forward

# Of these the whole gradient is kept, of the others its norm.
WHOLE = ("norm.weight",)
HEAD_ROWS = 4


def read_safetensors(path):
    blob = path.read_bytes()
    (size,) = struct.unpack("<Q", blob[:8])
    tensors = {}
    for name, entry in json.loads(blob[8:8 + size]).items():
        start, end = (8 + size + offset for offset in entry["data_offsets"])
        values = struct.unpack(f"<{(end - start) // 4}f", blob[start:end])
        tensors[name] = torch.tensor(values, dtype=torch.float64).reshape(entry["shape"])
    return tensors


def kl_estimate(estimator, logprob, ref):
    """Schulman's estimators of KL(policy || reference): http://joschu.net/blog/kl-approx.html."""
    if estimator == "k1":
        return logprob - ref
    if estimator == "k2":
        return (logprob - ref) ** 2 / 2
    return (ref - logprob).exp() - 1 - (ref - logprob)


def clipped(ratio, advantage, batch):
    """min(r A, clip(r) A), arXiv:1707.06347 eq. 7; unequal bounds are arXiv:2503.14476 eq. 10."""
    if batch["loss"] == "importance_sampling":
        return ratio * advantage, torch.zeros_like(ratio, dtype=torch.bool)
    bounded = ratio.clamp(1 - batch["clipLow"], 1 + batch["clipHigh"])
    return torch.minimum(ratio * advantage, bounded * advantage), bounded * advantage < ratio * advantage


def token_surrogates(batch, logprob, old, advantage):
    """What each token adds to the objective, and whether its ratio was clipped or the token left out."""
    log_ratio = logprob - old
    if batch["loss"] in ("dppo", "ipo"):
        # arXiv:2602.04879: binary total variation, |p - q| of the sampled token alone.
        moved = (logprob.exp() - old.exp()).detach()
        if batch["loss"] == "ipo":
            dropped = moved.abs() > batch["maskHigh"]
        else:
            dropped = torch.where(advantage > 0, moved > batch["maskHigh"], moved < -batch["maskLow"])
        # arXiv:2602.02276: the squared log-ratio keeps the policy near the one that sampled.
        return log_ratio.exp() * advantage * ~dropped - batch["driftCoef"] * log_ratio ** 2, dropped
    if batch.get("ratio") == "sequence":
        # arXiv:2507.18071 eq. 14: s(y) in value, the token's own ratio in the derivative.
        sequence = log_ratio.mean().detach().exp()
        return clipped(sequence * (logprob - logprob.detach()).exp(), advantage, batch)
    return clipped(log_ratio.exp(), advantage, batch)


def objective(weights, batch):
    """The loss as it is minimised, and the share of tokens that was clipped."""
    counts = [sum(s["mask"]) for s in batch["sequences"]]
    normalizer = batch.get("normalizer", "token")
    loss, dropped_tokens = 0.0, 0
    for s, count in zip(batch["sequences"], counts):
        learnt = [i for i, m in enumerate(s["mask"]) if m]
        pick = lambda name: torch.tensor([s[name][i] for i in learnt], dtype=torch.float64)
        rows = (forward(weights, None, s["ids"]) / batch["temperature"]).log_softmax(-1)[[i - 1 for i in learnt]]
        logprob = rows.gather(1, torch.tensor([[s["ids"][i]] for i in learnt]))[:, 0]
        old, advantage = pick("oldLogprobs"), pick("advantages")
        if "importanceCap" in batch:
            # Trainer against sampler, truncated; no gradient.
            advantage = advantage * (old - pick("samplerLogprobs")).exp().clamp(max=batch["importanceCap"])
        if batch.get("wholeSequences"):
            # arXiv:2507.18071 eq. 5: one ratio and one advantage a sequence, nothing token by token.
            surrogate, dropped = clipped((logprob - old).mean().exp(), advantage[0], batch)
            loss = loss - surrogate / len(counts)
            dropped_tokens += int(dropped) * count
            continue
        surrogate, dropped = token_surrogates(batch, logprob, old, advantage)
        per_token = -surrogate
        if batch["klCoef"] > 0:
            per_token = per_token + batch["klCoef"] * kl_estimate(batch.get("klEstimator", "k3"), logprob, pick("refLogprobs"))
        entropy = -(rows.exp() * rows).sum(-1)
        per_token = per_token - batch.get("entropyCoef", 0.0) * entropy
        if normalizer == "sequence":
            loss = loss + per_token.mean() / len(counts)
        else:
            loss = loss + per_token.sum() / (sum(counts) if normalizer == "token" else normalizer)
        dropped_tokens += int(dropped.sum())
    return loss, dropped_tokens / sum(counts)


def make_batch(weights, generator, options):
    batch = {"loss": "ppo", "clipLow": 0.2, "clipHigh": 0.28, "klCoef": 0.0, "temperature": 1.0, **options}
    uniform = lambda: float(torch.rand((), generator=generator))
    sequences = []
    for (length, prompt), advantage, shift in zip(
        ((9, 3), (5, 2), (12, 6), (7, 1)), (1.4, -0.6, 0.5, -1.1), (0.5, -0.1, -0.35, 0.4)
    ):
        ids = [int(uniform() * 32) for _ in range(length)]
        mask = [int(i >= prompt and i % 5 != 4) for i in range(length)]
        spread = 0.0 if batch.get("wholeSequences") else 1.0
        now = (forward(weights, None, ids) / batch["temperature"]).log_softmax(-1)[:-1]
        now = [0.0] + now.gather(1, torch.tensor(ids[1:])[:, None])[:, 0].tolist()
        near = lambda width: [round(x - shift + width * (uniform() - 0.5), 6) for x in now]
        sequence = {"ids": ids, "mask": mask, "oldLogprobs": near(1.0)}
        sequence["advantages"] = [round(m * (advantage + spread * (uniform() - 0.5)), 6) for m in mask]
        if batch["klCoef"] > 0:
            sequence["refLogprobs"] = near(1.6)
        if "importanceCap" in batch:
            sequence["samplerLogprobs"] = [round(x + 0.8 * (uniform() - 0.5), 6) for x in sequence["oldLogprobs"]]
        sequences.append(sequence)
    return {**batch, "sequences": sequences}


CASES = (
    # name, options, the same without what the case is about
    ("importance-sampling", {"loss": "importance_sampling"}, {"loss": "ppo"}),
    ("clip-higher", {"clipHigh": 0.6}, {"clipHigh": 0.2}),
    ("mean-of-sequences", {"normalizer": "sequence"}, {"normalizer": "token"}),
    ("constant-divisor", {"normalizer": 40}, {"normalizer": "token"}),
    ("kl-k1", {"klCoef": 0.3, "klEstimator": "k1"}, {"klCoef": 0.0}),
    ("kl-k2", {"klCoef": 0.3, "klEstimator": "k2"}, {"klCoef": 0.0}),
    ("kl-k3", {"klCoef": 0.3, "klEstimator": "k3", "normalizer": "sequence"}, {"klCoef": 0.0}),
    ("entropy", {"entropyCoef": 0.4, "temperature": 0.7}, {"entropyCoef": 0.0}),
    ("gspo", {"ratio": "sequence", "normalizer": "sequence", "wholeSequences": True}, {"ratio": "token"}),
    ("gspo-token", {"ratio": "sequence"}, {"ratio": "token"}),
    ("sequence-importance", {"loss": "importance_sampling", "ratio": "sequence"}, {"ratio": "token"}),
    ("sampler-mismatch", {"importanceCap": 1.1}, {"importanceCap": 1e9}),
    ("dppo", {"loss": "dppo", "maskLow": 0.005, "maskHigh": 0.01, "driftCoef": 0.0}, {"maskLow": 9, "maskHigh": 9}),
    ("dppo-drift", {"loss": "dppo", "maskLow": 0.005, "maskHigh": 0.01, "driftCoef": 0.2}, {"driftCoef": 0.0}),
    ("ipo", {"loss": "ipo", "maskHigh": 0.01, "driftCoef": 0.05}, {"maskHigh": 9}),
    ("together", {"klCoef": 0.2, "klEstimator": "k2", "entropyCoef": 0.3, "importanceCap": 1.5, "normalizer": 30,
                  "ratio": "sequence", "temperature": 1.3}, {"entropyCoef": 0.0}),
)


def make_case(name, options, without, weights, generator):
    batch = make_batch(weights, generator, options)
    leaves = {key: tensor.clone().requires_grad_() for key, tensor in weights.items()}
    loss, clip_fraction = objective(leaves, batch)
    loss.backward()
    gradients = {key: leaf.grad for key, leaf in leaves.items()}
    whole = {key: g.flatten().tolist() for key, g in gradients.items() if key.endswith(WHOLE)}
    whole["lm_head.weight"] = gradients["lm_head.weight"][:HEAD_ROWS].flatten().tolist()
    batch.pop("wholeSequences", None)
    expected = {
        "loss": loss.item(),
        "clipFraction": clip_fraction,
        "norms": {key: float(f"{math.sqrt(float((g ** 2).sum())):.9g}") for key, g in gradients.items()},
        "gradients": {key: [float(f"{x:.9g}") for x in values] for key, values in whole.items()},
    }
    return {"name": name, "batch": batch, "without": without, "expected": expected}


def main():
    generator = torch.Generator().manual_seed(11)
    weights = read_safetensors(OUT / "llama-untied" / "model.safetensors")
    cases = [make_case(name, options, without, weights, generator) for name, options, without in CASES]
    for case in cases:
        print(case["name"], round(case["expected"]["loss"], 5), round(case["expected"]["clipFraction"], 3))
    about = {"versions": {"torch": torch.__version__}, "script": hashlib.sha256(Path(__file__).read_bytes()).hexdigest()}
    (OUT / "policy-losses.json").write_text(json.dumps({**about, "model": "llama-untied", "cases": cases}) + "\n")


if __name__ == "__main__":
    main()
