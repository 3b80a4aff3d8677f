# ===- pair_sets.py - Pairs of features that are trained together ----------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Which pairs of features one training can show.

Features of a bundle go with each other and with whatever one of them goes with, so a training
of a feature with the whole bundle is one of its pairs with each member.
"""

import collections

BUNDLES = (("accumulation", "recomputation", "clipping", "tied weights"), ("tensor", "vocabulary"))


def whole(name):
    """The bundle of a feature, or the feature alone."""
    return next((bundle for bundle in BUNDLES if name in bundle), (name,))


def sets_of(pairs):
    """Of pairs of names: names that are trained together -> the pairs among them."""
    sets = collections.defaultdict(list)
    for pair in pairs:
        sets[frozenset(name for each in pair for name in whole(each))].append(pair)
    return sets


def judge_sets(pairs, judge, every=1):
    """Verdicts of all pairs of each `every`th set, and how many trainings there were. `judge` takes names and gives an error
    or None. Where a set fails, each of its pairs is trained alone; where all of them pass, the failure
    is one of all of them."""
    verdicts, trainings = {}, 0
    for names, members in list(sets_of(pairs).items())[::every]:
        error, trainings = judge(names), trainings + 1
        found = dict.fromkeys(members)
        if error:
            found = {pair: judge(frozenset(pair)) for pair in members}
            trainings += len(members)
        if error and not any(found.values()):
            together = " + ".join(sorted(names))
            found = dict.fromkeys(members, f"{error} (as {together})")
        verdicts |= found
    return verdicts, trainings
