// RUN: llmc-opt %s --split-input-file --llmc-widen-sums --remarks-filter=kernels --remark-format=emitRemark 2>%t.txt | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t.txt

// REMARK: sends f32, 16 bytes more of results, since collectives of the target round each addition of narrower floats
// REMARK-NOT: sends f32

module {
dist.execution seed(1) threads(1) target("cuda:sm_90")
dist.mesh @m = <"data"=2>
// A sum of bf16 is one of f32, a maximum and a sum of f32 stay.
// CHECK-LABEL: func.func @sums
// CHECK-SAME: %[[X:.*]]: tensor<8xbf16>, %[[Y:.*]]: tensor<8xf32>
// CHECK: %[[W:.*]] = stablehlo.convert %[[X]] : (tensor<8xbf16>) -> tensor<8xf32>
// CHECK: %[[S:.*]] = dist.all_reduce %[[W]] over ["data"] on @m sum : tensor<8xf32>
// CHECK: %[[N:.*]] = stablehlo.convert %[[S]] : (tensor<8xf32>) -> tensor<8xbf16>
// CHECK: %[[M:.*]] = dist.all_reduce %[[X]] over ["data"] on @m max : tensor<8xbf16>
// CHECK: %[[Z:.*]] = dist.all_reduce %[[Y]] over ["data"] on @m sum : tensor<8xf32>
// CHECK: return %[[N]], %[[M]], %[[Z]]
func.func @sums(%x: tensor<8xbf16>, %y: tensor<8xf32>) -> (tensor<8xbf16>, tensor<8xbf16>, tensor<8xf32>) {
  %0 = dist.all_reduce %x over ["data"] on @m sum : tensor<8xbf16>
  %1 = dist.all_reduce %x over ["data"] on @m max : tensor<8xbf16>
  %2 = dist.all_reduce %y over ["data"] on @m sum : tensor<8xf32>
  return %0, %1, %2 : tensor<8xbf16>, tensor<8xbf16>, tensor<8xf32>
}
}

// -----

// Processors add up in f32 whatever is sent.
module {
dist.mesh @m = <"data"=2>
// CHECK-LABEL: func.func @of_processors
// CHECK-NEXT: dist.all_reduce %{{.*}} over ["data"] on @m sum : tensor<8xbf16>
func.func @of_processors(%x: tensor<8xbf16>) -> tensor<8xbf16> {
  %0 = dist.all_reduce %x over ["data"] on @m sum : tensor<8xbf16>
  return %0 : tensor<8xbf16>
}
}
