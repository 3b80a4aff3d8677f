// RUN: llmc-opt %s --split-input-file --llmc-propagate-layouts --remarks-filter=origins --remark-format=emitRemark -o /dev/null 2>&1 | grep -v '^within' | FileCheck %s

// An axis goes back op by op, in the dimension that it splits: the rows of the
// product are those of the input, though its weight has the axis too.
// CHECK-LABEL: Remark="at rest: [{"a"}, {}]
// CHECK-NEXT:    {"a"} on dim 0: state @w has it from the start
// CHECK:       Remark="at rest: [{}, {"t"}]
// CHECK-NEXT:    {"t"} on dim 1: state @v has it from the start
// CHECK:       Remark="input: [{"a"}, {}]
// CHECK-NEXT:    {"a"} on dim 0: input "x" has it from the start
// CHECK:       m.py:1:1: remark: {{.*}}Remark="'stablehlo.dot_general': [{"a"}, {"t"}]
// CHECK-NEXT:    {"a"} on dim 0: dim 0 of it is dim 0 of input "x" in 'stablehlo.dot_general' at m.py:1:1; input "x" has it from the start
// CHECK-NEXT:    {"t"} on dim 1: dim 1 of it is dim 1 of state @v in 'stablehlo.dot_general' at m.py:1:1; state @v has it from the start
// CHECK:       m.py:3:1: remark: {{.*}}Remark="'stablehlo.dot_general': [{"a"}, {}]
// CHECK-NEXT:    {"a"} on dim 0: dim 0 of it is dim 0 of input "x" in 'stablehlo.dot_general' at m.py:3:1; input "x" has it from the start
// CHECK:       m.py:2:1: remark: {{.*}}Remark="'stablehlo.transpose': [{"t"}, {"a"}]
// CHECK-NEXT:    {"t"} on dim 0: dim 0 of it is dim 1 of 'stablehlo.dot_general' in 'stablehlo.transpose' at m.py:2:1; dim 1 of 'stablehlo.dot_general' is dim 1 of state @v in 'stablehlo.dot_general' at m.py:1:1; state @v has it from the start
dist.mesh @mesh = <"a"=2, "t"=2>
dist.state @w : tensor<8x4xf32> {role = parameter, row = #dist.row<rest = <@mesh, [{"a"}, {}]>>, source = #dist.draw<ones>}
dist.state @v : tensor<8x4xf32> {role = parameter, row = #dist.row<rest = <@mesh, [{}, {"t"}]>>, source = #dist.draw<ones>}
func.func @f(%x: tensor<6x8xf32> {dist.port = #dist.port<input "x", layout = <@mesh, [{"a"}, {}]>>}, %v: tensor<8x4xf32> {dist.port = #dist.port<parameter @v>}, %w: tensor<8x4xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<4x6xf32> {dist.port = #dist.port<output "z">}, tensor<6x4xf32> {dist.port = #dist.port<output "y">}) {
  %0 = stablehlo.dot_general %x, %v, contracting_dims = [1] x [0] : (tensor<6x8xf32>, tensor<8x4xf32>) -> tensor<6x4xf32> loc("m.py":1:1)
  %2 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<6x8xf32>, tensor<8x4xf32>) -> tensor<6x4xf32> loc("m.py":3:1)
  %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<6x4xf32>) -> tensor<4x6xf32> loc("m.py":2:1)
  return %1, %2 : tensor<4x6xf32>, tensor<6x4xf32>
}
dist.entry @forward function(@f) chunks([0])

// -----

// The name of a value is that of its location; long ways are cut in the middle.
// CHECK: Remark="'stablehlo.tanh': [{"a"}]
// CHECK-NEXT: {"a"} on dim 0: dim 0 of it is dim 0 of 'stablehlo.negate' in 'stablehlo.tanh'{{.*}}; 4 more ops; {{.*}}; input "x" has it from the start
// CHECK-NOT: is dim {{.*}}remark
dist.mesh @mesh = <"a"=2>
func.func @long(%x: tensor<8xf32> {dist.port = #dist.port<input "x", layout = <@mesh, [{"a"}]>>}) -> (tensor<8xf32> {dist.port = #dist.port<output "z">}) {
  %0 = stablehlo.negate %x : tensor<8xf32> loc(unknown)
  %1 = stablehlo.negate %0 : tensor<8xf32> loc(unknown)
  %2 = stablehlo.negate %1 : tensor<8xf32> loc(unknown)
  %3 = stablehlo.negate %2 : tensor<8xf32> loc(unknown)
  %4 = stablehlo.negate %3 : tensor<8xf32> loc(unknown)
  %5 = stablehlo.negate %4 : tensor<8xf32> loc(unknown)
  %6 = stablehlo.negate %5 : tensor<8xf32> loc(unknown)
  %7 = stablehlo.negate %6 : tensor<8xf32> loc(unknown)
  %8 = stablehlo.tanh %7 : tensor<8xf32> loc("head")
  return %8 : tensor<8xf32>
}
dist.entry @forward function(@long) chunks([0])
