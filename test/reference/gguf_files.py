"""GGUF files and what the `gguf` package, Transformers and tokenizers make of them.

Writes test/fixtures/engine/gguf, which is checked in; run it again only to change the cases. It needs the
fixtures of families.py and token_ids.py:

    python3 -m venv /tmp/venv && /tmp/venv/bin/pip install torch transformers gguf tokenizers
    /tmp/venv/bin/python test/reference/gguf_files.py
"""

import base64
import hashlib
import json
import shutil
from importlib.metadata import version
from pathlib import Path

import gguf
import numpy as np
import tokenizers
import torch
import transformers
from gguf import GGMLQuantizationType as Type
from safetensors.torch import load_file
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures" / "engine"
OUT = FIXTURES / "gguf"
# Where the half-precision scales of a block lie, which must be numbers for the rest to be.
SCALES = {Type.F32: [], Type.F16: [], Type.BF16: [], Type.Q4_0: [0], Type.Q4_1: [0, 2], Type.Q5_0: [0], Type.Q5_1: [0, 2],
          Type.Q8_0: [0], Type.Q4_K: [0, 2], Type.Q5_K: [0, 2], Type.Q6_K: [208]}
WIDTH, ROWS = 256, 2
MODELS = {"llama3": ("llama", Type.F32), "qwen2": ("qwen2", Type.BF16), "qwen3": ("qwen3", Type.F16)}
PRE = {"qwen": "qwen2", "llama3": "llama-bpe", "smollm": "smollm"}
TEXTS = ["The old pond", " It's 1234567 frogs; WE'LL see, DON'T we?", "a  b   c \n\n  d\t\te \r\n f  ", "x = f(1)  # twice\n\n\n",
         "Ångström 日本の水、古池や。", "<|im_start|>user\nHi 42<|im_end|>\n", "   ", "½ ² Ⅳ 1,000.50"]


def write_types(random):
    """One tensor of every type, of random bytes, and the float32 it stands for."""
    writer = gguf.GGUFWriter(OUT / "types.gguf", "llama")
    expected = {}
    for kind, scales in SCALES.items():
        elements, size = gguf.GGML_QUANT_SIZES[kind]
        if scales or kind is Type.F32:
            blocks = random.integers(0, 256, (ROWS * WIDTH // elements, size), dtype=np.uint8)
        else:
            blocks = random.integers(0, 256, (ROWS * WIDTH, 2), dtype=np.uint8)
        for at in scales:
            # From subnormal to large, of both signs.
            exact = random.standard_normal(len(blocks)) * 10.0 ** random.integers(-7, 3, len(blocks))
            blocks[:, at : at + 2] = exact.astype(np.float16).view(np.uint8).reshape(-1, 2)
        if not scales:
            numbers = random.standard_normal(ROWS * WIDTH) * 10.0 ** random.integers(-6, 4, ROWS * WIDTH)
            as_type = {Type.F32: numbers.astype(np.float32), Type.F16: numbers.astype(np.float16),
                       Type.BF16: (numbers.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)}[kind]
            blocks = as_type.view(np.uint8)
        data = blocks.reshape(ROWS, -1)
        expected[kind.name] = base64.b64encode(gguf.quants.dequantize(data, kind).astype("<f4").tobytes()).decode()
        writer.add_tensor(kind.name, data, raw_dtype=kind)
    finish(writer)
    numbers = np.frombuffer(base64.b64decode(expected["F32"]), dtype="<f4").reshape(ROWS, WIDTH)
    written = {kind.name: base64.b64encode(gguf.quants.quantize(numbers, kind).tobytes()).decode()
               for kind in (Type.F16, Type.BF16, Type.Q8_0)}
    return expected, written


def permute(weights, heads):
    """Neighbouring pairs, as llama.cpp turns them, from the two halves of Hugging Face's heads."""
    return weights.reshape(heads, 2, weights.shape[0] // heads // 2, *weights.shape[1:]).swapaxes(1, 2).reshape(weights.shape)


def write_model(name):
    architecture, kind = MODELS[name]
    folder = FIXTURES / "families" / name
    config = json.loads((folder / "config.json").read_text())
    writer = gguf.GGUFWriter(OUT / f"{name}.gguf", architecture)
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(config["hidden_size"])
    writer.add_block_count(config["num_hidden_layers"])
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_head_count(config["num_attention_heads"])
    writer.add_head_count_kv(config["num_key_value_heads"])
    writer.add_key_length(config["head_dim"])
    writer.add_value_length(config["head_dim"])
    writer.add_layer_norm_rms_eps(config["rms_norm_eps"])
    writer.add_rope_freq_base(config["rope_parameters"]["rope_theta"])
    writer.add_rope_dimension_count(config["head_dim"])
    names = gguf.get_tensor_name_map(getattr(gguf.MODEL_ARCH, architecture.upper()), config["num_hidden_layers"])
    tensors = {key: value for file in sorted(folder.glob("model*.safetensors")) for key, value in load_file(file).items()}
    for key, tensor in tensors.items():
        data = tensor.float().numpy()
        if architecture == "llama" and key.endswith(("q_proj.weight", "k_proj.weight")):
            data = permute(data, config["num_attention_heads" if "q_proj" in key else "num_key_value_heads"])
        new = names.get_name(key, try_suffixes=(".weight", ".bias"))
        stored = Type.F32 if data.ndim == 1 else kind
        writer.add_tensor(new, gguf.quants.quantize(data, stored), raw_dtype=stored)
    if name == "llama3":
        # As Llama 3.1 to 3.3: factor 8 or 32 from 8192 positions, whatever the fixture of the family has.
        wavelengths = 2 * np.pi * config["rope_parameters"]["rope_theta"] ** (np.arange(0, config["head_dim"], 2) / config["head_dim"])
        kept = np.clip((8192 / wavelengths - 1) / 3, 0, 1)
        writer.add_tensor("rope_freqs.weight", (1 / (kept + (1 - kept) / 32)).astype(np.float32))
    write_vocabulary(writer, "gpt-2", [f"t{index}" for index in range(config["vocab_size"])], [1] * config["vocab_size"], ["t 1"])
    finish(writer)
    check_transformers(name, tensors)


def check_transformers(name, tensors):
    """Transformers reads the same numbers out of the file, under the same names."""
    # Its own reading of the metadata leaves out the size of a head for some families.
    config = transformers.AutoConfig.from_pretrained(FIXTURES / "families" / name)
    model = transformers.AutoModelForCausalLM.from_pretrained(OUT, gguf_file=f"{name}.gguf", config=config, dtype=torch.float32)
    for key, value in model.state_dict().items():
        wanted = tensors.get(key, tensors["model.embed_tokens.weight"])
        assert torch.equal(value, wanted.float()), (name, key)


def write_vocabulary(writer, pre, tokens, types, merges, template=None):
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre(pre)
    writer.add_token_list(tokens)
    writer.add_token_types(types)
    writer.add_token_merges(merges)
    writer.add_bos_token_id(0)
    writer.add_eos_token_id(len(tokens) - 1)
    if template is not None:
        writer.add_chat_template(template)


def write_tokenizer(name):
    """The vocabulary of a tokenizer, and the ids tokenizers itself gives for some texts."""
    tokenizer = smollm() if name == "smollm" else Tokenizer.from_file(str(FIXTURES / "tokenizers" / name / "tokenizer.json"))
    described = json.loads(tokenizer.to_str())
    pieces = sorted(tokenizer.get_vocab(with_added_tokens=True).items(), key=lambda pair: pair[1])
    special = {token["id"]: token["special"] for token in described["added_tokens"]}
    types = [1 if index not in special else 3 if special[index] else 4 for _, index in pieces]
    merges = [" ".join(pair) for pair in described["model"]["merges"]]
    writer = gguf.GGUFWriter(OUT / f"tokenizer-{name}.gguf", "llama")
    write_vocabulary(writer, PRE[name], [piece for piece, _ in pieces], types, merges, "{{ messages[0].content }}")
    finish(writer)
    return [{"text": text, "ids": tokenizer.encode(text, add_special_tokens=False).ids} for text in TEXTS]


def smollm():
    corpus = ["The old pond, a frog jumps in; the sound of water isn't far.", "We'll see 12345 frogs and 67890 more."] * 4
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)])
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.train_from_iterator(corpus, trainers.BpeTrainer(
        vocab_size=320, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False))
    tokenizer.add_special_tokens([AddedToken(token, special=True, normalized=False) for token in ("<|im_start|>", "<|im_end|>")])
    return tokenizer


def finish(writer):
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def main():
    shutil.rmtree(OUT, ignore_errors=True)
    OUT.mkdir(parents=True)
    expected, written = write_types(np.random.default_rng(5))
    for name in MODELS:
        write_model(name)
    cases = {name: write_tokenizer(name) for name in PRE}
    versions = {name: version(name) for name in ("gguf", "transformers", "tokenizers", "torch")}
    reference = {"versions": versions, "script": hashlib.sha256(Path(__file__).read_bytes()).hexdigest(),
                 "types": expected, "written": written, "tokenizers": cases}
    (OUT / "reference.json").write_text(json.dumps(reference) + "\n")


if __name__ == "__main__":
    main()
