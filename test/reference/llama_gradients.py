"""Reference values for the embedded engine: a small Llama in PyTorch, float64, and its gradients.

Written after Hugging Face's LlamaForCausalLM and independent of the engine. Writes test/fixtures/engine,
which is checked in; run it again only to change the cases:

    python3 -m venv /tmp/venv && /tmp/venv/bin/pip install torch numpy
    /tmp/venv/bin/python test/reference/llama_gradients.py

Any PyTorch from 1.13 on gives the same values to float32 precision.
"""

import json
import math
import struct
from pathlib import Path

import torch
import torch.nn.functional as F

OUT = Path(__file__).resolve().parent.parent / "fixtures" / "engine"
CONFIG = {
    "model_type": "llama", "vocab_size": 32, "hidden_size": 16, "num_hidden_layers": 2,
    "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 16, "intermediate_size": 24,
    "max_position_embeddings": 32, "rms_norm_eps": 1e-5, "rope_theta": 10000.0, "hidden_act": "silu",
}
LORA = {"rank": 3, "alpha": 6}
PROJECTIONS = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
OPTIMIZER = {"learningRate": 0.05, "beta1": 0.9, "beta2": 0.95, "epsilon": 1e-8, "weightDecay": 0.1, "maxGradNorm": 1.5}


def write_safetensors(path, tensors):
    header, blobs, end = {}, [], 0
    for name, tensor in tensors.items():
        blob = struct.pack(f"<{tensor.numel()}f", *tensor.detach().double().flatten().tolist())
        header[name] = {"dtype": "F32", "shape": list(tensor.shape), "data_offsets": [end, end + len(blob)]}
        end += len(blob)
        blobs.append(blob)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(struct.pack("<Q", len(text)) + text + b"".join(blobs))


def write_json(path, value):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value) + "\n")


def module_path(layer, module):
    return f"model.layers.{layer}.{'self_attn' if module in PROJECTIONS[:4] else 'mlp'}.{module}"


def shapes(tied):
    hidden, head = CONFIG["hidden_size"], CONFIG["head_dim"]
    wide, narrow = CONFIG["num_attention_heads"] * head, CONFIG["num_key_value_heads"] * head
    feed = CONFIG["intermediate_size"]
    linear = {"q_proj": (wide, hidden), "k_proj": (narrow, hidden), "v_proj": (narrow, hidden), "o_proj": (hidden, wide),
              "gate_proj": (feed, hidden), "up_proj": (feed, hidden), "down_proj": (hidden, feed)}
    result = {"model.embed_tokens.weight": (CONFIG["vocab_size"], hidden)}
    for layer in range(CONFIG["num_hidden_layers"]):
        for norm in ("input_layernorm", "post_attention_layernorm"):
            result[f"model.layers.{layer}.{norm}.weight"] = (hidden,)
        for module, shape in linear.items():
            result[module_path(layer, module) + ".weight"] = shape
    result["model.norm.weight"] = (hidden,)
    if not tied:
        result["lm_head.weight"] = (CONFIG["vocab_size"], hidden)
    return result


def float32(tensor):
    """Values that float32 holds exactly, in float64: both sides start from the same numbers."""
    return tensor.float().double()


def make_weights(tied, generator):
    weights = {}
    for name, shape in shapes(tied).items():
        noise = torch.randn(shape, generator=generator, dtype=torch.float64)
        if len(shape) == 1:
            weights[name] = float32(1 + 0.2 * noise.clamp(-2, 2))
        elif name.endswith(("embed_tokens.weight", "lm_head.weight")):
            weights[name] = float32(0.3 * noise)
        else:
            weights[name] = float32(noise / math.sqrt(shape[1]))
    return weights


def make_adapter(generator):
    adapter = {}
    for name, shape in shapes(True).items():
        if name.removesuffix(".weight").split(".")[-1] not in PROJECTIONS:
            continue
        stem = "base_model.model." + name.removesuffix(".weight")
        for matrix, size in (("lora_A", (LORA["rank"], shape[1])), ("lora_B", (shape[0], LORA["rank"]))):
            noise = torch.rand(size, generator=generator, dtype=torch.float64) - 0.5
            adapter[f"{stem}.{matrix}.weight"] = float32(0.6 * noise)
    return adapter


def rms_norm(x, weight):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + CONFIG["rms_norm_eps"]) * weight


def rotate_half(x):
    half = x.shape[-1] // 2
    return torch.cat([-x[..., half:], x[..., :half]], -1)


def forward(weights, adapter, ids):
    """Logits [S, V] of one sequence."""
    heads, narrow, head = CONFIG["num_attention_heads"], CONFIG["num_key_value_heads"], CONFIG["head_dim"]
    length = len(ids)

    def linear(x, layer, module):
        stem = module_path(layer, module)
        y = x @ weights[stem + ".weight"].T
        if adapter is None:
            return y
        a, b = (adapter[f"base_model.model.{stem}.{m}.weight"] for m in ("lora_A", "lora_B"))
        return y + LORA["alpha"] / LORA["rank"] * (x @ a.T @ b.T)

    frequencies = 1.0 / CONFIG["rope_theta"] ** (torch.arange(0, head, 2, dtype=torch.float64) / head)
    angles = torch.arange(length, dtype=torch.float64)[:, None] * frequencies
    cos, sin = torch.cat([angles.cos()] * 2, -1), torch.cat([angles.sin()] * 2, -1)
    mask = torch.triu(torch.full((length, length), -math.inf, dtype=torch.float64), 1)
    x = weights["model.embed_tokens.weight"][torch.tensor(ids)]
    for layer in range(CONFIG["num_hidden_layers"]):
        h = rms_norm(x, weights[f"model.layers.{layer}.input_layernorm.weight"])
        q, k, v = (linear(h, layer, module) for module in ("q_proj", "k_proj", "v_proj"))
        q = q.reshape(length, heads, head).transpose(0, 1)
        k, v = (t.reshape(length, narrow, head).transpose(0, 1) for t in (k, v))
        q, k = (t * cos + rotate_half(t) * sin for t in (q, k))
        k, v = (t.repeat_interleave(heads // narrow, 0) for t in (k, v))
        scores = q @ k.transpose(-1, -2) / math.sqrt(head) + mask
        attended = (scores.softmax(-1) @ v).transpose(0, 1).reshape(length, heads * head)
        x = x + linear(attended, layer, "o_proj")
        h = rms_norm(x, weights[f"model.layers.{layer}.post_attention_layernorm.weight"])
        x = x + linear(F.silu(linear(h, layer, "gate_proj")) * linear(h, layer, "up_proj"), layer, "down_proj")
    x = rms_norm(x, weights["model.norm.weight"])
    return x @ weights.get("lm_head.weight", weights["model.embed_tokens.weight"]).T


def objective(weights, adapter, batch):
    """Loss (mean over learnt tokens) and the metrics a step reports."""
    total = sum(sum(s["mask"]) for s in batch["sequences"])
    loss, kl, entropy, clipped, logprobs = 0.0, 0.0, 0.0, 0, []
    for s in batch["sequences"]:
        logits = forward(weights, adapter, s["ids"]) / batch["temperature"]
        distribution = logits.log_softmax(-1)
        logprobs.append([])
        for position, learnt in enumerate(s["mask"]):
            if not learnt:
                continue
            row = distribution[position - 1]
            logprob = row[s["ids"][position]]
            logprobs[-1].append(logprob)
            entropy = entropy - (row.exp() * row).sum()
            advantage = s["advantages"][position]
            if batch["loss"] == "ppo":
                ratio = (logprob - s["oldLogprobs"][position]).exp()
                bounded = ratio.clamp(1 - batch["clipLow"], 1 + batch["clipHigh"])
                loss = loss - torch.min(ratio * advantage, bounded * advantage)
                clipped += int(bounded * advantage < ratio * advantage)
            else:
                loss = loss - advantage * logprob
            if batch["klCoef"] > 0:
                towards = s["refLogprobs"][position] - logprob
                estimate = towards.exp() - towards - 1
                kl = kl + estimate
                loss = loss + batch["klCoef"] * estimate
    metrics = {"loss": loss.item() / total, "entropy": entropy.item() / total, "tokens": total,
               "clipFraction": clipped / total, "logprobs": [[x.item() for x in row] for row in logprobs]}
    if batch["klCoef"] > 0:
        metrics["kl"] = kl.item() / total
    return loss / total, metrics


def make_batch(weights, adapter, loss, generator, **options):
    batch = {"loss": loss, "clipLow": 0.2, "clipHigh": 0.28, "klCoef": 0.0, "temperature": 1.0, **options}
    uniform = lambda: float(torch.rand((), generator=generator))
    sequences = []
    for length, prompt in ((9, 3), (5, 2), (12, 6), (7, 1)):
        ids = [int(uniform() * CONFIG["vocab_size"]) for _ in range(length)]
        # Holes in the mask and an unlearnt tail: what is learnt need not be the end of a sequence.
        mask = [int(i >= prompt and i % 5 != 4) for i in range(length)]
        sequences.append({"ids": ids, "mask": mask, "advantages": [float(m) if loss == "sft" else 3 * (uniform() - 0.5) for m in mask]})
    batch["sequences"] = sequences
    for s in sequences:
        if loss != "ppo":
            continue
        now = forward(weights, adapter, s["ids"]) / batch["temperature"]
        now = now.log_softmax(-1)[:-1].gather(1, torch.tensor(s["ids"][1:])[:, None])[:, 0]
        shifted = lambda spread: [0.0] + [torch.tensor(x.item() + spread * (uniform() - 0.5)).float().item() for x in now]
        s["oldLogprobs"] = shifted(1.2)
        s["refLogprobs"] = shifted(1.2)
    return batch


def make_case(name, folder, weights, adapter, batch):
    trained = weights if adapter is None else adapter
    leaves = {key: tensor.clone().requires_grad_() for key, tensor in trained.items()}
    loss, metrics = objective(leaves if adapter is None else weights, None if adapter is None else leaves, batch)
    loss.backward()
    gradients = {key: tensor.grad for key, tensor in leaves.items()}
    metrics["gradNorm"] = math.sqrt(sum(float(g.pow(2).sum()) for g in gradients.values()))
    write_safetensors(OUT / "gradients" / f"{name}.safetensors", gradients)
    return {"name": name, "model": folder, "adapter": adapter is not None, "batch": batch, "expected": metrics}


def adamw_case(generator):
    """Three clipped AdamW steps of a matrix and a vector, the vector without decay."""
    random = lambda *shape: float32(torch.randn(shape, generator=generator, dtype=torch.float64))
    matrix, vector = random(4, 5).requires_grad_(), random(6).requires_grad_()
    groups = [{"params": [matrix], "weight_decay": OPTIMIZER["weightDecay"]}, {"params": [vector], "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, lr=OPTIMIZER["learningRate"], betas=(OPTIMIZER["beta1"], OPTIMIZER["beta2"]), eps=OPTIMIZER["epsilon"])
    case = {"optimizer": OPTIMIZER, "start": [matrix.flatten().tolist(), vector.tolist()], "steps": []}
    for scale in (1.0, 0.05, 3.0):
        matrix.grad, vector.grad = float32(scale * random(4, 5)), float32(scale * random(6))
        gradients = [matrix.grad.flatten().tolist(), vector.grad.tolist()]
        norm = float(torch.nn.utils.clip_grad_norm_([matrix, vector], OPTIMIZER["maxGradNorm"]))
        optimizer.step()
        case["steps"].append({"gradients": gradients, "norm": norm, "weights": [matrix.flatten().tolist(), vector.tolist()]})
    return case


def main():
    generator = torch.Generator().manual_seed(7)
    models = {}
    for folder, tied in (("llama-tied", True), ("llama-untied", False)):
        models[folder] = make_weights(tied, generator)
        write_json(OUT / folder / "config.json", {**CONFIG, "tie_word_embeddings": tied})
        write_safetensors(OUT / folder / "model.safetensors", models[folder])
    adapter = make_adapter(generator)
    write_safetensors(OUT / "adapter" / "adapter_model.safetensors", adapter)
    write_json(OUT / "adapter" / "adapter_config.json", {"peft_type": "LORA", "r": LORA["rank"], "lora_alpha": LORA["alpha"],
               "target_modules": PROJECTIONS, "bias": "none"})
    tied, untied = models["llama-tied"], models["llama-untied"]
    cases = []
    for name, folder, weights, lora, loss, options in (
        ("full-sft-tied", "llama-tied", tied, None, "sft", {}),
        ("full-ppo-tied", "llama-tied", tied, None, "ppo", {"temperature": 0.7, "klCoef": 0.1}),
        ("full-sft-untied", "llama-untied", untied, None, "sft", {}),
        ("full-ppo-untied", "llama-untied", untied, None, "ppo", {}),
        ("lora-sft", "llama-tied", tied, adapter, "sft", {}),
        ("lora-ppo", "llama-untied", untied, adapter, "ppo", {"temperature": 1.3, "klCoef": 0.05}),
    ):
        batch = make_batch(weights, lora, loss, generator, **options)
        cases.append(make_case(name, folder, weights, lora, batch))
        print(name, {k: v for k, v in cases[-1]["expected"].items() if k != "logprobs"})
    write_json(OUT / "cases.json", cases)
    write_json(OUT / "adamw.json", adamw_case(generator))


if __name__ == "__main__":
    main()
