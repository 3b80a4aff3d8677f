"""Prints a model whose functions call each other, sys.argv[1] deep."""

import sys

depth = int(sys.argv[1])
print('func.func public @main(%x: tensor<4xf32> loc("x")) -> tensor<4xf32> {')
for i in range(1, depth + 1):
    print(f"  %y = call @f{i}(%x) : (tensor<4xf32>) -> tensor<4xf32>\n  return %y : tensor<4xf32>\n}}")
    print(f"func.func private @f{i}(%x: tensor<4xf32>) -> tensor<4xf32> {{")
print("  %y = stablehlo.negate %x : tensor<4xf32>\n  return %y : tensor<4xf32>\n}")
