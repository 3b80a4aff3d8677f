# ===- switched_build.py - A build that holds many mutants -----------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Makes the build of `switches.py`, one copy of it for each worker, and finds out
which tests reach which mutant. Both are kept for the same tree and mutants."""

import hashlib
import json
import queue
import re
import shutil
import subprocess
import threading
import time

from build_copy import BuildCopy
from trial import CODEGEN, is_unit

TRACE = -1


class SwitchedBuild:
    def __init__(self, root, folder, workers, cores, switches):
        self.switches, self.cores, self.folder = switches, cores, folder
        self.copies = [BuildCopy(root, folder / f"switched{i}", max(1, cores // workers)) for i in range(workers)]
        # What a process in the copy sees; without a mount namespace each copy has its own path.
        if not self.copies[0].namespace:
            self.copies = self.copies[:1]
        seen = root if self.copies[0].namespace else self.copies[0].folder
        self.seen = f"{seen}/build/dev/mutation"
        self.times, self.reach, self.failing = {}, {}, []

    # --- Building -------------------------------------------------------------------

    def prepare(self, like, tree):
        """Builds the switched copies from the build of the copy `like`."""
        digest = hashlib.sha256(tree.encode())
        for name, text in sorted(self.switches.texts(self.seen).items()):
            digest.update(f"{name}\0{text}\0".encode())
        known = self.folder / "reach.json"
        kept = json.loads(known.read_text()) if known.exists() else {}
        if kept.get("build") != digest.hexdigest():
            self.build(like)
            self.measure()
            kept = {"build": digest.hexdigest(), "times": self.times, "reach": self.reach, "failing": self.failing,
                    "without": sorted(self.without)}
            known.write_text(json.dumps(kept))
        else:
            for copy in self.copies:
                copy.load_graph()
        self.times, self.failing, self.without = kept["times"], kept["failing"], set(kept["without"])
        self.reach = {int(number): tests for number, tests in kept["reach"].items()}

    def build(self, like):
        begin = time.time()
        for copy in self.copies:
            shutil.rmtree(copy.folder, ignore_errors=True)
        first = self.copies[0]
        subprocess.run(["cp", "-a", like.folder, first.folder], check=True)
        first.load_graph()
        state = first.build / "mutation"
        state.mkdir(exist_ok=True)
        (state / "switches.h").write_text(self.switches.header(self.seen))
        for name, text in self.switches.texts(self.seen).items():
            first.write(name, text)
        self.without = set()
        while True:
            built, output = first.ninja(["-k", "0", "all", "llmc-test-depends"], self.cores)
            if built:
                break
            if not self.leave_out(first, output):
                raise RuntimeError("cannot build the switched copy:\n" + output[-3000:])
        for copy in self.copies[1:]:
            subprocess.run(["cp", "-a", first.folder, copy.folder], check=True)
            copy.load_graph()
        print(f"switched: {len(self.switches.numbers) - len(self.without)} mutants in one build, "
              f"{time.time() - begin:.0f} s", flush=True)

    def leave_out(self, copy, output):
        """Takes the probes out of the files in which the compiler found an error; in the next round the
        mutants out of the functions with one, or whose instantiation of a template ends in one. False
        when there is none."""
        texts = self.switches.texts(self.seen, self.without)
        before = set(self.without)
        places = re.findall(r"^(?:\S*/)?((?:lib|include|tools)/\S+?):(\d+):\d+: (error|note: in instantiation)", output, re.M)
        probed = {name for name, _, _ in places if self.switches.drop_probes(name)}
        for name, line, kind in sorted(set(places)):
            if name in texts and name not in probed:
                self.without.update(self.numbers_at(texts[name], int(line))
                                    or (self.switches.of_file(name) if kind == "error" else ()))
        for name, text in self.switches.texts(self.seen, self.without).items():
            if text != texts[name]:
                copy.write(name, text)
        return bool(probed) or self.without != before

    @staticmethod
    def numbers_at(text, line):
        """The numbers of the switched bodies or values in which `line` lies."""
        open_bodies = []
        for number, shown in enumerate(text.split("\n")[:line], 1):
            values = re.findall(r"isOn\((\d+)\) \?", shown)
            if number == line and values:
                return [int(v) for v in values]
            open_bodies += re.findall(r"llmc_mutation::is(?:On|Chosen)\((\d+)\)\) \{", shown)
            if open_bodies and shown.startswith("} else {") and number < line:
                open_bodies.pop()
        return [int(n) for n in open_bodies]

    # --- Choosing -------------------------------------------------------------------

    def choose(self, copy, number):
        (copy.build / "mutation/choice").write_text(f"{number}\n")

    def number_of(self, key):
        number = self.switches.numbers.get(key)
        return None if number in self.without else number

    # --- Which tests reach what -------------------------------------------------------

    def measure(self):
        """Runs each test by itself: its time, whether it passes, what it reaches."""
        begin = time.time()
        first = self.copies[0]
        tests = queue.SimpleQueue()
        for test in first.unit_tests() + first.lit_tests():
            tests.put(test)
        threads = [threading.Thread(target=self.measure_in, args=(copy, tests)) for copy in self.copies]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.reach_past_the_cache()
        print(f"tests without a mutant: {len(self.times)} in {time.time() - begin:.0f} s", flush=True)

    def reach_past_the_cache(self):
        """A test whose kernels were in the cache may reach any mutant of Codegen."""
        lit = [t for t in self.times if not is_unit(t)]
        for (slot, *_), number in self.switches.numbers.items():
            if slot == CODEGEN:
                reach = self.reach.setdefault(number, [])
                reach += [t for t in lit if t not in reach]

    def measure_in(self, copy, tests):
        self.choose(copy, TRACE)
        while True:
            try:
                test = tests.get_nowait()
            except queue.Empty:
                return
            reached = copy.build / "mutation/reached"
            reached.unlink(missing_ok=True)
            begin = time.time()
            if test.startswith("test/Unit/"):
                code = "FAIL" if copy.run_unit(test, 1200) else "PASS"
            else:
                code = copy.run_lit([test], 1200, jobs=1).get(test, ("UNRESOLVED", 0))[0]
            if code == "UNSUPPORTED":
                continue
            if code != "PASS":
                self.failing.append(test)
                continue
            self.times[test] = time.time() - begin
            for number in {int(n) for n in reached.read_text().split()} if reached.exists() else ():
                self.reach.setdefault(number, []).append(test)
