// RUN: llmc-opt %s --split-input-file --llmc-form-kernels=target=cuda --canonicalize --cse | FileCheck %s

// Blocks of 64 positions are warps of one block of threads, whose first warp
// adds up what they leave in shared memory.
// CHECK-LABEL: func.func @tile
// CHECK:         dist.launch
// CHECK-NOT:     dist.launch
// CHECK:         dist.kernel {{.*}} rows(2) launch <threads = 64, shared = 256, align = 16>
// CHECK:         %[[WARP:.*]] = arith.divui %thread_id_x, %c32
// CHECK:         %[[FIRST:.*]] = arith.muli %[[WARP]], %c64
// CHECK:         scf.for %{{.*}} = %[[FIRST]] to
// CHECK:         memref.store {{.*}}[%thread_id_x] : memref<64xf32, #gpu.address_space<workgroup>>
// CHECK:         gpu.barrier
// CHECK-COUNT-2: memref.load {{.*}} : memref<64xf32, #gpu.address_space<workgroup>>
func.func @tile(%x: tensor<100x48xf32>) -> tensor<48xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [0] : (tensor<100x48xf32>, tensor<f32>) -> tensor<48xf32>
  return %0 : tensor<48xf32>
}

// -----

// More than 16 blocks are a launch of their own: 256 values of 768 columns, each
// by a thread. What is computed on the way is in the first one alone.
// CHECK-LABEL: func.func @blocks
// CHECK-NEXT:    %[[PARTS:.*]] = dist.launch {{.*}}(%arg0, %arg1) : {{.*}} -> tensor<196608xf32>
// CHECK-NEXT:    %[[SUM:.*]] = dist.launch {{.*}}(%[[PARTS]]) : (tensor<196608xf32>) -> tensor<768xf32>
// CHECK-NEXT:    return %[[SUM]]
// CHECK:         dist.kernel {{.*}}(read tensor<12582912xf32>, read tensor<12582912xf32>, write tensor<196608xf32>) for "cuda" rows(196608) launch <rows = 128, threads = 128
// CHECK:         arith.mulf
// CHECK:         dist.kernel {{.*}}(read tensor<196608xf32>, write tensor<768xf32>) for "cuda" rows(24) launch <threads = 128, shared = 512
// CHECK-NOT:     arith.mulf
func.func @blocks(%x: tensor<16384x768xf32>, %y: tensor<16384x768xf32>) -> tensor<768xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.multiply %x, %y : tensor<16384x768xf32>
  %1 = stablehlo.reduce(%0 init: %z) applies stablehlo.add across dimensions = [0] : (tensor<16384x768xf32>, tensor<f32>) -> tensor<768xf32>
  return %1 : tensor<768xf32>
}

// -----

// 64 blocks give 64 values, which are one block.
// CHECK-LABEL: func.func @two_blocks
// CHECK:         -> tensor<512xf32>
// CHECK:         -> tensor<8xf32>
// CHECK:         dist.kernel {{.*}} rows(512)
// CHECK:         dist.kernel {{.*}} rows(8) launch <rows = 32, threads = 32, align = 16>
func.func @two_blocks(%x: tensor<4096x8xf32>) -> tensor<8xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [0] : (tensor<4096x8xf32>, tensor<f32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// The gradient of an embedding: places are sorted in runs of 256, runs merged
// by 16, and each element of each update has a thread, of which the first of a
// target takes all.
// CHECK-LABEL: func.func @embedding
// CHECK:         %[[RUNS:.*]] = dist.launch {{.*}}(%arg2) : (tensor<6000x1xi32>) -> tensor<6000xi64>
// CHECK:         %[[FEW:.*]] = dist.launch {{.*}}(%[[RUNS]]) : (tensor<6000xi64>) -> tensor<6000xi64>
// CHECK:         %[[ALL:.*]] = dist.launch {{.*}}(%[[FEW]]) : (tensor<6000xi64>) -> tensor<6000xi64>
// CHECK:         dist.launch {{.*}}, %[[ALL]]) {tied = {{\[\[}}0, 0]]}
// CHECK:         rows(6000) launch <rows = 256, threads = 256, shared = 2048, align = 16>
// CHECK:           arith.shli %{{.*}}, %c13_i64
// CHECK:           gpu.barrier
// CHECK:         rows(6000)
// CHECK:         rows(6000)
// CHECK:         rows(288000) launch <rows = 128, threads = 128, align = 16>
// CHECK:           scf.while
// CHECK:           scf.for {{.*}} -> (f32)
// CHECK:             arith.addf
func.func @embedding(%x: tensor<500x48xf32>, %u: tensor<6000x48xf32>, %at: tensor<6000x1xi32>) -> tensor<500x48xf32> {
  %0 = "stablehlo.scatter"(%x, %at, %u) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<500x48xf32>, tensor<6000x1xi32>, tensor<6000x48xf32>) -> tensor<500x48xf32>
  return %0 : tensor<500x48xf32>
}

// -----

// Updates that go to elements of their own need no order.
// CHECK-LABEL: func.func @slice
// CHECK-COUNT-2: dist.launch
// CHECK-NOT:     dist.launch
// CHECK:         dist.kernel {{.*}} rows(15) launch <rows = 32, threads = 32
func.func @slice(%x: tensor<9x30xf32>, %u: tensor<5x3xf32>, %i: tensor<i32>) -> tensor<9x30xf32> {
  %0 = stablehlo.dynamic_update_slice %x, %u, %i, %i : (tensor<9x30xf32>, tensor<5x3xf32>, tensor<i32>, tensor<i32>) -> tensor<9x30xf32>
  return %0 : tensor<9x30xf32>
}
