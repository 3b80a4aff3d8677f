// RUN: llmc-opt %s --split-input-file --verify-diagnostics --llmc-expand-reshards | FileCheck %s

// A reshard between equal layouts is nothing.
#whole = #dist.layout<@mesh, [{}]>
dist.mesh @mesh = <"data"=2>
// CHECK-LABEL: func.func @same
// CHECK-SAME: %[[X:.*]]: tensor<4xf32
func.func @same(%x: tensor<4xf32, #whole> {dist.input = "x", dist.role = "input"}) -> (tensor<4xf32, #whole> {dist.name = "y"}) {
  // CHECK-NEXT: return %[[X]]
  %0 = dist.reshard %x : tensor<4xf32, #whole> -> tensor<4xf32, #whole>
  return %0 : tensor<4xf32, #whole>
}
dist.entry @forward function(@same) chunks([0])

// -----

#whole = #dist.layout<@mesh, [{}]>
#split = #dist.layout<@mesh, [{"data"}]>
dist.mesh @mesh = <"data"=2>
func.func @other(%x: tensor<4xf32, #split> {dist.input = "x", dist.role = "input"}) -> (tensor<4xf32, #whole> {dist.name = "y"}) {
  // expected-error@+1 {{expected equal layouts, got}}
  %0 = dist.reshard %x : tensor<4xf32, #split> -> tensor<4xf32, #whole>
  return %0 : tensor<4xf32, #whole>
}
dist.entry @forward function(@other) chunks([0])
