# SPDX-License-Identifier: Apache-2.0
"""Prints N prompts of exactly LENGTH tokens each, as the JSON Lines that
"vllm bench serve --dataset-name custom" reads. Same arguments, same bytes.
Standard library only.

Each prompt is a run of vocabulary words that start with a space, so that one
word is one token. No two prompts share their first token, so that no prompt
finds a part of another in the server's cache.

usage: workload.py TOKENIZER-DIRECTORY SEED N LENGTH OUTPUT-TOKENS
"""
import json
import os
import random
import re
import sys

SPACE = "\u0120"  # how byte-level BPE writes a space


def main(tokenizer, seed, count, length, output_tokens):
    path = os.path.join(tokenizer, "tokenizer.json")
    with open(path, encoding="utf-8") as stream:
        vocab = json.load(stream)["model"]["vocab"]
    words = sorted(w for w in vocab if re.fullmatch(SPACE + "[a-z]{3,8}", w))
    rng = random.Random(seed)
    for first in rng.sample(words, count):
        rest = [rng.choice(words) for _ in range(length - 1)]
        prompt = "".join([first] + rest).replace(SPACE, " ")
        print(json.dumps({"prompt": prompt, "output_tokens": output_tokens}))


if __name__ == "__main__":
    if len(sys.argv) != 6:
        sys.exit("usage: workload.py TOKENIZER-DIRECTORY SEED N LENGTH OUTPUT-TOKENS")
    main(sys.argv[1], *map(int, sys.argv[2:]))
