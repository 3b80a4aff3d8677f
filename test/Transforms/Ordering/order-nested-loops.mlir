// RUN: llmc compile --compile-to=ordered %S/../../EndToEnd/Inputs/nested-loops.mlir --config %S/../../EndToEnd/Inputs/nested-loops.toml -o - | FileCheck %s

// Rows move by the trips of both loops; that of the inner one is the first
// parameter.
// CHECK: plan.program @train.c0.F.2 {{ ?}}other parameters(2) {
// CHECK: <@state.u.local, [4, 4], f32, expr = <mul(64, parameter(1))>>
// CHECK: expr = <add(mul(32, parameter(0)), mul(192, parameter(1)))>
// CHECK: plan.program @train.c0.F.3 {{ ?}}other parameters(1) {
// A trip of the outer loop calls its parts, and the inner loop with its number.
// CHECK: plan.program @train.c0.F.1.trip {{ ?}}other parameters(1) {
// CHECK-NEXT: plan.call on @C @train.c0.F.1 arguments([#plan.expr<parameter(0)>])
// CHECK-NEXT: plan.loop on @C 6 times @train.c0.F.2 arguments([#plan.expr<parameter(0)>])
// CHECK-NEXT: plan.call on @C @train.c0.F.3 arguments([#plan.expr<parameter(0)>])
// CHECK-NEXT: }
// CHECK-NEXT: plan.program @train.c0.F.all {{ ?}}forward chunk(0) {
// CHECK-NEXT: plan.call on @C @train.c0.F arguments([])
// CHECK-NEXT: plan.loop on @C 5 times @train.c0.F.1.trip
// CHECK-NEXT: plan.call on @C @train.c0.F.4 arguments([])
// Backwards each loop is turned around for itself.
// CHECK: plan.program @train.c0.B.2.turned {{ ?}}other parameters(2) {
// CHECK-NEXT: plan.call on @C @train.c0.B.2 arguments([#plan.expr<sub(5, parameter(0))>, #plan.expr<parameter(1)>])
// CHECK: plan.program @train.c0.B.1.trip {{ ?}}other parameters(1) {
// CHECK-NEXT: plan.call on @C @train.c0.B.1 arguments([#plan.expr<parameter(0)>])
// CHECK-NEXT: plan.loop on @C 6 times @train.c0.B.2.turned arguments([#plan.expr<parameter(0)>])
// CHECK: plan.program @train.c0.B.1.trip.turned {{ ?}}other parameters(1) {
// CHECK-NEXT: plan.call on @C @train.c0.B.1.trip arguments([#plan.expr<sub(4, parameter(0))>])
// CHECK: plan.loop on @C 5 times @train.c0.B.1.trip.turned
