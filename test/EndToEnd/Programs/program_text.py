#===- program_text.py - Functions over slots, op by op ---------------------===#
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The text of a program of phase 6 with the types that its ops need, for the
# makers of programs in this folder. Collectives over axes of one device become
# aliases.
#
#===------------------------------------------------------------------------===#


SYMBOLS = ("buffer", "gradient", "hyper", "send", "recv")


def port(kind, name=None, chunk=None, **fields):
    """The port of an argument or result; `fields` by their names in the text."""
    text = kind
    if name:
        text += f' @"{name}"' if kind in SYMBOLS else f' "{name}"'
    if chunk is not None:
        text += f", chunk = {chunk}"
    text += "".join(f", {key} = {value}" for key, value in fields.items())
    return f"dist.port = #dist.port<{text}>"


class Program:
    """A function over slots, op by op; values have names."""

    def __init__(self, name, mesh):
        self.name, self.mesh = name, mesh
        self.arguments, self.results, self.lines = [], [], []
        self.types = {}

    def argument(self, name, type, port):
        self.arguments.append(f"%{name}: tensor<{type}> {{{port}}}")
        self.types[name] = type

    def result(self, name, port):
        self.results.append((name, port))

    def op(self, name, text, type):
        self.lines.append(f"  %{name} = {text}")
        self.types[name] = type

    def t(self, *names):
        return ", ".join(f"tensor<{self.types[n]}>" for n in names)

    def pointwise(self, name, op, *operands):
        values = ", ".join("%" + o for o in operands)
        self.op(name, f"stablehlo.{op} {values} : {self.t(operands[0])}", self.types[operands[0]])

    def constant(self, name, value, type):
        self.op(name, f"stablehlo.constant dense<{value}> : tensor<{type}>", type)

    def broadcast(self, name, operand, dims, type):
        self.op(name, f"stablehlo.broadcast_in_dim %{operand}, dims = {dims} : ({self.t(operand)}) -> tensor<{type}>",
                type)

    def dot(self, name, a, b, ca, cb, type):
        self.op(name, f"stablehlo.dot_general %{a}, %{b}, contracting_dims = [{ca}] x [{cb}] : ({self.t(a, b)}) -> "
                f"tensor<{type}>", type)

    def reduce(self, name, operand, op, dims, type, neutral):
        element = type.split("x")[-1]
        self.constant(name + ".0", neutral, element)
        self.op(name, f"stablehlo.reduce(%{operand} init: %{name}.0) applies stablehlo.{op} across dimensions = {dims} "
                f": ({self.t(operand)}, tensor<{element}>) -> tensor<{type}>", type)

    def compare(self, name, kind, a, b):
        type = self.types[a].replace("i32", "i1")
        self.op(name, f"stablehlo.compare {kind}, %{a}, %{b} : ({self.t(a, b)}) -> tensor<{type}>", type)

    def select(self, name, mask, a, b):
        self.op(name, f"stablehlo.select %{mask}, %{a}, %{b} : {self.t(mask)}, {self.t(a)}", self.types[a])

    def over(self, *axes):
        """The axes among these that have several devices."""
        return [a for a in axes if self.mesh[a] > 1]

    def collective(self, kind, names, operands, axes, types, symbol="", dim=None, reduction=" sum"):
        axes = self.over(*axes)
        if not axes:
            for name, operand in zip(names, operands):
                self.op(name, f"stablehlo.reshape %{operand} : ({self.t(operand)}) -> {self.t(operand)}",
                        self.types[operand])
            return
        result = f"%{names[0]}" + (f":{len(names)}" if len(names) > 1 else "")
        values = ", ".join("%" + o for o in operands)
        where = f" dim {dim}" if dim is not None else ""
        list = ", ".join(f'"{a}"' for a in axes)
        pairs = self.t(*operands)
        if kind in ("all_gather", "reduce_scatter"):
            pairs += f" -> tensor<{types[0]}>"
        reduces = reduction if kind != "all_gather" else ""
        self.lines.append(f"  {result} = dist.{kind} {symbol and symbol + ' '}{values}{where} over [{list}]{reduces} : "
                          f"{pairs}")
        for i, (name, type) in enumerate(zip(names, types)):
            self.types[name if len(names) == 1 else f"{names[0]}#{i}"] = type

    def offset(self, name, axis, step):
        """The device's coordinate times `step`."""
        if self.mesh[axis] == 1:
            self.constant(name, 0, "i32")
            return
        self.op(name + ".c", f'dist.coordinate ["{axis}"] : tensor<i32>', "i32")
        self.constant(name + ".s", step, "i32")
        self.pointwise(name, "multiply", name + ".c", name + ".s")

    def keep(self, name, operand, *axes):
        """The value where all coordinates are 0, else zero."""
        axes = self.over(*axes)
        if not axes:
            self.op(name, f"stablehlo.reshape %{operand} : ({self.t(operand)}) -> {self.t(operand)}",
                    self.types[operand])
            return
        list = ", ".join(f'"{a}"' for a in axes)
        self.op(name + ".c", f"dist.coordinate [{list}] : tensor<i32>", "i32")
        self.constant(name + ".z", 0, "i32")
        self.compare(name + ".m", "EQ", name + ".c", name + ".z")
        self.constant(name + ".n", "0.0", self.types[operand])
        self.select(name, name + ".m", operand, name + ".n")

    def text(self):
        arguments = ",\n    ".join(self.arguments)
        results = ", ".join(f"tensor<{self.types[n]}> {{{p}}}" for n, p in self.results)
        values = ", ".join("%" + n for n, p in self.results)
        lines = "\n".join(self.lines)
        return (f"func.func private @{self.name}(\n    {arguments})\n    -> ({results}) {{\n{lines}\n"
                f"  return {values} : {self.t(*[n for n, p in self.results])}\n}}\n")
