// RUN: llmc-opt %s --llmc-form-kernels --llmc-verify-kernels | FileCheck %s
// RUN: llmc-opt %s --llmc-form-kernels --remarks-filter=kernels --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=WHY
// RUN: sed s/cuda:sm_90/cpu/ %s | llmc-opt - --llmc-form-kernels | FileCheck %s --check-prefix=CPU

// A row of a trip begins at a multiple of its bytes, of which 36 and 60 are no
// multiple of 16: kernels of GPUs read and write it through copies, whose
// launch expects no more than an element's place. Rows of 64 bytes, and single
// numbers, are read and written as they are.
module {
dist.execution seed(1) threads(1) target("cuda:sm_90")

// CHECK-LABEL: func.func @trip
// CHECK: %[[X:.*]] = dist.launch @kernels::@[[FROM:.*]](%arg0) {{.*}}(tensor<3x5xf32>) -> tensor<3x5xf32>
// CHECK: %[[A:.*]] = dist.launch @kernels::@{{.*}}(%[[X]])
// CHECK: %[[B:.*]] = dist.launch @kernels::@{{.*}}(%arg1)
// CHECK: %[[C:.*]] = dist.launch @kernels::@{{.*}}(%arg2)
// CHECK: %[[R:.*]] = dist.launch @kernels::@[[TO:.*]](%[[A]]) {{.*}}(tensor<3x3xf32>) -> tensor<3x3xf32>
// CHECK: return %[[R]], %[[B]], %[[C]]
// CHECK: dist.kernel @[[FROM]](read tensor<15xf32>, write tensor<15xf32>) for "cuda" rows(15) launch <rows = 32, threads = 32> by
// CHECK: dist.kernel @[[TO]](read tensor<9xf32>, write tensor<9xf32>) for "cuda" rows(9) launch <rows = 32, threads = 32> by
// WHY: remark: [Missed] copy | Category:kernels | Remark="copies 15 elements: rows of a loop begin at no multiple of 16 bytes"
// WHY: remark: [Missed] copy | Category:kernels | Remark="copies 9 elements: rows of a loop begin at no multiple of 16 bytes"
// CPU-LABEL: func.func @trip
// CPU-COUNT-3: dist.launch
// CPU-NOT: dist.launch
// CPU: return
func.func @trip(%x: tensor<3x5xf32> {dist.port = #dist.port<act "x", chunk = 0, trips = 7>}, %y: tensor<4x4xf32> {dist.port = #dist.port<act "y", chunk = 0, trips = 7>}, %s: tensor<f32> {dist.port = #dist.port<act "s", chunk = 0, trips = 7>}) -> (tensor<3x3xf32> {dist.port = #dist.port<act "a", chunk = 0, trips = 7>}, tensor<4x4xf32> {dist.port = #dist.port<act "b", chunk = 0, trips = 7>}, tensor<f32> {dist.port = #dist.port<act "c", chunk = 0, trips = 7>}) {
  %0 = stablehlo.slice %x [0:3, 0:3] : (tensor<3x5xf32>) -> tensor<3x3xf32>
  %1 = stablehlo.exponential %0 : tensor<3x3xf32>
  %2 = stablehlo.exponential %y : tensor<4x4xf32>
  %3 = stablehlo.exponential %s : tensor<f32>
  return %1, %2, %3 : tensor<3x3xf32>, tensor<4x4xf32>, tensor<f32>
}
}
