# SPDX-License-Identifier: Apache-2.0
"""Writes a tokenizer into a directory, for clients that want one on disk: of bytes, which can say any text, or of words, as the loopback endpoint counts."""
import json
import os
import sys


def letters():
    """The letters that stand for the 256 bytes in a byte-level vocabulary."""
    seen = list(range(ord("!"), ord("~") + 1)) + list(range(0xA1, 0xAD)) + list(range(0xAE, 0x100))
    names, extra = {b: chr(b) for b in seen}, 0
    for b in range(256):
        if b not in names:
            names[b] = chr(256 + extra)
            extra += 1
    return [names[b] for b in range(256)]


def bytes_tokenizer():
    level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    vocabulary = {c: i for i, c in enumerate(letters())}
    model = {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None, "end_of_word_suffix": None,
             "fuse_unk": False, "byte_fallback": False, "vocab": vocabulary, "merges": []}
    return {"pre_tokenizer": level, "post_processor": level, "decoder": level, "model": model}


def words_tokenizer():
    model = {"type": "WordLevel", "vocab": {"<unk>": 0}, "unk_token": "<unk>"}
    return {"pre_tokenizer": {"type": "WhitespaceSplit"}, "post_processor": None, "decoder": None, "model": model}


def main(kind, path):
    tokenizer = {"version": "1.0", "truncation": None, "padding": None, "normalizer": None}
    tokenizer.update({"bytes": bytes_tokenizer, "words": words_tokenizer}[kind]())
    vocabulary = tokenizer["model"]["vocab"]
    end = vocabulary["<|end|>"] = len(vocabulary)
    tokenizer["added_tokens"] = [
        {"id": end, "content": "<|end|>", "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}]
    config = {"tokenizer_class": "PreTrainedTokenizerFast", "eos_token": "<|end|>", "model_max_length": 1000000}
    os.makedirs(path, exist_ok=True)
    for name, content in (("tokenizer.json", tokenizer), ("tokenizer_config.json", config)):
        with open(os.path.join(path, name), "w", encoding="utf-8") as f:
            json.dump(content, f)


main(sys.argv[1], sys.argv[2])
