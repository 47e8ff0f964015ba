#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the table of tests/unit/test_interval.c: ranks and exact levels of order-statistic intervals, in whole numbers (no rounding before the last step)."""
from fractions import Fraction

TAIL = Fraction(1, 40)


def ends(n, p):
    """Largest number k of samples with P(fewer than k) <= TAIL, and that probability."""
    num, den = p.numerator, p.denominator
    total, k, limit, term = 0, 0, den**n * TAIL.numerator // TAIL.denominator, (den - num) ** n
    while total + term <= limit:
        total, term, k = total + term, term * (n - k) * num // ((k + 1) * (den - num)), k + 1
    return k, Fraction(total, den**n)


for n, percent in [(5, 50), (6, 50), (7, 50), (10, 50), (20, 50), (21, 50), (100, 50), (101, 50), (1000, 50), (20, 90), (40, 90), (100, 95), (1000, 95), (300, 99), (2000, 99),
                   (50, 10), (100000, 50)]:
    p = Fraction(percent, 100)
    low, left = ends(n, p)
    high, right = ends(n, 1 - p)
    if low and high:
        print(f"\t{{{n}, {percent}, {low - 1}, {n - high}, {float(1 - left - right)!r}}},")
    else:
        print(f"\t{{{n}, {percent}, 0, 0, 0}},")
