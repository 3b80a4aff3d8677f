// RUN: llmc-opt %s --split-input-file --llmc-form-kernels=target=cuda --canonicalize --cse | FileCheck %s

// Elements fall to threads by the four of an access; the last ones of a thread
// that has no whole access come one by one. Memory of 140 bytes may be a row of
// a loop and begin at any multiple of that.
// CHECK-LABEL: module @kernels
// CHECK:         dist.kernel {{.*}} for "cuda" rows(35) launch <rows = 128, threads = 32, align = 16>
// CHECK:         %[[B:.*]] = arith.muli %block_id_x, %c128
// CHECK:         %[[T:.*]] = arith.muli %thread_id_x, %c4
// CHECK:         scf.if
// CHECK:           vector.load {{.*}} {alignment = 4 : i64} : memref<35xf32>, vector<4xf32>
// CHECK:           arith.addf {{.*}} : vector<4xf32>
// CHECK:           vector.store {{.*}} {alignment = 4 : i64}
// CHECK:         } else {
// CHECK:           scf.for
// CHECK:             arith.addf {{.*}} : f32
func.func @flat(%x: tensor<5x7xf32>, %y: tensor<5x7xf32>) -> tensor<5x7xf32> {
  %0 = stablehlo.add %x, %y : tensor<5x7xf32>
  return %0 : tensor<5x7xf32>
}

// -----

// A short row is a warp's: thread t has accumulator t, and the tree is five
// shuffles and one that gives all the sum. One thread stores it.
// CHECK-LABEL: module @kernels
// CHECK:         dist.kernel {{.*}} rows(20) launch <threads = 32, align = 16>
// CHECK:         scf.for {{.*}} step %c32 iter_args(%{{.*}}) -> (f32)
// CHECK-COUNT-6: gpu.shuffle
// CHECK-NOT:     gpu.shuffle
// CHECK:         gpu.barrier
// CHECK:         scf.if
// CHECK-NEXT:      memref.store
func.func @row(%x: tensor<20x64xf32>) -> tensor<20xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [1] : (tensor<20x64xf32>, tensor<f32>) -> tensor<20xf32>
  return %0 : tensor<20xf32>
}

// -----

// In a row of 2 KiB or more a thread has the four accumulators of an access.
// CHECK-LABEL: module @kernels
// CHECK:         scf.for {{.*}} step %c128 iter_args(%{{.*}}) -> (vector<4xf32>)
// CHECK:           vector.load {{.*}} {alignment = 16 : i64}
func.func @long_row(%x: tensor<20x1024xf32>) -> tensor<20xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [1] : (tensor<20x1024xf32>, tensor<f32>) -> tensor<20xf32>
  return %0 : tensor<20xf32>
}

// -----

// Rows that do not begin at multiples of 16 bytes: the same accumulators, four
// runs of neighbouring threads.
// CHECK-LABEL: module @kernels
// CHECK:         scf.for {{.*}} step %c128 iter_args(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) -> (f32, f32, f32, f32)
// CHECK-NOT:     vector.load {{.*}} memref<20{{.*}}
func.func @odd_row(%x: tensor<20x1023xf32>) -> tensor<20xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [1] : (tensor<20x1023xf32>, tensor<f32>) -> tensor<20xf32>
  return %0 : tensor<20xf32>
}

// -----

// Four warps share a row of 2048 positions and its tree, in shared memory.
// CHECK-LABEL: module @kernels
// CHECK:         dist.kernel {{.*}} launch <threads = 128, shared = 512, align = 16>
// CHECK:         gpu.dynamic_shared_memory
// CHECK:         memref.store {{.*}} : memref<128xf32, #gpu.address_space<workgroup>>
// CHECK:         gpu.barrier
// CHECK-COUNT-4: memref.load {{.*}} : memref<128xf32, #gpu.address_space<workgroup>>
func.func @block_row(%x: tensor<20x2048xf32>) -> tensor<20xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [1] : (tensor<20x2048xf32>, tensor<f32>) -> tensor<20xf32>
  return %0 : tensor<20xf32>
}

// -----

// A column of up to 64 positions is a thread's, beside its neighbour's. Longer
// ones: gpu-stages.mlir.
// CHECK-LABEL: module @kernels
// CHECK:         dist.kernel {{.*}} rows(48) launch <rows = 32, threads = 32, align = 16>
// CHECK-NOT:     gpu.barrier
// CHECK:         %[[BLOCK:.*]] = arith.muli %block_id_x, %c32
// CHECK:         arith.addi %{{.*}}, %thread_id_x
// CHECK:         arith.cmpi ult, %{{.*}}, %arg3
// CHECK:         scf.for
// CHECK-NOT:     scf.for
func.func @columns(%x: tensor<60x48xf32>) -> tensor<48xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [0] : (tensor<60x48xf32>, tensor<f32>) -> tensor<48xf32>
  return %0 : tensor<48xf32>
}

// -----

// What a later loop reads again of an exponential lies in shared memory, after
// a barrier.
// CHECK-LABEL: module @kernels
// CHECK:         dist.kernel {{.*}} shared = 512
// CHECK:         math.exp
// CHECK:         memref.store {{.*}} : memref<128xf32, #gpu.address_space<workgroup>>
// CHECK:         gpu.barrier
// CHECK:         vector.load {{.*}} : memref<128xf32, #gpu.address_space<workgroup>>
func.func @kept(%x: tensor<8x128xf32>) -> tensor<8x128xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.exponential %x : tensor<8x128xf32>
  %1 = stablehlo.reduce(%0 init: %z) applies stablehlo.add across dimensions = [1] : (tensor<8x128xf32>, tensor<f32>) -> tensor<8xf32>
  %2 = stablehlo.broadcast_in_dim %1, dims = [0] : (tensor<8xf32>) -> tensor<8x128xf32>
  %3 = stablehlo.divide %0, %2 : tensor<8x128xf32>
  return %3 : tensor<8x128xf32>
}

// -----

// Where rows are many, four warps of a block have one each, with memory of their
// own.
// CHECK-LABEL: module @kernels
// CHECK:         rows(1024) launch <rows = 4, threads = 128, shared = 2048, align = 16>
// CHECK:         %[[ROW:.*]] = arith.divui %thread_id_x, %c32
// CHECK:         %[[SHIFT:.*]] = arith.muli %[[ROW]], %c512
// CHECK:         memref.view %{{.*}}[%[[SHIFT]]]
// CHECK:         %[[LANE:.*]] = arith.remui %thread_id_x, %c32
// CHECK:         gpu.barrier
// CHECK:         arith.cmpi eq, %[[LANE]], %c0
func.func @kept_by_warps(%x: tensor<1024x128xf32>) -> (tensor<1024x128xf32>, tensor<1024xf32>) {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.exponential %x : tensor<1024x128xf32>
  %1 = stablehlo.reduce(%0 init: %z) applies stablehlo.add across dimensions = [1] : (tensor<1024x128xf32>, tensor<f32>) -> tensor<1024xf32>
  %2 = stablehlo.broadcast_in_dim %1, dims = [0] : (tensor<1024xf32>) -> tensor<1024x128xf32>
  %3 = stablehlo.divide %0, %2 : tensor<1024x128xf32>
  return %3, %1 : tensor<1024x128xf32>, tensor<1024xf32>
}

// -----

// What is moved in parts that begin at multiples of an access is moved by such
// accesses: a thread's neighbours lie in one part, and it reads them there, and
// the first element of the other.
// CHECK-LABEL: module @kernels
// CHECK:         scf.if %{{.*}} -> (vector<4xf32>)
// CHECK:           vector.load {{.*}} {alignment = 16 : i64} : memref<2560xf32>
// CHECK:         scf.if %{{.*}} -> (vector<4xf32>)
// CHECK-NEXT:      vector.load {{.*}} {alignment = 16 : i64} : memref<1280xf32>
// CHECK:         } else {
// CHECK-NEXT:      memref.load
// CHECK-NEXT:      vector.broadcast
// CHECK:         vector.store {{.*}} {alignment = 16 : i64} : memref<3840xf32>
func.func @parts(%x: tensor<40x32xf32>, %y: tensor<40x64xf32>) -> tensor<40x96xf32> {
  %0 = stablehlo.concatenate %x, %y, dim = 1 : (tensor<40x32xf32>, tensor<40x64xf32>) -> tensor<40x96xf32>
  return %0 : tensor<40x96xf32>
}

// -----

// Of parts that begin at even elements, by two.
// CHECK-LABEL: module @kernels
// CHECK:         scf.if %{{.*}} -> (vector<2xf32>)
// CHECK:         vector.store {{.*}} {alignment = 8 : i64} : memref<3840xf32>
func.func @even_parts(%x: tensor<40x34xf32>, %y: tensor<40x62xf32>) -> tensor<40x96xf32> {
  %0 = stablehlo.concatenate %x, %y, dim = 1 : (tensor<40x34xf32>, tensor<40x62xf32>) -> tensor<40x96xf32>
  return %0 : tensor<40x96xf32>
}

// -----

// Of others, one by one.
// CHECK-LABEL: module @kernels
// CHECK-NOT:     vector
// CHECK:         return
func.func @odd_parts(%x: tensor<40x33xf32>, %y: tensor<40x63xf32>) -> tensor<40x96xf32> {
  %0 = stablehlo.concatenate %x, %y, dim = 1 : (tensor<40x33xf32>, tensor<40x63xf32>) -> tensor<40x96xf32>
  return %0 : tensor<40x96xf32>
}

// -----

// Rows of the memory begin at multiples of an access, and so does the slice.
// CHECK-LABEL: module @kernels
// CHECK:         vector.load {{.*}} {alignment = 16 : i64} : memref<3840xf32>
// CHECK:         vector.load {{.*}} {alignment = 16 : i64} : memref<3840xf32>
// CHECK:         vector.store {{.*}} {alignment = 16 : i64} : memref<1280xf32>
func.func @halves(%x: tensor<40x96xf32>) -> tensor<40x32xf32> {
  %0 = stablehlo.slice %x [0:40, 32:64] : (tensor<40x96xf32>) -> tensor<40x32xf32>
  %1 = stablehlo.slice %x [0:40, 64:96] : (tensor<40x96xf32>) -> tensor<40x32xf32>
  %2 = stablehlo.add %0, %1 : tensor<40x32xf32>
  return %2 : tensor<40x32xf32>
}

// -----

// Rows of 98 elements begin at even ones.
// CHECK-LABEL: module @kernels
// CHECK:         vector.load {{.*}} {alignment = 8 : i64} : memref<3920xf32>, vector<2xf32>
// CHECK-NOT:     vector<4xf32>
// CHECK:         return
func.func @slice_of_even_rows(%x: tensor<40x98xf32>) -> tensor<40x32xf32> {
  %0 = stablehlo.slice %x [0:40, 32:64] : (tensor<40x98xf32>) -> tensor<40x32xf32>
  return %0 : tensor<40x32xf32>
}

// -----

// A row of sums of what is moved has the accumulators of an access.
// CHECK-LABEL: module @kernels
// CHECK:         scf.for {{.*}} iter_args(%{{.*}}) -> (vector<4xf32>)
// CHECK:           scf.if %{{.*}} -> (vector<4xf32>)
func.func @sum_of_parts(%x: tensor<20x512xf32>, %y: tensor<20x512xf32>) -> tensor<20xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.concatenate %x, %y, dim = 1 : (tensor<20x512xf32>, tensor<20x512xf32>) -> tensor<20x1024xf32>
  %1 = stablehlo.reduce(%0 init: %z) applies stablehlo.add across dimensions = [1] : (tensor<20x1024xf32>, tensor<f32>) -> tensor<20xf32>
  return %1 : tensor<20xf32>
}
