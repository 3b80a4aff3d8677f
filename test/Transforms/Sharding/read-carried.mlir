// A state that each microbatch replaces is read by the chunk that makes its next value, for all chunks.
// RUN: split-file %s %t
// RUN: llmc-opt %t/handed-on.mlir --llmc-read-carried | FileCheck %t/handed-on.mlir
// RUN: llmc-opt %t/at-home.mlir --llmc-read-carried | FileCheck %t/at-home.mlir
// RUN: not llmc-opt %t/before.mlir --llmc-read-carried 2>&1 | FileCheck %t/before.mlir

//--- handed-on.mlir
// The forward of chunk 1 and the backward of chunk 1 read what chunk 0 hands on; chunk 0 itself reads the state.
// CHECK: func.func private @train.microbatch(%[[N:.*]]: tensor<i32> {dist.port = #dist.port<carried @n>}
// CHECK: %[[HERE:.*]] = stablehlo.optimization_barrier {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} %[[N]] : tensor<i32>
// CHECK: stablehlo.add %[[N]], %[[N]]
// CHECK: stablehlo.convert %[[N]]
// CHECK: stablehlo.convert %[[HERE]]
// CHECK: stablehlo.convert %[[HERE]]
dist.mesh @mesh = <"pipe"=2> pipeline "pipe"
dist.state @n : tensor<i32> {role = carried, source = #dist.draw<zeros>}
func.func private @train.microbatch(%n: tensor<i32> {dist.port = #dist.port<carried @n>}, %x: tensor<f32> {dist.port = #dist.port<input "x">})
    -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}, tensor<i32> {dist.port = #dist.port<carried @n>}) {
  %next = stablehlo.add %n, %n {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : tensor<i32>
  %a = stablehlo.convert %n {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : (tensor<i32>) -> tensor<f32>
  %b = stablehlo.convert %n {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} : (tensor<i32>) -> tensor<f32>
  %c = stablehlo.convert %n {dist.block = 1 : i64, dist.phase = #dist.phase<backward_weight>} : (tensor<i32>) -> tensor<f32>
  %d = stablehlo.add %a, %b {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} : tensor<f32>
  return %d, %b, %next : tensor<f32>, tensor<f32>, tensor<i32>
}
func.func private @train.update() {
  return
}
dist.step @train microbatch(@train.microbatch) update(@train.update) microbatches(2) schedule(<1f1b>) chunks([0, 1])

//--- at-home.mlir
// CHECK-NOT: optimization_barrier
dist.mesh @mesh = <"pipe"=2> pipeline "pipe"
dist.state @n : tensor<i32> {role = carried, source = #dist.draw<zeros>}
func.func private @train.microbatch(%n: tensor<i32> {dist.port = #dist.port<carried @n>})
    -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}, tensor<i32> {dist.port = #dist.port<carried @n>}) {
  %next = stablehlo.add %n, %n {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} : tensor<i32>
  %a = stablehlo.convert %n {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} : (tensor<i32>) -> tensor<f32>
  return %a, %a, %next : tensor<f32>, tensor<f32>, tensor<i32>
}
func.func private @train.update() {
  return
}
dist.step @train microbatch(@train.microbatch) update(@train.update) microbatches(2) schedule(<1f1b>) chunks([0, 1])

//--- before.mlir
// CHECK: error: {{.*}}expected a carried state to be read in the chunk of the pipeline that makes its next value, or after it, got a read in chunk 0 of a state whose next value is made in chunk 1
dist.mesh @mesh = <"pipe"=2> pipeline "pipe"
dist.state @n : tensor<i32> {role = carried, source = #dist.draw<zeros>}
func.func private @train.microbatch(%n: tensor<i32> {dist.port = #dist.port<carried @n>})
    -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}, tensor<i32> {dist.port = #dist.port<carried @n>}) {
  %a = stablehlo.convert %n {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : (tensor<i32>) -> tensor<f32>
  %next = stablehlo.add %n, %n {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} : tensor<i32>
  return %a, %a, %next : tensor<f32>, tensor<f32>, tensor<i32>
}
func.func private @train.update() {
  return
}
dist.step @train microbatch(@train.microbatch) update(@train.update) microbatches(2) schedule(<1f1b>) chunks([0, 1])
