"""Parses each file in the StableHLO library that jaxlib carries, and verifies it.

With --print the module is printed by that library instead of "verified".
"""
import sys

from jaxlib.mlir import ir
from jaxlib.mlir._mlir_libs import _jax_mlir_ext
from jaxlib.mlir.dialects import chlo, sdy, stablehlo

paths = [path for path in sys.argv[1:] if path != "--print"]
registry = ir.DialectRegistry()
_jax_mlir_ext.register_dialects(registry)
context = ir.Context()
context.append_dialect_registry(registry)
for dialect in (stablehlo, chlo, sdy):
    dialect.register_dialect(context)
context.load_all_available_dialects()
for path in paths:
    with context, open(path) as file:
        module = ir.Module.parse(file.read())
        module.operation.verify()
    print(module if "--print" in sys.argv else "verified")
