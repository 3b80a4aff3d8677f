// RUN: llmc-opt %s --split-input-file --llmc-form-kernels --canonicalize --cse | FileCheck %s

// Element-wise code is one flat loop: vectors of 16, then what is left over.
// CHECK-LABEL: module @kernels
// CHECK:         scf.for %[[I:.*]] = %{{.*}} to %{{.*}} step %c16
// CHECK:           vector.load %{{.*}}[%[[I]]]
// CHECK:           arith.addf {{.*}} : vector<16xf32>
// CHECK-NOT:       arith.remui
// CHECK:           vector.store
// CHECK:         scf.for
// CHECK:           arith.addf {{.*}} : f32
func.func @flat(%x: tensor<5x7xf32>, %y: tensor<5x7xf32>) -> tensor<5x7xf32> {
  %0 = stablehlo.add %x, %y : tensor<5x7xf32>
  return %0 : tensor<5x7xf32>
}

// -----

// A row reduction has 32 lanes and a fixed tree.
// CHECK-LABEL: module @kernels
// CHECK:         scf.for %{{.*}} step %c32 iter_args(%{{.*}}) -> (vector<32xf32>)
// CHECK:         vector.extract_strided_slice {{.*}} {offsets = [16], sizes = [16]
// CHECK:         vector.extract_strided_slice {{.*}} {offsets = [8], sizes = [8]
// CHECK:         vector.extract_strided_slice {{.*}} {offsets = [4], sizes = [4]
// CHECK:         vector.extract_strided_slice {{.*}} {offsets = [2], sizes = [2]
// CHECK:         vector.extract_strided_slice {{.*}} {offsets = [1], sizes = [1]
func.func @row(%x: tensor<20x64xf32>) -> tensor<20xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [1] : (tensor<20x64xf32>, tensor<f32>) -> tensor<20xf32>
  return %0 : tensor<20xf32>
}

// -----

// What a later level needs again of an exponential is kept in scratch.
// CHECK-LABEL: module @kernels
// CHECK:         memref<256xi8>
// CHECK-SAME:    llmc.scratch = 256
// CHECK:         memref.view
// CHECK:         math.exp
// CHECK-NOT:     math.exp {{.*}} vector
func.func @softmax(%x: tensor<20x64xf32>) -> tensor<20x64xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.exponential %x : tensor<20x64xf32>
  %1 = stablehlo.reduce(%0 init: %z) applies stablehlo.add across dimensions = [1] : (tensor<20x64xf32>, tensor<f32>) -> tensor<20xf32>
  %2 = stablehlo.broadcast_in_dim %1, dims = [0] : (tensor<20xf32>) -> tensor<20x64xf32>
  %3 = stablehlo.divide %0, %2 : tensor<20x64xf32>
  return %3 : tensor<20x64xf32>
}
