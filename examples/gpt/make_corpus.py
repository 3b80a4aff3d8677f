#!/usr/bin/env python3
# ===- make_corpus.py - The frozen corpus of the GPT example ----------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Writes `corpus.bin`: bytes of small sentences that a byte-level GPT can learn.

The text has structure at several ranges: spelling (a closed set of words),
grammar (a verb agrees with its subject), memory (the animal named first in a
paragraph is the one that acts later) and sums ("four plus five is nine."). The
generator is a linear congruential one, written out here, so that every version
of Python gives the same bytes.

Usage: python make_corpus.py -o corpus.bin [--bytes 262144] [--seed 1]
"""

import argparse

ANIMALS = "fox owl hare crow wolf deer goat swan mole toad lynx wren".split()
COLOURS = "red grey white black brown silver golden young old small tall quiet".split()
PLACES = "river hill forest field bridge garden mill tower cave shore barn meadow".split()
THINGS = "stone apple feather lantern key basket rope bell nut shell leaf berry".split()
VERBS = "sees finds hides keeps takes drops wants carries watches guards".split()
MOVES = "walks runs creeps wanders hurries returns".split()
TIMES = ["at dawn", "at noon", "in the rain", "by moonlight", "after supper", "in winter"]
NUMBERS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen "
    "fourteen fifteen sixteen seventeen eighteen"
).split()


class Generator:
    """Knuth's MMIX linear congruential generator; the upper 32 bits are used."""

    def __init__(self, seed):
        self.state = seed

    def below(self, n):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2**64
        return ((self.state >> 32) * n) >> 32

    def pick(self, items):
        return items[self.below(len(items))]


def plural(verb):
    """`carries` -> `carry`, `watches` -> `watch`, `sees` -> `see`."""
    if verb.endswith("ies"):
        return verb[:-3] + "y"
    return verb[:-2] if verb.endswith("ches") else verb[:-1]


def sentence(g, hero):
    kind = g.below(5)
    if kind == 0:
        return f"the {hero} {g.pick(MOVES)} to the {g.pick(PLACES)} {g.pick(TIMES)}."
    if kind == 1:
        return f"the {hero} {g.pick(VERBS)} the {g.pick(THINGS)} near the {g.pick(PLACES)}."
    if kind == 2:
        animal, verb = g.pick(ANIMALS), plural(g.pick(VERBS))
        return f"the {hero} and the {animal} {verb} the {g.pick(THINGS)}."
    if kind == 3:
        a, b = g.below(10), g.below(10)
        return f"{NUMBERS[a]} plus {NUMBERS[b]} is {NUMBERS[a + b]}."
    thing = g.pick(THINGS)
    return f"is the {thing} in the {g.pick(PLACES)}? the {hero} {g.pick(VERBS)} the {thing}."


def paragraph(g):
    hero = f"{g.pick(COLOURS)} {g.pick(ANIMALS)}"
    return " ".join(sentence(g, hero) for _ in range(3 + g.below(4))) + "\n"


def corpus(size, seed):
    g, parts, total = Generator(seed), [], 0
    while total < size:
        parts.append(paragraph(g))
        total += len(parts[-1])
    return "".join(parts).encode("ascii")[:size]


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    p.add_argument("--bytes", type=int, default=262144)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("-o", "--output", default="corpus.bin")
    a = p.parse_args()
    with open(a.output, "wb") as f:
        f.write(corpus(a.bytes, a.seed))


if __name__ == "__main__":
    main()
