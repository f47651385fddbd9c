"""Reference token ids for the ways Qwen2/Qwen3 and Llama 3 cut text, from the tokenizers library itself.

Trains byte-level BPE of a few hundred pieces with each family's pattern and normalizer. Writes
test/fixtures/engine/tokenizers, which is checked in; run it again only to change the cases:

    python3 -m venv /tmp/venv && /tmp/venv/bin/pip install tokenizers
    /tmp/venv/bin/python test/reference/token_ids.py
"""

import hashlib
import json
from pathlib import Path

import tokenizers
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

OUT = Path(__file__).resolve().parent.parent / "fixtures" / "engine" / "tokenizers"
PATTERN = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}%s| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
FAMILIES = {"qwen": (PATTERN % "", normalizers.NFC()), "llama3": (PATTERN % "{1,3}", None)}
SPECIAL = ["<|im_start|>", "<|im_end|>"]
CORPUS = ["The old pond, a frog jumps in; the sound of water isn't far.", "We'll see 12345 frogs and 67890 more, won't we?",
          "def f(x):\n    return x + 1\n\n\nprint(f(41))", "Über die Brücke gehen café naïve Ärger", "日本の古い池や蛙飛び込む水の音"] * 4
TEXTS = ["The old pond", " It's 1234567 frogs; WE'LL see, DON'T we?", "a  b   c \n\n  d\t\te \r\n f  ", "x = f(1)  # twice\n\n\n",
         "cafe\u0301 nai\u0308ve Ångström", "日本の水、古池や。", "👩‍👩‍👧 🎋!!", "<|im_start|>user\nHi<|im_end|>\n", "", "   ", "½ ² Ⅳ 1,000.50"]


def main():
    for name, (pattern, normalizer) in FAMILIES.items():
        tokenizer = Tokenizer(models.BPE(ignore_merges=name == "llama3"))
        if normalizer is not None:
            tokenizer.normalizer = normalizer
        byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
        tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(pattern), "isolated"), byte_level])
        tokenizer.decoder = decoders.ByteLevel()
        trainer = trainers.BpeTrainer(vocab_size=420, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False)
        tokenizer.train_from_iterator(CORPUS, trainer)
        tokenizer.add_special_tokens([AddedToken(token, special=True, normalized=False) for token in SPECIAL])
        cases = [{"text": text, "ids": tokenizer.encode(text, add_special_tokens=False).ids} for text in TEXTS]
        for case in cases:
            case["decoded"] = tokenizer.decode(case["ids"], skip_special_tokens=True)
        folder = OUT / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "tokenizer.json").write_text(json.dumps(json.loads(tokenizer.to_str())) + "\n")
        reference = {"versions": {"tokenizers": tokenizers.__version__},
                     "script": hashlib.sha256(Path(__file__).read_bytes()).hexdigest(), "cases": cases}
        (folder / "reference.json").write_text(json.dumps(reference) + "\n")
        print(name, [len(case["ids"]) for case in cases])


if __name__ == "__main__":
    main()
