#!/usr/bin/env python3
#===- walkthrough_program.py - The walkthrough on any small mesh -----------===#
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Prints the model of docs/walkthrough.md as phase 6 leaves it on a mesh of
# pipe x data x tensor devices, each axis 1 or 2, so that the phases after it
# can be tested without those before it. All meshes compute the same step:
# embedding and head split over tensor, W1 with its momentum split over data,
# one block that is computed again in the backward, clipping by the norm.
#
#   walkthrough_program.py pipe=2 data=2 tensor=2 microbatches=2 > memory.mlir
#
#===------------------------------------------------------------------------===#

import sys

from program_text import Program, port

ROWS, VOCABULARY, WIDTH = 8, 10, 4


class Model:
    def __init__(self, sizes):
        self.mesh = sizes
        self.p, self.d, self.t = sizes["pipe"], sizes["data"], sizes["tensor"]
        self.m = sizes["microbatches"]
        self.rows, self.words, self.cut = ROWS // self.d, VOCABULARY // self.t, WIDTH // self.t
        self.x = f"{self.rows}x{WIDTH}xf32"
        # Between stages each device of a tensor group sends its part.
        self.part = f"{self.rows // self.t}x{WIDTH}xf32" if self.p > 1 else self.x
        self.E = f"{self.words}x{WIDTH}xf32"
        self.W1 = f"{WIDTH}x{3 * self.cut}xf32"
        self.W1rows = f"{WIDTH // self.d}x{3 * self.cut}xf32"
        self.W2 = f"{self.cut}x{WIDTH}xf32"
        self.h = f"{self.rows}x{self.cut}xf32"
        self.abc = f"{self.rows}x{3 * self.cut}xf32"
        self.lg = f"{self.rows}x{self.words}xf32"
        self.b, self.bi = f"{self.rows}xf32", f"{self.rows}xi32"
        self.samples = '#dist.layout<@mesh, [{"data"}]>' if self.d > 1 else \
            "#dist.layout<@mesh, [{}]>"

    def program(self, name):
        return Program(name, self.mesh)

    def make_x1(self, f, name, value):
        """Partial over tensor, to what crosses."""
        if self.p > 1 and self.t > 1:
            f.collective("reduce_scatter", [name], [value], ["tensor"], [self.part], dim=0)
        else:
            f.collective("all_reduce", [name], [value], ["tensor"], [self.x])

    def take_x1(self, f, name, value):
        if self.p > 1 and self.t > 1:
            f.collective("all_gather", [name], [value], ["tensor"], [self.x], dim=0)
        else:
            f.op(name, f"stablehlo.reshape %{value} : ({f.t(value)}) -> {f.t(value)}", self.x)

    def block(self, f, x0):
        f.dot("abc", x0, "W1", 1, 0, self.abc)
        for i, name in enumerate("abc"):
            f.op("abc"[i], f"stablehlo.slice %abc [0:{self.rows}, {i * self.cut}:{(i + 1) * self.cut}] : "
                 f"(tensor<{self.abc}>) -> tensor<{self.h}>", self.h)
        f.pointwise("th", "tanh", "a")
        f.pointwise("tb", "multiply", "th", "b")
        f.pointwise("h", "add", "tb", "c")

    def local(self, f, name, tokens):
        """Tokens as rows of the device's part of the vocabulary."""
        f.offset(name + ".o", "tensor", self.words)
        f.broadcast(name + ".b", name + ".o", "[]", self.bi)
        f.pointwise(name, "subtract", tokens, name + ".b")

    def forward0(self, entry="train"):
        f = self.program(f"{entry}.c0.F")
        f.argument("tok", self.bi, port("input", "tokens", data='<"data", dtype = ui8>', layout=self.samples))
        f.argument("E", self.E, port("buffer", "E.local"))
        f.argument("W1", self.W1, port("buffer", "W1.local"))
        f.argument("W2", self.W2, port("buffer", "W2.local"))
        self.local(f, "i", "tok")
        f.constant("zero", 0, self.bi)
        f.constant("top", self.words - 1, self.bi)
        f.compare("low", "GE", "i", "zero")
        f.compare("high", "LE", "i", "top")
        f.pointwise("in", "and", "low", "high")
        f.op("ic", f"stablehlo.clamp %zero, %i, %top : tensor<{self.bi}>", self.bi)
        f.op("ir", f"stablehlo.reshape %ic : (tensor<{self.bi}>) -> tensor<{self.rows}x1xi32>", f"{self.rows}x1xi32")
        f.op("g", '"stablehlo.gather"(%E, %ir) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], '
             'collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, '
             f'slice_sizes = array<i64: 1, {WIDTH}>}}> : (tensor<{self.E}>, tensor<{self.rows}x1xi32>) -> '
             f'tensor<{self.x}>', self.x)
        f.broadcast("inx", "in", "[0]", self.x.replace("f32", "i1"))
        f.constant("none", "0.0", self.x)
        f.select("x0p", "inx", "g", "none")
        f.collective("all_reduce", ["x0"], ["x0p"], ["tensor"], [self.x])
        self.block(f, "x0")
        f.dot("u", "h", "W2", 1, 0, self.x)
        f.pointwise("x1p", "add", "x0p", "u")
        self.make_x1(f, "x1", "x1p")
        f.result("x1", port("send", "t0") if self.p > 1 else port("act", "x1", 0))
        if entry == "train":
            f.result("x0", port("act", "x0", 0))
            f.result("tok", port("act", "tok", 0))
        return f

    def forward1(self, entry="train"):
        f = self.program(f"{entry}.c1.F")
        f.argument("x1r", self.part, port("recv", "t0") if self.p > 1 else port("act", "x1", 0))
        f.argument("tgt", self.bi, port("input", "targets", data='<"data", dtype = ui8, offset = 1>', layout=self.samples))
        f.argument("E", self.E, port("buffer", "E.local"))
        if entry == "train":
            f.argument("ls0", "f32", port("loss_sum"))
            f.argument("n0", "f32", port("count"))
        self.take_x1(f, "x1", "x1r")
        f.dot("lg", "x1", "E", 1, 1, self.lg)
        if entry == "forward":
            both = self.layout([["data"], ["tensor"]], [1])
            f.result("lg", port("output", "logits", layout=both))
            return f
        f.reduce("mp", "lg", "maximum", "[1]", self.b, "0xFF800000")
        f.collective("all_reduce", ["mx"], ["mp"], ["tensor"], [self.b], reduction=" max")
        f.broadcast("mxb", "mx", "[0]", self.lg)
        f.pointwise("sh", "subtract", "lg", "mxb")
        f.pointwise("ex", "exponential", "sh")
        f.reduce("sp", "ex", "add", "[1]", self.b, "0.0")
        self.onehot(f)
        f.constant("nil", "0.0", self.lg)
        f.select("pe", "hot", "lg", "nil")
        f.reduce("pp", "pe", "add", "[1]", self.b, "0.0")
        f.collective("all_reduce", ["st", "pk"], ["sp", "pp"], ["tensor"], [self.b, self.b])
        se, pick = ("st#0", "st#1") if self.t > 1 else ("st", "pk")
        f.pointwise("lo", "log", se)
        f.pointwise("lse", "add", "lo", "mx")
        f.pointwise("l", "subtract", "lse", pick)
        f.reduce("ls", "l", "add", "[0]", "f32", "0.0")
        if entry == "evaluate":
            f.collective("all_reduce", ["lt"], ["ls"], ["data"], ["f32"])
            f.constant("n", f"{ROWS}.0", "f32")
            f.pointwise("loss", "divide", "lt", "n")
            f.result("loss", port("metric", "loss"))
            return f
        f.pointwise("ls1", "add", "ls0", "ls")
        f.constant("n", f"{self.rows}.0", "f32")
        f.pointwise("n1", "add", "n0", "n")
        for name in ("x1", "lg", "lse", "tgt"):
            f.result(name, port("act", "h." + name, 1))
        f.result("ls1", port("loss_sum"))
        f.result("n1", port("count"))
        return f

    def onehot(self, f):
        self.local(f, "j", "tgt")
        wide = self.lg.replace("f32", "i32")
        f.broadcast("jb", "j", "[0]", wide)
        f.op("io", f"stablehlo.iota dim = 1 : tensor<{wide}>", wide)
        f.compare("hot", "EQ", "io", "jb")

    def backward1(self):
        f = self.program("train.c1.B")
        for name, type in (("x1", self.x), ("lg", self.lg), ("lse", self.b), ("tgt", self.bi)):
            f.argument(name, type, port("act", "h." + name, 1))
        f.argument("E", self.E, port("buffer", "E.local"))
        f.argument("g0", self.E, port("gradient", "E"))
        f.broadcast("lb", "lse", "[0]", self.lg)
        f.pointwise("sh", "subtract", "lg", "lb")
        f.pointwise("pr", "exponential", "sh")
        self.onehot(f)
        f.op("hf", f"stablehlo.convert %hot : ({f.t('hot')}) -> tensor<{self.lg}>", self.lg)
        f.pointwise("dlg", "subtract", "pr", "hf")
        f.dot("dx1p", "dlg", "E", 1, 0, self.x)
        self.make_x1(f, "dx1", "dx1p")
        f.dot("gh", "dlg", "x1", 0, 0, self.E)
        f.pointwise("g1", "add", "g0", "gh")
        f.result("dx1", port("send", "t1") if self.p > 1 else port("act", "dx1", 0))
        f.result("g1", port("gradient", "E"))
        return f

    def backward0(self):
        f = self.program("train.c0.B")
        f.argument("dx1r", self.part, port("recv", "t1") if self.p > 1 else port("act", "dx1", 0))
        f.argument("x0", self.x, port("act", "x0", 0))
        f.argument("tok", self.bi, port("act", "tok", 0))
        f.argument("W1", self.W1, port("buffer", "W1.local"))
        f.argument("W2", self.W2, port("buffer", "W2.local"))
        f.argument("gE0", self.E, port("gradient", "E"))
        f.argument("gW10", self.W1, port("gradient", "W1"))
        f.argument("gW20", self.W2, port("gradient", "W2"))
        f.op("f", f"dist.fence(%x0) : tensor<{self.x}>", self.x)
        self.block(f, "f")
        self.take_x1(f, "dx1", "dx1r")
        f.dot("dh", "dx1", "W2", 1, 1, self.h)
        f.dot("gW2", "h", "dx1", 0, 0, self.W2)
        f.pointwise("gW21", "add", "gW20", "gW2")
        f.constant("one", "1.0", self.h)
        f.pointwise("t2", "multiply", "th", "th")
        f.pointwise("dt", "subtract", "one", "t2")
        f.pointwise("dbh", "multiply", "dh", "b")
        f.pointwise("da", "multiply", "dbh", "dt")
        f.pointwise("db", "multiply", "dh", "th")
        f.op("dabc", f"stablehlo.concatenate %da, %db, %dh, dim = 1 : ({f.t('da', 'db', 'dh')}) -> tensor<{self.abc}>",
             self.abc)
        f.dot("gW1", "x0", "dabc", 0, 0, self.W1)
        f.pointwise("gW11", "add", "gW10", "gW1")
        f.dot("sp", "dabc", "W1", 1, 1, self.x)
        f.collective("all_reduce", ["s"], ["sp"], ["tensor"], [self.x])
        f.pointwise("dx0", "add", "dx1", "s")
        self.local(f, "i", "tok")
        f.op("ir", f"stablehlo.reshape %i : (tensor<{self.bi}>) -> tensor<{self.rows}x1xi32>", f"{self.rows}x1xi32")
        f.constant("zE", "0.0", self.E)
        f.op("ge", '"stablehlo.scatter"(%zE, %ir, %dx0) <{indices_are_sorted = false, scatter_dimension_numbers = '
             '#stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], '
             'scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({\n'
             '  ^bb0(%p: tensor<f32>, %q: tensor<f32>):\n    %r = stablehlo.add %p, %q : tensor<f32>\n'
             '    stablehlo.return %r : tensor<f32>\n  }) : '
             f'(tensor<{self.E}>, tensor<{self.rows}x1xi32>, tensor<{self.x}>) -> tensor<{self.E}>', self.E)
        f.pointwise("gE1", "add", "gE0", "ge")
        f.result("gE1", port("gradient", "E"))
        f.result("gW11", port("gradient", "W1"))
        f.result("gW21", port("gradient", "W2"))
        return f

    def square(self, f, name, operand):
        f.pointwise(name + ".q", "multiply", operand, operand)
        f.reduce(name, name + ".q", "add", "[0, 1]", "f32", "0.0")

    def momentum(self, f, name, parameter, velocity, gradient, type):
        f.broadcast(name + ".k", "k", "[]", type)
        f.pointwise(name + ".g", "multiply", gradient, name + ".k")
        f.constant(name + ".mu", 0.9, type)
        f.pointwise(name + ".mv", "multiply", name + ".mu", velocity)
        f.pointwise(name + ".v", "add", name + ".mv", name + ".g")
        f.broadcast(name + ".lr", "lr", "[]", type)
        f.pointwise(name + ".st", "multiply", name + ".lr", name + ".v")
        f.pointwise(name + ".p", "subtract", parameter, name + ".st")

    def update(self, stage):
        f = self.program(f"train.u{stage}")
        first, last = stage == 0, stage == self.p - 1
        f.argument("gEp", self.E, port("gradient", "E"))
        f.argument("E", self.E, port("buffer", "E.local"))
        f.argument("Ev", self.E, port("buffer", "E.v.local"))
        if first:
            f.argument("gW1p", self.W1, port("gradient", "W1"))
            f.argument("gW2p", self.W2, port("gradient", "W2"))
            f.argument("W1", self.W1, port("buffer", "W1.local"))
            f.argument("W1v", self.W1rows, port("buffer", "W1.v.local"))
            f.argument("W2", self.W2, port("buffer", "W2.local"))
            f.argument("W2v", self.W2, port("buffer", "W2.v.local"))
        if last:
            f.argument("lsp", "f32", port("loss_sum"))
            f.argument("np", "f32", port("count"))
        else:
            f.constant("lsp", "0.0", "f32")
            f.constant("np", "0.0", "f32")
        f.argument("lr", "f32", port("hyper", "lr"))
        if first:
            if self.d > 1:
                f.collective("reduce_scatter", ["gW1"], ["gW1p"], ["data"], [self.W1rows], dim=0)
            else:
                f.collective("all_reduce", ["gW1"], ["gW1p"], ["data"], [self.W1])
            f.collective("all_reduce", ["gW2"], ["gW2p"], ["data"], [self.W2])
        f.collective("all_reduce", ["gE"], ["gEp"], ["pipe", "data"], [self.E], "@gE")
        f.collective("all_reduce", ["lt", "nt"], ["lsp", "np"], ["pipe", "data"], ["f32", "f32"], "@ls")
        several = self.p * self.d > 1
        loss, count = ("lt#0", "lt#1") if several else ("lt", "nt")
        if first:
            self.square(f, "nE", "gE")
            f.keep("nEk", "nE", "data")
            self.square(f, "nW2", "gW2")
            f.keep("nW2k", "nW2", "data")
            self.square(f, "nW1", "gW1")
            f.pointwise("n12", "add", "nEk", "nW2k")
            f.pointwise("np2", "add", "n12", "nW1")
        else:
            f.constant("np2", "0.0", "f32")
        f.collective("all_reduce", ["n2"], ["np2"], ["pipe", "data", "tensor"], ["f32"], "@n2")
        f.pointwise("nr", "sqrt", "n2")
        f.pointwise("norm", "divide", "nr", count)
        f.constant("one", "1.0", "f32")
        f.pointwise("in", "divide", "one", "norm")
        f.pointwise("cl", "minimum", "one", "in")
        f.pointwise("k", "divide", "cl", count)
        self.momentum(f, "mE", "E", "Ev", "gE", self.E)
        f.result("mE.p", port("buffer", "E.local"))
        f.result("mE.v", port("buffer", "E.v.local"))
        if first:
            if self.d > 1:
                f.offset("or", "data", WIDTH // self.d)
                f.constant("oc", 0, "i32")
                f.op("W1s", f"stablehlo.dynamic_slice %W1, %or, %oc, sizes = [{WIDTH // self.d}, {3 * self.cut}] : "
                     f"(tensor<{self.W1}>, tensor<i32>, tensor<i32>) -> tensor<{self.W1rows}>", self.W1rows)
            self.momentum(f, "m1", "W1s" if self.d > 1 else "W1", "W1v", "gW1", self.W1rows)
            self.momentum(f, "m2", "W2", "W2v", "gW2", self.W2)
            f.collective("all_gather", ["W1n"], ["m1.p"], ["data"], [self.W1], dim=0)
            f.result("W1n", port("buffer", "W1.local"))
            f.result("m1.v", port("buffer", "W1.v.local"))
            f.result("m2.p", port("buffer", "W2.local"))
            f.result("m2.v", port("buffer", "W2.v.local"))
        f.pointwise("loss", "divide", loss, count)
        f.result("loss", port("metric", "loss"))
        f.result("norm", port("metric", "grad_norm"))
        return f

    def layout(self, dims, stages=None):
        def write(axes):
            return "{" + ", ".join(f'"{a}"' for a in axes if self.mesh[a] > 1) + "}"
        at = ""
        if self.p > 1:
            at = f', at = {{"pipe" = {stages or [0, 1]}}}'
        return f"#dist.layout<@mesh, [{', '.join(write(d) for d in dims)}]{at}>"

    def states(self):
        out = []
        rows, columns = [["tensor"], []], [[], ["tensor"]]
        zero = [["data"], ["tensor"]]

        def state(name, type, role, source, local, dims, stages, parts=1):
            out.append(f"dist.state @{name} : tensor<{type}> {{{role}, source = {source}}}")
            boxes = []
            for i in range(parts):
                part, offsets = name, [0, 0]
                if parts > 1:
                    part, offsets = f"{name}.{i}", [0, i * self.cut]
                    out.append(f"dist.state @{part} part of @{name} box([0, {i * WIDTH}] [{WIDTH}, {WIDTH}]) : "
                               f"tensor<{WIDTH}x{WIDTH}xf32> {{{role.replace('of = @W1', 'of = @W1.' + str(i))}}}")
                boxes.append(f"#dist.box<@{part}, {self.layout(dims, stages)}, {offsets}>")
            out.append(f"dist.buffer @{name}.local of @{name} : tensor<{local}> holds [{', '.join(boxes)}]")

        normal, zeros = "#dist.draw<normal, 0.5>", "#dist.draw<zeros>"
        first = [0] if self.p > 1 else None
        square = f"{WIDTH}x{WIDTH}xf32"
        state("E", f"{VOCABULARY}x{WIDTH}xf32", "role = parameter", normal, self.E, rows, None)
        state("E.v", f"{VOCABULARY}x{WIDTH}xf32", "role = optimizer, of = @E", zeros, self.E, rows, None)
        state("W1", f"{WIDTH}x{3 * WIDTH}xf32", "role = parameter", normal, self.W1, columns, first, 3)
        state("W1.v", f"{WIDTH}x{3 * WIDTH}xf32", "role = optimizer, of = @W1", zeros, self.W1rows, zero, first, 3)
        state("W2", square, "role = parameter", normal, self.W2, rows, first)
        state("W2.v", square, "role = optimizer, of = @W2", zeros, self.W2, rows, first)
        return "\n".join(out) + "\n"

    def table(self, entry="train"):
        if entry != "train":
            return '["F0.0 F1.0"]' if self.p == 1 else '["F0.0 .", ". F1.0"]'
        if self.p == 1:
            cells = [c for i in range(self.m) for c in (f"F0.{i}", f"F1.{i}", f"B1.{i}", f"B0.{i}")]
            return '["' + " ".join(cells + ["U"]) + '"]'
        rows = [("F0.0", "."), ("F0.1" if self.m > 1 else ".", "F1.0")]
        for i in range(self.m):
            rows.append((".", f"B1.{i}"))
            rows.append((f"B0.{i}", f"F1.{i + 1}" if i + 1 < self.m else "."))
            if i + 2 < self.m:
                rows.append((f"F0.{i + 2}", "."))
        rows.append(("U", "U"))
        return "[" + ", ".join('"' + " ".join(row[s] for row in rows) + '"' for s in (0, 1)) + "]"

    def text(self):
        axes = ", ".join(f'"{a}"={self.mesh[a]}' for a in ("pipe", "data", "tensor"))
        out = f'dist.mesh @mesh = <{axes}> pipeline "pipe"\n' + self.states()
        out += "dist.hyper @lr : tensor<f32> = <warmup_cosine, base = 0.05, last = 0.005, warmup = 4, total = 20>\n"
        functions = [self.forward0(), self.backward0(), self.forward1(), self.backward1()]
        functions += [self.update(s) for s in range(self.p)]
        out += self.timeline("train", functions, self.m)
        for entry in ("evaluate", "forward"):
            out += self.timeline(entry, [self.forward0(entry), self.forward1(entry)], 1)
        return out

    def timeline(self, entry, functions, microbatches):
        programs = []
        for f in functions:
            kind, number = f.name.split(".")[1][0], int(f.name.split(".")[1][1])
            if kind == "u":
                programs.append(f"#dist.program<@{f.name}, phase = update, at = [{number}]>")
                continue
            phase = "forward" if f.name[-1] == "F" else "backward"
            programs.append(f"#dist.program<@{f.name}, chunk = {number}, phase = {phase}, at = [{number % self.p}]>")
        routes = []
        if self.p > 1:
            routes.append(f"#dist.route<@t0: @{entry}.c0.F -> @{entry}.c1.F>")
            if entry == "train":
                routes.append("#dist.route<@t1: @train.c1.B -> @train.c0.B>")
        return (f"dist.timeline @{entry} microbatches({microbatches})\n    programs([{', '.join(programs)}])\n"
                f"    transfers([{', '.join(routes)}])\n    table(<{self.table(entry)}>)\n"
                + "".join(f.text() for f in functions))


def main():
    sizes = {"pipe": 1, "data": 1, "tensor": 1, "microbatches": 2}
    for word in sys.argv[1:]:
        key, value = word.split("=")
        sizes[key] = int(value)
    print(Model(sizes).text(), end="")


main()
