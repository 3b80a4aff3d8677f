// RUN: llmc compile --compile-to=memory %S/../../EndToEnd/Inputs/nested-loops.mlir --config %S/../../EndToEnd/Inputs/nested-loops.toml -o - | FileCheck %s
// RUN: llmc compile --compile-to=memory %S/../../EndToEnd/Inputs/nested-loops.mlir --config %S/../../EndToEnd/Inputs/nested-loops.toml --set training.recompute='"all"' -o - | FileCheck %s --check-prefix=AGAIN

// The parts of a trip are programs side by side. What is kept for the backward
// has a row for each pair of trips; what the parts of one trip hand on lies in
// slots that each trip writes anew, by rows of the inner loop alone.
// CHECK: dist.timeline @train {{.*}}#dist.program<@train.c0.F.1, chunk = 0, phase = forward, at = [0], loop = <"loop0", trips = 5>>, #dist.program<@train.c0.F.2, chunk = 0, phase = forward, at = [0], loop = <"loop1", trips = 6, in = <"loop0", trips = 5>>>, #dist.program<@train.c0.F.3, chunk = 0, phase = forward, at = [0], loop = <"loop0", trips = 5>>
// CHECK: func.func private @train.c0.F.1(%{{.*}}: tensor<6x2x4xf32> {dist.port = #dist.port<carry "[[H:[^"]*]]", chunk = 0>}
// CHECK-SAME: -> (tensor<6x2x4xf32> {dist.port = #dist.port<carry "[[SEQUENCE:[^"]*]]", chunk = 0>}, tensor<2x4xf32> {dist.port = #dist.port<carry "[[STATE:[^"]*]]", chunk = 0>})
// CHECK: func.func private @train.c0.F.2(
// CHECK-SAME: tensor<4x4xf32> {dist.port = #dist.port<buffer @u.local, trips = [5, 0]>}
// CHECK-SAME: tensor<2x4xf32> {dist.port = #dist.port<carry "[[STATE]]", chunk = 0>}
// CHECK-SAME: tensor<2x4xf32> {dist.port = #dist.port<carry "[[SEQUENCE]]", chunk = 0, trips = [0, 6]>}
// CHECK-SAME: -> (tensor<2x4xf32> {dist.port = #dist.port<carry "[[STATE]]", chunk = 0>}
// CHECK-SAME: tensor<2x4xf32> {dist.port = #dist.port<act "[[KEPT:[^"]*]]", chunk = 0, trips = [5, 6]>}
// CHECK-SAME: tensor<2x4xf32> {dist.port = #dist.port<carry "[[ALL:[^"]*]]", chunk = 0, trips = [0, 6]>}
// CHECK: func.func private @train.c0.F.3(
// CHECK-SAME: tensor<6x2x4xf32> {dist.port = #dist.port<carry "[[ALL]]", chunk = 0>}
// CHECK-SAME: -> (tensor<6x2x4xf32> {dist.port = #dist.port<carry "[[H]]", chunk = 0>})
// CHECK: func.func private @train.c0.B.2(
// CHECK-SAME: tensor<2x4xf32> {dist.port = #dist.port<act "[[KEPT]]", chunk = 0, trips = [5, 6]>}
// CHECK: func.func private @train.c0.B.3(
// CHECK-SAME: tensor<4x4xf32> {dist.port = #dist.port<gradient @u, trips = 5>}

// With recomputation a trip of the inner loop keeps what it carries, and one of
// the outer loop what goes into the inner one.
// AGAIN: func.func private @train.c0.F.1(
// AGAIN-SAME: -> (tensor<6x2x4xf32> {dist.port = #dist.port<act "[[SEQUENCE:[^"]*]]", chunk = 0, trips = 5>}
// AGAIN: func.func private @train.c0.F.2(
// AGAIN-SAME: tensor<2x4xf32> {dist.port = #dist.port<act "[[SEQUENCE]]", chunk = 0, trips = [5, 6]>}
// AGAIN-SAME: -> (
// AGAIN-SAME: act "{{[^"]*}}", chunk = 0, trips = [5, 6]>
// AGAIN-NOT: #dist.port<act
// AGAIN: func.func private @train.c0.F.3(
// AGAIN: func.func private @train.c0.B.2(
// AGAIN: dist.fence
// AGAIN: stablehlo.tanh
