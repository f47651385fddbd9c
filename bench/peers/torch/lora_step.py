"""One LoRA training step of a 135M-parameter Llama shape in PyTorch, eager and compiled.

    python lora_step.py THREADS BATCH POSITIONS RANK [--compile]

Same shape, adapters on all seven projections, AdamW on the adapters, loss on every position. Prints one JSON
line: {"version", "eagerMs", "compileMs"}.
"""
import json
import math
import sys
import time

import torch
import torch.nn.functional as F

threads, batch, positions, rank = (int(a) for a in sys.argv[1:5])
torch.set_num_threads(threads)
torch.manual_seed(0)
D, L, H, KV, FF, V = 576, 30, 9, 3, 1536, 49152
HD = D // H
SHAPES = dict(q=(D, D), k=(KV * HD, D), v=(KV * HD, D), o=(D, D), g=(FF, D), u=(FF, D), d=(D, FF))


def layer():
    base = {n: torch.randn(s) * 0.02 for n, s in SHAPES.items()}
    base |= {"n1": torch.ones(D), "n2": torch.ones(D)}
    lora = {
        n: ((torch.randn(rank, s[1]) * 0.02).requires_grad_(True), torch.zeros(s[0], rank).requires_grad_(True))
        for n, s in SHAPES.items()
    }
    return base, lora


layers = [layer() for _ in range(L)]
embed = torch.randn(V, D) * 0.02
final_norm = torch.ones(D)
inv = 1.0 / (10000 ** (torch.arange(0, HD, 2).float() / HD))
angles = torch.arange(positions)[:, None].float() * inv
cos, sin = (torch.cat([t, t], -1) for t in (angles.cos(), angles.sin()))


def rms(x, w):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5) * w


def rope(x):
    a, b = x[..., : HD // 2], x[..., HD // 2 :]
    return x * cos + torch.cat([-b, a], -1) * sin


def linear(x, base, lora, name):
    a, b = lora[name]
    return F.linear(x, base[name]) + F.linear(F.linear(x, a), b) * 2


def forward(ids):
    b, t = ids.shape
    x = F.embedding(ids, embed)
    for base, lora in layers:
        h = rms(x, base["n1"])
        q = linear(h, base, lora, "q").view(b, t, H, HD).transpose(1, 2)
        k = linear(h, base, lora, "k").view(b, t, KV, HD).transpose(1, 2)
        v = linear(h, base, lora, "v").view(b, t, KV, HD).transpose(1, 2)
        q, k = rope(q), rope(k)
        k, v = k.repeat_interleave(H // KV, 1), v.repeat_interleave(H // KV, 1)
        a = F.scaled_dot_product_attention(q, k, v, is_causal=True) if hasattr(F, "scaled_dot_product_attention") else (
            (q @ k.transpose(-1, -2) / math.sqrt(HD) + torch.triu(torch.full((t, t), -1e9), 1)).softmax(-1) @ v
        )
        x = x + linear(a.transpose(1, 2).reshape(b, t, D), base, lora, "o")
        h = rms(x, base["n2"])
        x = x + linear(F.silu(linear(h, base, lora, "g")) * linear(h, base, lora, "u"), base, lora, "d")
    return F.linear(rms(x, final_norm), embed)


def loss_of(ids, targets):
    return F.cross_entropy(forward(ids).reshape(-1, V), targets.reshape(-1))


params = [w for _, lora in layers for pair in lora.values() for w in pair]
optimizer = torch.optim.AdamW(params, lr=1e-4)
tokens = torch.randint(0, V, (batch, positions + 1))


def median_ms(function, repeats=7, warmups=2):
    for _ in range(warmups):
        function()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append((time.perf_counter() - start) * 1e3)
    return sorted(times)[len(times) // 2]


def step_with(loss_function):
    def step():
        loss = loss_function(tokens[:, :-1], tokens[:, 1:])
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(params, 1.0)
        optimizer.step()

    return step


result = {"version": torch.__version__, "eagerMs": median_ms(step_with(loss_of)), "compileMs": None}
if "--compile" in sys.argv:
    result["compileMs"] = median_ms(step_with(torch.compile(loss_of)))
print(json.dumps(result))
