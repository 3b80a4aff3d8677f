#!/usr/bin/env python3
# ===- coverage.py - Which side of a condition does no test take? ---------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Lists the conditions of lib, include and tools of which no test takes both sides.

    scripts/coverage.py [-o FILE] [--slots Runtime/Plan/Verify,Dialect/Dist/IR]

Builds the tree with source coverage in build/coverage (10 minutes), runs the suite
on it (6 minutes) and writes one line for each condition: its class (that of
mutation/source.py), its place, "never true", "never false" or "never reached", and
its text; then the regions that never ran. What a text, a file or another pass can
reach wants a test; what nothing can reach is dead. A condition in a check that no
test takes is a slip that scripts/mutate.py would not see either.

Labels of a switch count as conditions here, and functions of which the profile
lost its data as never run.
"""

import argparse
import collections
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts/mutation"))

from source import CLASSES, Source, class_of, slot_of  # noqa: E402

BUILD = ROOT / "build/coverage"
PROFILES = BUILD / "profiles"
COMPILE = f"-O1 -D_GLIBCXX_ASSERTIONS -fprofile-instr-generate={PROFILES}/%4m.profraw -fcoverage-mapping"
LIT = "/usr/lib/llvm-22/bin/lit"


def run(command, **options):
    return subprocess.run([str(word) for word in command], check=True, **options)


def build():
    PROFILES.mkdir(parents=True, exist_ok=True)
    run(["cmake", "--preset", "dev", "-B", BUILD, f"-DCMAKE_CXX_FLAGS={COMPILE}"], stdout=subprocess.DEVNULL)
    run(["ninja", "-C", BUILD, "--quiet", "all", "llmc-test-depends"])


def test():
    """Runs all tests; one that fails is named and counts as run."""
    for old in PROFILES.glob("*.profraw"):
        old.unlink()
    subprocess.run([LIT, "-q", "--timeout", "900", BUILD / "test", BUILD / "test/Unit"])


def export():
    """What llvm-cov says of every program of the build."""
    merged = BUILD / "all.profdata"
    run(["llvm-profdata-22", "merge", "-sparse", *PROFILES.glob("*.profraw"), "-o", merged])
    programs = [p for folder in ("bin", "test/Unit/tests") for p in sorted((BUILD / folder).iterdir()) if p.is_file()]
    objects = [word for p in programs[1:] for word in ("-object", p)]
    text = run(["llvm-cov-22", "export", "-skip-expansions", "-instr-profile", merged, programs[0], *objects],
               capture_output=True).stdout
    return json.loads(text)["data"][0]["functions"]


def count(functions):
    """{file: {place: [times true, times false]}} and {file: {place: times run}}."""
    branches = collections.defaultdict(lambda: collections.defaultdict(lambda: [0, 0]))
    regions = collections.defaultdict(collections.Counter)
    for function in functions:
        for *place, taken, not_taken, file, _, _ in function["branches"]:
            sums = branches[function["filenames"][file]][tuple(place)]
            sums[0] += taken
            sums[1] += not_taken
        for *place, times, file, _, kind in function["regions"]:
            if kind == 0:
                regions[function["filenames"][file]][tuple(place)] += times
    return branches, regions


def untaken(name, branches, regions):
    """(class, line of the list) of one file."""
    source = Source(name, (ROOT / name).read_text())

    def place(span):
        begin = source.starts[span[0] - 1] + span[1] - 1
        end = source.starts[span[2] - 1] + span[3] - 1
        return class_of(source, begin, end), " ".join(source.text[begin:end].split())[:100]

    for span, (taken, not_taken) in sorted(branches.items()):
        if not taken or not not_taken:
            side = "never reached" if not taken and not not_taken else "never false" if taken else "never true"
            kind, text = place(span)
            if "isSeeded" not in text and not text.startswith(("case ", "default", ":")):
                yield kind, f"{kind}: {name}:{span[0]} {side} | {text}"
    for span, times in sorted(regions.items()):
        if not times:
            yield "regions", f"region: {name}:{span[0]}-{span[2]} never ran | {place(span)[1]}"


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("-o", dest="output", type=pathlib.Path, default=BUILD / "untaken.txt")
    p.add_argument("--slots", type=lambda t: t.split(","), help="these alone, in place of all")
    a = p.parse_args()
    build()
    test()
    branches, regions = count(export())
    lines = []
    for file in sorted(set(branches) | set(regions)):
        name = str(pathlib.Path(file).relative_to(ROOT)) if pathlib.Path(file).is_relative_to(ROOT) else ""
        slot = slot_of(name)
        if slot and (not a.slots or slot in a.slots):
            lines += untaken(name, branches[file], regions[file])
    order = {kind: number for number, kind in enumerate((*CLASSES, "regions"))}
    lines.sort(key=lambda line: order[line[0]])
    a.output.write_text("".join(text + "\n" for _, text in lines))
    found = collections.Counter(kind for kind, _ in lines)
    print(", ".join(f"{found[kind]} {kind}" for kind in order) + f": {a.output}")


if __name__ == "__main__":
    main()
