// RUN: llmc compile --compile-to=ordered %S/../../EndToEnd/Inputs/loop.mlir --config %S/../../EndToEnd/Inputs/loop.toml --mesh data=2 -o - | FileCheck %s

// What is carried lies in a frame of its own, for the time of a cell; kept rows
// move by the number of the trip.
// CHECK: plan.frame @train.carry0 tmp
// CHECK: plan.buffer @[[KEPT:.*]] in @train.act0 bytes(96)
// CHECK: plan.program @train.c0.F.1 {{ ?}}other parameters(1) {
// CHECK: inputs([#plan.operand<@state.w.local, [2, 4], f32, expr = <mul(32, parameter(0))>>])
// CHECK: expr = <mul(16, parameter(0))>
// A cell calls its parts.
// CHECK: plan.program @train.c0.F.all {{ ?}}forward chunk(0) {
// CHECK-NEXT: plan.call on @C @train.c0.F arguments([])
// CHECK-NEXT: plan.loop on @C 6 times @train.c0.F.1
// CHECK-NEXT: plan.call on @C @train.c0.F.2 arguments([])
// Where trips run backwards, their number is turned around.
// CHECK: plan.program @train.c0.B.1.turned {{ ?}}other parameters(1) {
// CHECK-NEXT: plan.call on @C @train.c0.B.1 arguments([#plan.expr<sub(5, parameter(0))>])
// CHECK: plan.loop on @C 6 times @train.c0.B.1.turned
// CHECK: plan.table @train.table programs([@train.c0.F.all, @train.c0.B.all])
