// RUN: llmc compile --compile-to=memory %S/../../EndToEnd/Inputs/loop.mlir --config %S/../../EndToEnd/Inputs/loop.toml --mesh data=2 -o - | FileCheck %s
// RUN: llmc compile --compile-to=memory %S/../../EndToEnd/Inputs/loop.mlir --config %S/../../EndToEnd/Inputs/loop.toml --set training.recompute='"all"' -o - | FileCheck %s --check-prefix=AGAIN

// The parts of a chunk are programs side by side. That of the loop takes and
// returns rows, adds rows of the gradient, and returns what it carries where it
// took it.
// CHECK: dist.timeline @train {{.*}} programs([#dist.program<@train.c0.F, chunk = 0, phase = forward, at = [0]>, #dist.program<@train.c0.F.1, chunk = 0, phase = forward, at = [0], loop = <"loop0", trips = 6>>, #dist.program<@train.c0.F.2,
// CHECK-SAME: #dist.program<@train.c0.B.1, chunk = 0, phase = backward, at = [0], loop = <"loop0", trips = 6, reversed = true>>
// CHECK: func.func private @train.c0.F.1(
// CHECK-SAME: tensor<1x4xf32> {dist.port = #dist.port<carry "[[CARRY:[^"]*]]", chunk = 0>}
// CHECK-SAME: tensor<2x4xf32> {dist.port = #dist.port<buffer @w.local, trips = 6>}
// CHECK-SAME: -> (
// CHECK-SAME: tensor<1x4xf32> {dist.port = #dist.port<carry "[[CARRY]]", chunk = 0>}
// CHECK-SAME: tensor<1x4xf32> {dist.port = #dist.port<act "{{[^"]*}}", chunk = 0, trips = 6>}
// CHECK: func.func private @train.c0.B.1(
// CHECK-SAME: tensor<4x4xf32> {dist.port = #dist.port<gradient @w, trips = 6>}
// CHECK-SAME: -> (
// CHECK-SAME: {dist.port = #dist.port<gradient @w, trips = 6>}

// With recomputation a trip keeps what it carries alone.
// AGAIN: func.func private @train.c0.F.1(
// AGAIN-SAME: -> (
// AGAIN-SAME: #dist.port<carry
// AGAIN-SAME: #dist.port<act "{{[^"]*}}", chunk = 0, trips = 6>
// AGAIN-NOT: #dist.port<act
// AGAIN: func.func private @train.c0.F.2(
// AGAIN: func.func private @train.c0.B.1(
// AGAIN: dist.fence
// AGAIN: stablehlo.tanh
