// RUN: llmc-opt %s --split-input-file --verify-diagnostics --llmc-cut-segments | FileCheck %s

// Two chunks: forward of both, then backward of the second. What crosses is
// what a segment yields, and a constant is cloned to each of its users.
dist.mesh @mesh = <"data"=1>
// CHECK-LABEL: func.func @f
func.func @f(%x: tensor<4xf32> {dist.input = "x", dist.role = "input"}) -> (tensor<4xf32> {dist.name = "y"}) {
  %two = stablehlo.constant {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} dense<2.0> : tensor<4xf32>
  // CHECK: %[[A:.*]] = dist.segment chunk(0) phase(forward) -> tensor<4xf32> {
  // CHECK: stablehlo.constant
  // CHECK: %[[T:.*]] = stablehlo.multiply
  // CHECK: dist.yield %[[T]] : tensor<4xf32>
  %0 = stablehlo.multiply %x, %two {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : tensor<4xf32>
  // CHECK: %[[B:.*]] = dist.segment chunk(1) phase(forward) -> tensor<4xf32> {
  // CHECK: stablehlo.tanh %[[A]]
  %1 = stablehlo.tanh %0 {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} : tensor<4xf32>
  // CHECK: %[[C:.*]] = dist.segment chunk(1) phase(backward_input) -> tensor<4xf32> {
  // CHECK: stablehlo.constant
  // CHECK: stablehlo.multiply %[[B]]
  %2 = stablehlo.multiply %1, %two {dist.block = 1 : i64, dist.phase = #dist.phase<backward_input>} : tensor<4xf32>
  // CHECK: return %[[C]]
  return %2 : tensor<4xf32>
}
dist.entry @forward function(@f) chunks([0, 1])

// -----

dist.mesh @mesh = <"data"=1>
func.func @f(%x: tensor<4xf32> {dist.input = "x", dist.role = "input"}) -> (tensor<4xf32> {dist.name = "y"}) {
  // expected-error@+1 {{expected marks 'dist.block' and 'dist.phase' before it is put into a segment}}
  %0 = stablehlo.tanh %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
dist.entry @forward function(@f) chunks([0])

// -----

dist.mesh @mesh = <"data"=1>
func.func @f(%x: tensor<4xf32> {dist.input = "x", dist.role = "input"}) -> (tensor<4xf32> {dist.name = "y"}) {
  // expected-error@+1 {{expected a block below 1, which have chunks, got 3}}
  %0 = stablehlo.tanh %x {dist.block = 3 : i64, dist.phase = #dist.phase<forward>} : tensor<4xf32>
  return %0 : tensor<4xf32>
}
dist.entry @forward function(@f) chunks([0])

// -----

dist.mesh @mesh = <"data"=1>
func.func @f(%x: tensor<4xf32> {dist.input = "x", dist.role = "input"}) -> (tensor<4xf32> {dist.name = "y"}) {
  // expected-error@+1 {{expected a phase of a microbatch, got update}}
  %0 = stablehlo.tanh %x {dist.block = 0 : i64, dist.phase = #dist.phase<update>} : tensor<4xf32>
  return %0 : tensor<4xf32>
}
dist.entry @forward function(@f) chunks([0])

// -----

// A value is used before its segment.
dist.mesh @mesh = <"data"=1>
func.func @f(%x: tensor<4xf32> {dist.input = "x", dist.role = "input"}) -> (tensor<4xf32> {dist.name = "y"}) {
  %0 = stablehlo.tanh %x {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} : tensor<4xf32>
  // expected-error@+1 {{in chunk 0 and phase forward uses a value of chunk 1 and phase forward}}
  %1 = stablehlo.tanh %0 {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : tensor<4xf32>
  return %1 : tensor<4xf32>
}
dist.entry @forward function(@f) chunks([0, 1])
