# SPDX-License-Identifier: Apache-2.0
"""Writes the tokenizer that a GGUF model file carries as tokenizer.json and
tokenizer_config.json, which the client reads. Standard library only.

usage: gguf2tok.py MODEL.gguf OUTPUT-DIRECTORY
"""
import json
import os
import struct
import sys

SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?",
           10: "Q", 11: "q", 12: "d"}
STRING, ARRAY = 8, 9
SPECIAL = 3  # a token type: control tokens, never made from text


class Reader:
    def __init__(self, stream):
        self.stream = stream

    def number(self, fmt):
        size = struct.calcsize("<" + fmt)
        return struct.unpack("<" + fmt, self.stream.read(size))[0]

    def string(self):
        return self.stream.read(self.number("Q")).decode("utf-8")

    def value(self, kind):
        if kind == STRING:
            return self.string()
        if kind == ARRAY:
            item, count = self.number("I"), self.number("Q")
            return [self.value(item) for _ in range(count)]
        return self.number(SCALARS[kind])

    def metadata(self):
        if self.stream.read(4) != b"GGUF":
            sys.exit("gguf2tok: not a GGUF file")
        self.number("I")  # version
        self.number("Q")  # tensors
        pairs = {}
        for _ in range(self.number("Q")):
            key = self.string()
            pairs[key] = self.value(self.number("I"))
        return pairs


def tokenizer(meta):
    tokens = meta["tokenizer.ggml.tokens"]
    types = meta["tokenizer.ggml.token_type"]
    merges = meta["tokenizer.ggml.merges"]
    added = [{"id": i, "content": t, "single_word": False, "lstrip": False,
              "rstrip": False, "normalized": False, "special": True}
             for i, t in enumerate(tokens) if types[i] == SPECIAL]
    split = [{"type": "Digits", "individual_digits": True},
             {"type": "ByteLevel", "add_prefix_space": False,
              "trim_offsets": True, "use_regex": True}]
    return {
        "version": "1.0", "truncation": None, "padding": None,
        "added_tokens": added, "normalizer": None,
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": split},
        "post_processor": None,
        "decoder": {"type": "ByteLevel", "add_prefix_space": True,
                    "trim_offsets": True, "use_regex": True},
        "model": {"type": "BPE", "dropout": None, "unk_token": None,
                  "continuing_subword_prefix": None,
                  "end_of_word_suffix": None, "fuse_unk": False,
                  "byte_fallback": False, "ignore_merges": False,
                  "vocab": {t: i for i, t in enumerate(tokens)},
                  "merges": [m.split(" ", 1) for m in merges]}}


def config(meta):
    tokens = meta["tokenizer.ggml.tokens"]

    def special(name):
        index = meta.get("tokenizer.ggml." + name)
        return None if index is None else tokens[index]

    pairs = {"tokenizer_class": "PreTrainedTokenizerFast",
             "model_max_length": meta["llama.context_length"],
             "bos_token": special("bos_token_id"),
             "eos_token": special("eos_token_id"),
             "unk_token": special("unknown_token_id"),
             "pad_token": special("padding_token_id"),
             "clean_up_tokenization_spaces": False,
             "chat_template": meta.get("tokenizer.chat_template")}
    return {k: v for k, v in pairs.items() if v is not None}


def main(model, out):
    with open(model, "rb") as stream:
        meta = Reader(stream).metadata()
    if (meta["tokenizer.ggml.model"], meta["tokenizer.ggml.pre"]) != ("gpt2", "smollm"):
        sys.exit("gguf2tok: only knows byte-level BPE with SmolLM's pre-tokenizer")
    os.makedirs(out, exist_ok=True)
    with open(os.path.join(out, "tokenizer.json"), "w", encoding="utf-8") as f:
        json.dump(tokenizer(meta), f, ensure_ascii=False)
    with open(os.path.join(out, "tokenizer_config.json"), "w", encoding="utf-8") as f:
        json.dump(config(meta), f, ensure_ascii=False, indent=1)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: gguf2tok.py MODEL.gguf OUTPUT-DIRECTORY")
    main(sys.argv[1], sys.argv[2])
