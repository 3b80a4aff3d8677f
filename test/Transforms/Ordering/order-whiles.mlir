// RUN: split-file %s %t
// RUN: llmc compile --compile-to=ordered %t/newton.mlir --config %t/newton.toml --mesh data=2 -o - | FileCheck %s
// RUN: llmc compile %t/newton.mlir --config %t/newton.toml --mesh data=2 -o %t/plan
// RUN: llmc compile --compile-to=memory %t/newton.mlir --config %t/newton.toml --mesh data=2 -o - | sed 's/"c0.loop0"/"c0.other"/g' > %t/other.mlir
// RUN: not llmc compile --compile-from=memory --compile-to=ordered %t/other.mlir -o - 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: llmc inspect %t/plan/plan.llmc | FileCheck %s --check-prefix=INFO

// The condition is all devices' own: the maximum over them is exchanged in each
// trip. What is carried, the condition too, lies in the cell's frame; the flag
// that the compute stream asks lies in one of its own, so that a copy of that
// stream waits for whatever made the condition.
// CHECK: plan.buffer @[[ON:forward.carry0.c0.loop0]] in @forward.carry0 bytes(1)
// CHECK: plan.program @forward.c0.F.1 {{ ?}}other {
// CHECK: plan.collective on @{{.*}} all_reduce reduction {{ ?}}max axes(["data"])
// CHECK: plan.buffer @[[FLAG:.*go.flag]] in @forward.c0.F.1.go bytes(1)
// CHECK: plan.program @forward.c0.F.1.ask {{ ?}}other {
// CHECK-NEXT: plan.copy on @C to(<@[[FLAG]], [], i1>) from(<@[[ON]], [], i1>)
// CHECK: plan.program @forward.c0.F.1.turn {{ ?}}other {
// CHECK-NEXT: plan.call on @C @forward.c0.F.1 arguments([])
// CHECK-NEXT: plan.call on @C @forward.c0.F.1.ask arguments([])
// CHECK: plan.program @forward.c0.F.all {{ ?}}forward chunk(0) {
// CHECK-NEXT: plan.call on @C @forward.c0.F arguments([])
// CHECK-NEXT: plan.call on @C @forward.c0.F.1.ask arguments([])
// CHECK-NEXT: plan.while on @C <@[[FLAG]], [], i1> do @forward.c0.F.1.turn
// CHECK-NEXT: plan.call on @C @forward.c0.F.2 arguments([])

// OTHER: 'dist.timeline' op expected a slot 'c0.loop0' of chunk 0, in which its conditional loop carries the condition

// INFO: while {{.*}} forward.c0.F.1.turn

//--- newton.mlir
func.func public @main(%x: tensor<8x4xf32> loc("x")) -> tensor<8x4xf32> {
  %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %bar = stablehlo.constant dense<1.0e-5> : tensor<f32>
  %half = stablehlo.constant dense<0.5> : tensor<8x4xf32>
  %one = stablehlo.constant dense<1.0> : tensor<8x4xf32>
  %a = stablehlo.abs %x : tensor<8x4xf32>
  %b = stablehlo.add %a, %one : tensor<8x4xf32>
  %0 = stablehlo.while(%y = %b) : tensor<8x4xf32>
  cond {
    %1 = stablehlo.multiply %y, %y : tensor<8x4xf32>
    %2 = stablehlo.subtract %1, %b : tensor<8x4xf32>
    %3 = stablehlo.reduce(%2 init: %least) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
    %4 = stablehlo.compare GT, %3, %bar, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %4 : tensor<i1>
  } do {
    %1 = stablehlo.divide %b, %y : tensor<8x4xf32>
    %2 = stablehlo.add %y, %1 : tensor<8x4xf32>
    %3 = stablehlo.multiply %2, %half : tensor<8x4xf32>
    stablehlo.return %3 : tensor<8x4xf32>
  }
  return %0 : tensor<8x4xf32>
}

//--- newton.toml
[data.x]
kind = "array"
file = "x.npy"
[[layout]]
input = "*"
dims = [["data"]]
