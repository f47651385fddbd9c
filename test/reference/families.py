"""Reference values for the families of models the embedded engine runs, from Transformers and PEFT themselves.

Makes a tiny random model of each family, saves it as Transformers does (bfloat16 or float16, one of them in
shards) with an adapter as PEFT does, and writes what they compute: logits, log-probabilities, greedy answers
and the gradients of all weights and of the adapter. Parameters and activations are float64; Transformers
itself computes norms, attention weights and rotary tables in float32. Writes test/fixtures/engine/families,
which is checked in; run it again only to change the cases:

    python3 -m venv /tmp/venv && /tmp/venv/bin/pip install torch transformers peft
    /tmp/venv/bin/python test/reference/families.py
"""

import hashlib
import json
import math
import shutil
from pathlib import Path

import peft
import torch
import transformers
from safetensors.torch import save_file

OUT = Path(__file__).resolve().parent.parent / "fixtures" / "engine" / "families"
PROJECTIONS = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
SHAPE = {
    "vocab_size": 32, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
    "head_dim": 16, "intermediate_size": 24, "max_position_embeddings": 128, "rms_norm_eps": 1e-6,
}
# With 64 original positions the pairs of a head of 16 fall into all three ranges of the stretching.
LLAMA3_ROPE = {"rope_type": "llama3", "rope_theta": 10000.0, "factor": 8.0, "low_freq_factor": 1.0,
               "high_freq_factor": 4.0, "original_max_position_embeddings": 64}
PLAIN_ROPE = {"rope_type": "default", "rope_theta": 1000000.0}
FAMILIES = {
    "llama3": (transformers.LlamaConfig, {"tie_word_embeddings": True, "rope_parameters": LLAMA3_ROPE}, "bfloat16", "1GB"),
    "qwen2": (transformers.Qwen2Config, {"tie_word_embeddings": True, "rope_parameters": PLAIN_ROPE}, "bfloat16", "1GB"),
    "qwen3": (transformers.Qwen3Config, {"tie_word_embeddings": False, "rope_parameters": PLAIN_ROPE}, "float16", "9KB"),
}
PROMPTS = [[3, 17, 8, 30, 2], [12], [25, 25, 6, 11, 19, 31, 4, 9], [7, 1]]
NEW_TOKENS = 10


def randomize(model, generator):
    """Weights that bfloat16 and float16 hold exactly, none of them at a value where its term would vanish."""
    for name, parameter in model.named_parameters():
        noise = torch.randn(parameter.shape, generator=generator).clamp(-2.5, 2.5)
        if name.endswith("norm.weight"):
            value = 1 + 0.3 * noise
        elif name.endswith(".bias"):
            value = 0.5 * noise
        elif name.endswith(("embed_tokens.weight", "lm_head.weight")):
            value = 0.5 * noise
        else:
            value = noise / math.sqrt(parameter.shape[1])
        # In steps of 1/512 and then to bfloat16, so that float16 holds the small ones as well.
        parameter.data = ((value * 512).round() / 512).bfloat16().to(parameter.dtype)


def make_batch(generator):
    uniform = lambda: float(torch.rand((), generator=generator))
    sequences = []
    for length, prompt in ((9, 3), (5, 2), (12, 6)):
        ids = [int(uniform() * SHAPE["vocab_size"]) for _ in range(length)]
        mask = [int(i >= prompt and i % 5 != 4) for i in range(length)]
        advantages = [round(2 * uniform() - 0.5, 3) * m for m in mask]
        sequences.append({"ids": ids, "mask": mask, "advantages": advantages})
    return sequences


def measure(model, sequences):
    """The mean of -advantage times log-probability over learnt tokens, and what it is made of."""
    total = sum(sum(s["mask"]) for s in sequences)
    loss, logprobs, rows = 0.0, [], []
    for s in sequences:
        logits = model(torch.tensor([s["ids"]])).logits[0]
        distribution = logits.log_softmax(-1)
        for position, learnt in enumerate(s["mask"]):
            if learnt:
                logprob = distribution[position - 1, s["ids"][position]]
                loss = loss - s["advantages"][position] * logprob
                logprobs.append(logprob.item())
                rows.append(logits[position - 1].tolist())
    return loss / total, {"loss": loss.item() / total, "logprobs": logprobs, "logits": rows}


def greedy(model, prompt):
    """The tokens of the highest logit, and the smallest lead one of them had."""
    ids, lead = list(prompt), math.inf
    for _ in range(NEW_TOKENS):
        best = model(torch.tensor([ids])).logits[0, -1].topk(2)
        lead = min(lead, (best.values[0] - best.values[1]).item())
        ids.append(int(best.indices[0]))
    return {"prompt": prompt, "ids": ids[len(prompt):], "lead": lead}


def gradients(model, path, strip=""):
    grads = {name.replace(strip, ""): p.grad.float().contiguous() for name, p in model.named_parameters() if p.grad is not None}
    save_file(grads, path)


def tidy(folder):
    """Leaves out what a path on this machine or a date would change."""
    (folder / "README.md").unlink(missing_ok=True)
    path = folder / "adapter_config.json"
    config = json.loads(path.read_text())
    config["base_model_name_or_path"] = None
    config["target_modules"] = sorted(config["target_modules"])
    path.write_text(json.dumps(config, indent=2) + "\n")


def make_family(name, seed):
    config_class, options, dtype, shard = FAMILIES[name]
    generator = torch.Generator().manual_seed(seed)
    folder = OUT / name
    shutil.rmtree(folder, ignore_errors=True)
    model = transformers.AutoModelForCausalLM.from_config(config_class(**SHAPE, **options))
    randomize(model, generator)
    model.to(getattr(torch, dtype)).save_pretrained(folder, max_shard_size=shard)
    (folder / "generation_config.json").unlink(missing_ok=True)

    load = lambda: transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float64, attn_implementation="eager")
    sequences = make_batch(generator)
    model = load()
    loss, full = measure(model, sequences)
    loss.backward()
    gradients(model, folder / "gradients-full.safetensors")
    with torch.no_grad():
        answers = [greedy(model, prompt) for prompt in PROMPTS]

    lora = peft.get_peft_model(load(), peft.LoraConfig(r=3, lora_alpha=6, target_modules=PROJECTIONS, task_type="CAUSAL_LM"))
    for key, parameter in lora.named_parameters():
        if "lora_" in key:
            noise = 0.6 * (torch.rand(parameter.shape, generator=generator) - 0.5)
            parameter.data = noise.float().double()
    lora_loss, adapted = measure(lora, sequences)
    lora_loss.backward()
    gradients(lora, folder / "gradients-lora.safetensors", ".default")
    lora.float().save_pretrained(folder / "adapter")
    tidy(folder / "adapter")

    versions = {module.__name__: module.__version__ for module in (torch, transformers, peft)}
    reference = {"versions": versions, "script": hashlib.sha256(Path(__file__).read_bytes()).hexdigest(),
                 "sequences": sequences, "full": full, "lora": adapted, "greedy": answers}
    (folder / "reference.json").write_text(json.dumps(reference) + "\n")
    print(name, full["loss"], adapted["loss"], min(answer["lead"] for answer in answers))


if __name__ == "__main__":
    for index, family in enumerate(FAMILIES):
        make_family(family, 11 + index)
