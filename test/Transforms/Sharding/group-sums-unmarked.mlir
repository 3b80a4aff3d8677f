// RUN: llmc-opt %s --split-input-file --llmc-group-sums | FileCheck %s

// Terms that have no block, no chunk, no phase, or come in as they are, are not
// regrouped.
#F = #dist.phase<forward>
#W = #dist.phase<backward_weight>
dist.mesh @mesh = <"pipe"=2> pipeline "pipe"
dist.state @a : tensor<4xf32> {role = parameter}
dist.state @b : tensor<4xf32> {role = parameter}
dist.state @c : tensor<4xf32> {role = parameter}
// CHECK-LABEL: func.func private @unmarked
// CHECK: %[[S:.*]] = stablehlo.sine {{.*}}dist.block = 1
// CHECK: %[[C:.*]] = stablehlo.cosine {{.*}}dist.block = 0
func.func private @unmarked(%x: tensor<4xf32> {dist.port = #dist.port<input "x">}, %w: tensor<4xf32> {dist.port = #dist.port<parameter @a>})
    -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}, tensor<4xf32> {dist.port = #dist.port<gradient @a>}, tensor<4xf32> {dist.port = #dist.port<gradient @b>}, tensor<4xf32> {dist.port = #dist.port<gradient @c>}) {
  %one = stablehlo.constant {dist.block = 1 : i64, dist.phase = #F} dense<1.0> : tensor<f32>
  %s = stablehlo.sine %w {dist.block = 1 : i64, dist.phase = #W} : tensor<4xf32>
  %c = stablehlo.cosine %w {dist.block = 0 : i64, dist.phase = #W} : tensor<4xf32>
  %p = stablehlo.negate %w {dist.block = 1 : i64} : tensor<4xf32>
  %q = stablehlo.abs %w {dist.block = 2 : i64, dist.phase = #W} : tensor<4xf32>
  // CHECK: %[[SC:.*]] = stablehlo.add %[[S]], %[[C]]
  // CHECK-NEXT: %[[A:.*]] = stablehlo.add %[[SC]], %{{.*}} {dist.block = 0
  %sc = stablehlo.add %s, %c {dist.block = 0 : i64, dist.phase = #W} : tensor<4xf32>
  %ga = stablehlo.add %sc, %p {dist.block = 0 : i64, dist.phase = #W} : tensor<4xf32>
  // CHECK-NEXT: %[[B:.*]] = stablehlo.add %[[SC]], %{{.*}} {dist.block = 0
  %gb = stablehlo.add %sc, %q {dist.block = 0 : i64, dist.phase = #W} : tensor<4xf32>
  // CHECK-NEXT: %[[G:.*]] = stablehlo.add %[[SC]], %arg0 {dist.block = 0
  %gc = stablehlo.add %sc, %x {dist.block = 0 : i64, dist.phase = #W} : tensor<4xf32>
  // CHECK-NEXT: return %{{.*}}, %{{.*}}, %[[A]], %[[B]], %[[G]]
  return %one, %one, %ga, %gb, %gc : tensor<f32>, tensor<f32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
func.func private @update() { return }
dist.step @train microbatch(@unmarked) update(@update) microbatches(1) schedule(<1f1b>) recompute(<none>) chunks([0, 1])

// -----

// An addition that has no block itself stays; so does all without chunks.
#F = #dist.phase<forward>
#W = #dist.phase<backward_weight>
dist.mesh @mesh = <"pipe"=2> pipeline "pipe"
dist.state @a : tensor<4xf32> {role = parameter}
// CHECK-LABEL: func.func private @bare
func.func private @bare(%w: tensor<4xf32> {dist.port = #dist.port<parameter @a>})
    -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}, tensor<4xf32> {dist.port = #dist.port<gradient @a>}) {
  %one = stablehlo.constant {dist.block = 3 : i64, dist.phase = #F} dense<1.0> : tensor<f32>
  %s = stablehlo.sine %w {dist.block = 3 : i64, dist.phase = #W} : tensor<4xf32>
  %c = stablehlo.cosine %w {dist.block = 2 : i64, dist.phase = #W} : tensor<4xf32>
  %t = stablehlo.tanh %w {dist.block = 0 : i64, dist.phase = #W} : tensor<4xf32>
  %u = stablehlo.abs %w {dist.block = 1 : i64, dist.phase = #W} : tensor<4xf32>
  // CHECK: %[[ST:.*]] = stablehlo.add %{{.*}}, %{{.*}} {dist.block = 0
  // CHECK-NEXT: %[[CU:.*]] = stablehlo.add %{{.*}}, %{{.*}} :
  // CHECK-NEXT: %[[G:.*]] = stablehlo.add %[[ST]], %[[CU]] {dist.block = 0
  // CHECK-NEXT: return %{{.*}}, %{{.*}}, %[[G]]
  %st = stablehlo.add %s, %t {dist.block = 0 : i64, dist.phase = #W} : tensor<4xf32>
  %cu = stablehlo.add %c, %u : tensor<4xf32>
  %g = stablehlo.add %st, %cu {dist.block = 0 : i64, dist.phase = #W} : tensor<4xf32>
  return %one, %one, %g : tensor<f32>, tensor<f32>, tensor<4xf32>
}
// CHECK-LABEL: func.func private @unchunked
func.func private @unchunked(%w: tensor<4xf32> {dist.port = #dist.port<parameter @a>})
    -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}, tensor<4xf32> {dist.port = #dist.port<gradient @a>}) {
  %one = stablehlo.constant {dist.block = 3 : i64, dist.phase = #F} dense<1.0> : tensor<f32>
  %s = stablehlo.sine %w {dist.block = 1 : i64, dist.phase = #W} : tensor<4xf32>
  %t = stablehlo.tanh %w {dist.block = 0 : i64, dist.phase = #W} : tensor<4xf32>
  // CHECK: %[[ST:.*]] = stablehlo.add
  // CHECK-NEXT: %[[G:.*]] = stablehlo.add %[[ST]], %{{.*}} {dist.block = 0
  // CHECK-NEXT: return %{{.*}}, %{{.*}}, %[[G]]
  %st = stablehlo.add %s, %t {dist.block = 0 : i64, dist.phase = #W} : tensor<4xf32>
  %g = stablehlo.add %st, %s {dist.block = 0 : i64, dist.phase = #W} : tensor<4xf32>
  return %one, %one, %g : tensor<f32>, tensor<f32>, tensor<4xf32>
}
func.func private @update() { return }
dist.step @train microbatch(@bare) update(@update) microbatches(1) schedule(<1f1b>) recompute(<none>) chunks([0, 0, 1, 1])
dist.step @loose microbatch(@unchunked) update(@update) microbatches(1) schedule(<1f1b>)

// -----

// What has no rule adds nothing.
#F = #dist.phase<forward>
#W = #dist.phase<backward_weight>
dist.mesh @mesh = <"pipe"=2> pipeline "pipe"
dist.state @a : tensor<4xf32> {role = parameter}
// CHECK-LABEL: func.func private @ruleless
func.func private @ruleless(%w: tensor<4xf32> {dist.port = #dist.port<parameter @a>})
    -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}, tensor<4xf32> {dist.port = #dist.port<gradient @a>}) {
  %one = stablehlo.constant {dist.block = 1 : i64, dist.phase = #F} dense<1.0> : tensor<f32>
  %s = stablehlo.sine %w {dist.block = 1 : i64, dist.phase = #W} : tensor<4xf32>
  %t = stablehlo.tanh %w {dist.block = 0 : i64, dist.phase = #W} : tensor<4xf32>
  // CHECK: %[[ST:.*]] = stablehlo.add
  // CHECK-NEXT: %[[G:.*]] = arith.addf %[[ST]], %{{.*}} {dist.block = 0
  // CHECK-NEXT: return %{{.*}}, %{{.*}}, %[[G]]
  %st = stablehlo.add %s, %t {dist.block = 0 : i64, dist.phase = #W} : tensor<4xf32>
  %g = arith.addf %st, %s {dist.block = 0 : i64, dist.phase = #W} : tensor<4xf32>
  return %one, %one, %g : tensor<f32>, tensor<f32>, tensor<4xf32>
}
func.func private @update() { return }
dist.step @train microbatch(@ruleless) update(@update) microbatches(1) schedule(<1f1b>) recompute(<none>) chunks([0, 1])
