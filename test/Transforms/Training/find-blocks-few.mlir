// RUN: llmc-opt %s --llmc-find-blocks --remarks-filter=training --remark-format=emitRemark 2>&1 | FileCheck %s

// Fewer ops than stages cannot be cut: there is one block. What has no costs
// and no size, as a call that returns an index, is an op like any other.
// CHECK-DAG: remark: {{.*}}Remark="found ", Remark=0, Remark=" repeated blocks in @", Remark=f
// CHECK-DAG: remark: {{.*}}Remark="found ", Remark=0, Remark=" repeated blocks in @", Remark=h
// CHECK-NOT: remark
// CHECK: call @g(%arg0) {dist.block = 0 : i64}
dist.mesh @mesh = <"pipe"=2> pipeline "pipe"
func.func private @g(%x: tensor<4x4xf32>) -> (tensor<4x4xf32>, index) {
  %i = arith.constant 1 : index
  return %x, %i : tensor<4x4xf32>, index
}
func.func private @f(%x: tensor<4x4xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4x4xf32> {dist.port = #dist.port<output "y">}) {
  %a:2 = func.call @g(%x) : (tensor<4x4xf32>) -> (tensor<4x4xf32>, index)
  return %a#0 : tensor<4x4xf32>
}
func.func private @h(%x: tensor<4x4xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4x4xf32> {dist.port = #dist.port<output "y">}) {
  return %x : tensor<4x4xf32>
}
dist.entry @forward function(@f)
dist.entry @nothing function(@h)
