#!/usr/bin/env python3
#===- random_program.py - Random programs of phase 6 on random meshes ------===#
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#   random_program.py <seed> > memory.mlir
#
# Chunks on one to three stages, one or two on each, with random operations,
# collectives, saved values and transfers, skips included, and a random legal
# table: any order in which dependencies allow, each chunk's microbatches in
# their order. What it computes means nothing; the plan must be accepted, need
# each of its waits and give the same bits in every order.
#
#===------------------------------------------------------------------------===#

import random
import sys

from program_text import Program, port

T = "4x4xf32"


class RandomProgram(Program):
    """Operations on values of type T, each drawn at random."""

    def __init__(self, draw, mesh, name):
        super().__init__(name, mesh)
        self.draw, self.values, self.number = draw, [], 0

    def fresh(self):
        self.number += 1
        return f"v{self.number}"

    def take(self, mark):
        name = self.fresh()
        self.argument(name, T, mark)
        self.values.append(name)
        return name

    def emit(self, text):
        name = self.fresh()
        self.op(name, text, T)
        self.values.append(name)
        return name

    def axes(self, among):
        several = self.over(*among)
        chosen = self.draw.sample(several, self.draw.randint(1, len(several))) if several else []
        return ", ".join(f'"{a}"' for a in chosen)

    def reduced(self, value):
        axes = self.axes(("data", "tensor"))
        if not axes:
            return value
        kind = self.draw.choice(["all_reduce", "all_reduce", "pair", "broadcast"])
        if kind == "all_reduce":
            return self.emit(f"dist.all_reduce %{value} over [{axes}] max : tensor<{T}>")
        if kind == "broadcast":
            origin = ", ".join("1" for _ in axes.split(","))
            return self.emit(f"dist.broadcast %{value} from [{origin}] over [{axes}] : tensor<{T}>")
        axis = axes.split(",")[0]
        half = self.emit(f"dist.reduce_scatter %{value} dim 0 over [{axis}] sum : tensor<{T}> -> tensor<2x4xf32>")
        self.values.pop()
        return self.emit(f"dist.all_gather %{half} dim 0 over [{axis}] : tensor<2x4xf32> -> tensor<{T}>")

    def step(self):
        a, b = (self.draw.choice(self.values) for _ in range(2))
        kind = self.draw.choice(["tanh", "add", "dot", "collective", "collective", "coordinate"])
        if kind == "tanh":
            return self.emit(f"stablehlo.tanh %{a} : tensor<{T}>")
        if kind == "add":
            return self.emit(f"stablehlo.add %{a}, %{b} : tensor<{T}>")
        if kind == "dot":
            return self.emit(f"stablehlo.dot_general %{a}, %{b}, contracting_dims = [1] x [0] : (tensor<{T}>, "
                             f"tensor<{T}>) -> tensor<{T}>")
        if kind == "coordinate" and self.axes(("data", "tensor")):
            n = self.fresh()
            self.op(n + "c", f'dist.coordinate [{self.axes(("data", "tensor"))}] : tensor<i32>', "i32")
            self.op(n + "f", f"stablehlo.convert %{n}c : (tensor<i32>) -> tensor<f32>", "f32")
            self.broadcast(n + "b", n + "f", "[]", T)
            return self.emit(f"stablehlo.multiply %{a}, %{n}b : tensor<{T}>")
        return self.reduced(a)


class Case:
    def __init__(self, seed):
        self.draw = draw = random.Random(seed)
        self.p, self.m = draw.choice([1, 2, 2, 3]), draw.randint(1, 4)
        self.mesh = {"pipe": self.p, "data": 2, "tensor": draw.choice([1, 2])}
        self.chunks = self.p * draw.choice([1, 1, 2])
        # A backward of inputs, then one of weights.
        self.splits = draw.random() < 0.4
        self.routes, self.functions, self.programs = [], [], []
        self.links = []
        for c in range(self.chunks - 1):
            self.links.append((c, c + 1))
        if self.chunks > 2 and draw.random() < 0.6:
            self.links.append((0, draw.randint(2, self.chunks - 1)))

    def stage(self, chunk):
        return chunk % self.p

    def link(self, source, target, kind):
        """How a value goes from one chunk to another."""
        name = f"{'t' if kind == 'F' else 'd'}{source}.{target}"
        if self.stage(source) == self.stage(target):
            # Alive until the later chunk is done with it: a slot of the first one to open.
            kept = port("act", name, min(source, target))
            return kept, kept
        self.routes.append(f'#dist.route<@"{name}": @train.c{source}.{kind} -> @train.c{target}.{kind}>')
        return port("send", name), port("recv", name)

    def make(self):
        marks = {}
        for source, target in self.links:
            marks[source, target, "F"] = self.link(source, target, "F")
        for source, target in self.links:
            if target == source + 1:
                marks[target, source, "B"] = self.link(target, source, "B")
        saved = {}
        for c in range(self.chunks):
            f = RandomProgram(self.draw, self.mesh, f"train.c{c}.F")
            f.take(port("buffer", f"w{c}.local"))
            if c == 0:
                f.argument("x", "4x4xi32", port("input", "x", data='<"data", dtype = ui8>'))
                f.emit(f"stablehlo.convert %x : (tensor<4x4xi32>) -> tensor<{T}>")
            for (source, target, kind), (_, take) in marks.items():
                if kind == "F" and target == c:
                    f.take(take)
            for _ in range(self.draw.randint(1, 6)):
                f.step()
            for (source, target, kind), (give, _) in marks.items():
                if kind == "F" and source == c:
                    f.result(self.draw.choice(f.values[-3:]), give)
            saved[c] = [port("act", f"a{c}.{i}", c) for i in range(self.draw.randint(1, 3))]
            for mark in saved[c]:
                f.result(self.draw.choice(f.values), mark)
            self.add(f, c, "forward")
        for c in reversed(range(self.chunks)):
            f = RandomProgram(self.draw, self.mesh, f"train.c{c}.B")
            for mark in saved[c]:
                f.take(mark)
            f.take(port("buffer", f"w{c}.local"))
            for (source, target, kind), (_, take) in marks.items():
                if kind == "B" and target == c:
                    f.take(take)
            for _ in range(self.draw.randint(1, 6)):
                f.step()
            for (source, target, kind), (give, _) in marks.items():
                if kind == "B" and source == c:
                    f.result(self.draw.choice(f.values[-3:]), give)
            phase = "backward"
            if self.splits:
                f.result(f.values[-1], port("act", f"b{c}", c))
                self.add(f, c, "backward_input")
                phase = "backward_weight"
                f = RandomProgram(self.draw, self.mesh, f"train.c{c}.W")
                f.take(port("act", f"b{c}", c))
                f.take(saved[c][0])
                for _ in range(self.draw.randint(1, 4)):
                    f.step()
            last = f.values[-1]
            sum = f.take(port("gradient", f"w{c}"))
            f.values.pop()
            f.result(f.emit(f"stablehlo.add %{sum}, %{last} : tensor<{T}>"), port("gradient", f"w{c}"))
            self.add(f, c, phase)
        for s in range(self.p):
            self.update(s)

    def add(self, f, c, phase):
        self.functions.append(f)
        self.programs.append(f"#dist.program<@{f.name}, chunk = {c}, phase = {phase}, at = [{self.stage(c)}]>")

    def update(self, s):
        f = RandomProgram(self.draw, self.mesh, f"train.u{s}")
        own = [c for c in range(self.chunks) if self.stage(c) == s]
        sums = [f.take(port("gradient", f"w{c}")) for c in own]
        states = [f.take(port("buffer", f"w{c}.local")) for c in own]
        total = f.reduced(sums[0])
        if self.p > 1:
            # All stages have these two, in one order.
            total = f.emit(f'dist.all_reduce @c0 %{total} over ["pipe"] max : tensor<{T}>')
            total = f.emit(f'dist.all_reduce @c1 %{total} over ["pipe", "data"] max : tensor<{T}>')
        for c, sum, state in zip(own, sums, states):
            part = f.emit(f"stablehlo.tanh %{f.reduced(sum) if sum != sums[0] else total} : tensor<{T}>")
            f.result(f.emit(f"stablehlo.subtract %{state}, %{part} : tensor<{T}>"), port("buffer", f"w{c}.local"))
        if s == 0:
            f.reduce("norm", total, "add", "[0, 1]", "f32", "0.0")
            f.result("norm", port("metric", "norm"))
        self.functions.append(f)
        self.programs.append(f"#dist.program<@{f.name}, phase = update, at = [{s}]>")

    def table(self):
        done, rows = {}, []
        tasks = {s: [] for s in range(self.p)}
        for c in range(self.chunks):
            for kind in "FBW" if self.splits else "FB":
                tasks[self.stage(c)] += [(kind, c, i) for i in range(self.m)]
        while any(tasks.values()):
            row = []
            for s in range(self.p):
                ready = [t for t in tasks[s] if self.isReady(t, done)]
                idle = not ready or (self.draw.random() < 0.2 and len(rows) % 3)
                row.append(None if idle else self.draw.choice(ready))
            for s, task in enumerate(row):
                if task:
                    tasks[s].remove(task)
                    done[task] = len(rows)
            rows.append(row)
        words = [[f"{t[0]}{t[1]}.{t[2]}" if t else "." for t in row] + [] for row in rows]
        return ", ".join('"' + " ".join([row[s] for row in words] + ["U"]) + '"' for s in range(self.p))

    def isReady(self, task, done):
        kind, c, i = task
        before = []
        if i > 0:
            before.append((kind, c, i - 1))
        if kind == "F":
            before += [("F", source, i) for source, target in self.links if target == c]
        elif kind == "W":
            before.append(("B", c, i))
        else:
            before.append(("F", c, i))
            if c + 1 < self.chunks:
                before.append(("B", c + 1, i))
        return all(b in done for b in before)

    def text(self):
        self.make()
        axes = ", ".join(f'"{a}"={n}' for a, n in self.mesh.items())
        out = f'dist.mesh @mesh = <{axes}> pipeline "pipe"\n'
        for c in range(self.chunks):
            at = f', at = {{"pipe" = [{self.stage(c)}]}}' if self.p > 1 else ""
            out += (f"dist.state @w{c} : tensor<{T}> {{role = parameter, source = #dist.draw<normal, 0.5>}}\n"
                    f"dist.buffer @w{c}.local of @w{c} : tensor<{T}> holds [#dist.box<@w{c}, #dist.layout<@mesh, [{{}}, {{}}]{at}>, "
                    "[0, 0]>]\n")
        out += (f"dist.timeline @train microbatches({self.m})\n    programs([{', '.join(self.programs)}])\n"
                f"    transfers([{', '.join(self.routes)}])\n    table(<[{self.table()}]>)\n")
        return out + "".join(f.text() for f in self.functions)


def main():
    print(Case(int(sys.argv[1])).text(), end="")


main()
