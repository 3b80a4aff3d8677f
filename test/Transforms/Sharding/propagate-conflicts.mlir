// RUN: llmc-opt %s --split-input-file --llmc-propagate-layouts --remarks-filter=costs --remark-format=emitRemark -o /dev/null 2>&1 | grep -o 'conflict | .*' | FileCheck %s

// Both sides are named as they were given, however far their axes have spread:
// a state, an input, a constraint with its place. Where one is moved, the bytes
// that a device receives are said: of 8 x 4 floats in two parts, 64 B.
// CHECK: conflict | Category:costs | Remark="'stablehlo.tanh' meets {"a"}, as state @w says, and {"b"}, as input "y" says, in one dimension of size 8: {"a"} is kept, and 64 B are received here"
dist.mesh @mesh = <"a"=2, "b"=2>
dist.state @w : tensor<8x4xf32> {role = parameter, row = #dist.row<rest = <@mesh, [{"a"}, {}]>>, source = #dist.draw<ones>}
func.func @far(%w: tensor<8x4xf32> {dist.port = #dist.port<parameter @w>}, %y: tensor<8x4xf32> {dist.port = #dist.port<input "y", layout = <@mesh, [{"b"}, {}]>>}) -> (tensor<8x4xf32> {dist.port = #dist.port<output "z">}) {
  %0 = stablehlo.tanh %w : tensor<8x4xf32>
  %1 = stablehlo.negate %0 : tensor<8x4xf32>
  %2 = stablehlo.tanh %y : tensor<8x4xf32>
  %3 = stablehlo.add %1, %2 : tensor<8x4xf32>
  return %3 : tensor<8x4xf32>
}
dist.entry @forward function(@far) chunks([0])

// -----

// Equal ones of blocks are one.
// CHECK-NEXT: conflict | Category:costs | Remark="'dist.constraint' meets {"a"}, as 'dist.constraint' at m.py:7:1 says, and {"b"}, as state @b.*.w says, in one dimension of size 8: {"a"} is kept, and 16 B are received here (2 times)"
// CHECK-NEXT: conflict | Category:costs | Remark="'stablehlo.multiply' meets {"b"}, as state @b.1.w says, and {"a"}, as 'dist.constraint' at m.py:7:1 says, in one dimension of size 8: {"b"} is kept, and 16 B are received here"
// CHECK-NOT: {{.}}
dist.mesh @mesh = <"a"=2, "b"=2>
dist.state @b.0.w : tensor<8xf32> {role = parameter, row = #dist.row<rest = <@mesh, [{"b"}]>>, source = #dist.draw<ones>}
dist.state @b.1.w : tensor<8xf32> {role = parameter, row = #dist.row<rest = <@mesh, [{"b"}]>>, source = #dist.draw<ones>}
func.func @blocks(%x: tensor<8xf32> {dist.port = #dist.port<input "x">}, %v: tensor<8xf32> {dist.port = #dist.port<parameter @b.0.w>}, %w: tensor<8xf32> {dist.port = #dist.port<parameter @b.1.w>}) -> (tensor<8xf32> {dist.port = #dist.port<output "z">}) {
  %0 = stablehlo.multiply %x, %v : tensor<8xf32> loc("m.py":6:1)
  %1 = dist.constraint %0 to <@mesh, [{"a"}]> : tensor<8xf32> loc("m.py":7:1)
  %2 = stablehlo.multiply %1, %w : tensor<8xf32> loc("m.py":6:1)
  %3 = dist.constraint %2 to <@mesh, [{"a"}]> : tensor<8xf32> loc("m.py":7:1)
  return %3 : tensor<8xf32>
}
dist.entry @forward function(@blocks) chunks([0])
