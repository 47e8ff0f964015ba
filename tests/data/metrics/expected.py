#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints tests/unit/metrics_expected.h: statistics of generated samples, by numpy. The samples are made alike here and in tests/unit/test_select.c:
splitmix64 and IEEE operations that are exact or rounded the same everywhere."""
import numpy as np

P = [0, 0.1, 1, 5, 25, 50, 75, 90, 95, 99, 99.9, 100]
MASK = (1 << 64) - 1


class Random:
    def __init__(self, seed):
        self.x = seed

    def u(self):
        self.x = (self.x + 0x9E3779B97F4A7C15) & MASK
        z = self.x
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        return ((z ^ (z >> 31)) >> 11) * 2.0**-53


def gaps(r, i):  # near 10 ms, one in twenty 0, one in a thousand hundredfold
    u, v = r.u(), 0.01 * (1 + 0.2 * (r.u() - 0.5))
    return 0.0 if u < 0.05 else v * 100 if u > 0.999 else v


def equal(r, i):
    return 0.02


def mixed(r, i):
    return (r.u() - 0.5) * 0.001


def wide(r, i):
    u = r.u()
    return float(np.ldexp(0.5 + u / 2, int(600 * r.u()) - 300))


def ties(r, i):  # 16 values, so that cells are heavy
    return 0.001 * int(16 * r.u())


SETS = [("gaps", gaps, 200000, 1), ("equal", equal, 10000, 2), ("mixed", mixed, 5000, 3), ("wide", wide, 50000, 4), ("ties", ties, 30000, 5), ("few", mixed, 7, 6),
        ("one", mixed, 1, 7)]


def inverse_cdf(v, w, p):
    values, at = np.unique(v, return_inverse=True)
    weights = np.zeros(len(values))
    np.add.at(weights, at, w)
    values, weights = values[weights > 0], weights[weights > 0]
    return values[np.searchsorted(np.cumsum(weights / weights.sum()), p)]


def row(numbers):
    return "{" + ", ".join(float(x).hex() for x in numbers) + "}"


print("/* SPDX-License-Identifier: Apache-2.0 */\n/* Made by tests/data/metrics/expected.py with numpy: do not edit. */\n")
print("static const double ps[] = {" + ", ".join(map(str, P)) + "};\n")
print("static const struct expected {\n\tconst char *name;\n\tsize_t n;\n\tunsigned seed;\n\tdouble mean, std, min, max;")
print("\tdouble linear[12], nearest[12], cdf[12], weighted[12]; /* weighted: by weights 0 to 9 */\n\tdouble weighted_mean, weighted_std;\n} sets[] = {")
for name, make, n, seed in SETS:
    r = Random(seed)
    v = np.array([make(r, i) for i in range(n)])
    w = np.array([float((i * 7 + 3) % 10) for i in range(n)])
    mean = (v * w).sum() / w.sum()
    with np.errstate(over="ignore"):
        print(f'\t{{"{name}", {n}, {seed}, {float(v.mean()).hex()}, {float(v.std()).hex()}, {float(v.min()).hex()}, {float(v.max()).hex()},')
    for method in "linear", "nearest":
        print("\t " + row(np.percentile(v, P, method=method)) + ",")
    q = [round(p * 1e6) / 1e8 for p in P]
    print("\t " + row(inverse_cdf(v, np.ones(n), x) for x in q[:-1] + [0.999999]) + ",")
    print("\t " + row(inverse_cdf(v, w, x) for x in q[:-1] + [0.999999]) + ",")
    print(f"\t {float(mean).hex()}, {float(np.sqrt((w * (v - mean) ** 2).sum() / w.sum())).hex()}}},")
print("};")
