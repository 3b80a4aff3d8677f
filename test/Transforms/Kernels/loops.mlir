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

// A reduction of a short row has 32 accumulators and a fixed tree.
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
// CHECK:         dist.kernel @{{.*}} scratch(256)
// CHECK-NEXT:    memref<256xi8>
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

// -----

// Rows of at least one vector are walked row by row, shorter ones flat with
// positions computed; exactly one vector has nothing left over.
// CHECK-LABEL: func.func @sixteen
// CHECK:         dist.kernel @{{.*}} rows(5) by
// CHECK-NOT:     arith.remui
// CHECK:         arith.addf {{.*}} : vector<16xf32>
// CHECK-NOT:     arith.addf
// CHECK:         return
func.func @sixteen(%x: tensor<5x16xf32>, %g: tensor<16xf32>) -> tensor<5x16xf32> {
  %0 = stablehlo.broadcast_in_dim %g, dims = [1] : (tensor<16xf32>) -> tensor<5x16xf32>
  %1 = stablehlo.add %0, %x : tensor<5x16xf32>
  return %1 : tensor<5x16xf32>
}

// -----

// CHECK-LABEL: func.func @seventeen
// CHECK:         dist.kernel @{{.*}} rows(5) by
// CHECK:         arith.addf {{.*}} : vector<16xf32>
// CHECK:         arith.addf {{.*}} : f32
func.func @seventeen(%x: tensor<5x17xf32>, %g: tensor<17xf32>) -> tensor<5x17xf32> {
  %0 = stablehlo.broadcast_in_dim %g, dims = [1] : (tensor<17xf32>) -> tensor<5x17xf32>
  %1 = stablehlo.add %0, %x : tensor<5x17xf32>
  return %1 : tensor<5x17xf32>
}

// -----

// CHECK-LABEL: func.func @fifteen
// CHECK:         dist.kernel @{{.*}} rows(75) by
// CHECK:         arith.remui
// CHECK:         arith.addf {{.*}} : vector<16xf32>
func.func @fifteen(%x: tensor<5x15xf32>, %g: tensor<15xf32>) -> tensor<5x15xf32> {
  %0 = stablehlo.broadcast_in_dim %g, dims = [1] : (tensor<15xf32>) -> tensor<5x15xf32>
  %1 = stablehlo.add %0, %x : tensor<5x15xf32>
  return %1 : tensor<5x15xf32>
}

// -----

// A long row has as many accumulators as 32 threads read at a time; an
// iteration goes through them in four runs.
// CHECK-LABEL: func.func @long
// CHECK:         %[[L:.*]]:4 = scf.for %[[J:.*]] = %c0 to %c512 step %c128 iter_args({{.*}}) -> (vector<32xf32>, vector<32xf32>, vector<32xf32>, vector<32xf32>)
// CHECK-COUNT-4:   arith.addf {{.*}} : vector<32xf32>
// CHECK-NOT:       arith.addf
// CHECK:           scf.yield
// CHECK:         vector.store %[[L]]#3, %[[ACC:.*]][%c96] : memref<128xf32>
// CHECK:         vector.extract_strided_slice {{.*}} {offsets = [64], sizes = [64]
// CHECK:         vector.extract_strided_slice {{.*}} {offsets = [1], sizes = [1]
func.func @long(%x: tensor<20x512xf32>) -> tensor<20xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [1] : (tensor<20x512xf32>, tensor<f32>) -> tensor<20xf32>
  return %0 : tensor<20xf32>
}

// -----

// Of 582 elements the loop takes 512, two runs more 64, and single ones the
// last six.
// CHECK-LABEL: func.func @rest
// CHECK:         %[[L:.*]]:4 = scf.for
// CHECK:         scf.yield
// CHECK:         %[[A:.*]] = arith.addf %[[L]]#0, {{.*}} : vector<32xf32>
// CHECK:         %[[B:.*]] = arith.addf %[[L]]#1, {{.*}} : vector<32xf32>
// CHECK:         vector.store %[[A]]
// CHECK:         vector.store %[[B]]
// CHECK:         vector.store %[[L]]#2
// CHECK:         vector.store %[[L]]#3
// CHECK:         scf.for %{{.*}} = %c576 to %c582 step %c1
func.func @rest(%x: tensor<2x582xf32>) -> tensor<2xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [1] : (tensor<2x582xf32>, tensor<f32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

// A loop that reduces runs in lanes when it has 32 elements, and then has no
// rest; 31 are added one by one.
// CHECK-LABEL: func.func @lanes
// CHECK:         %[[SUM:.*]] = arith.addf %{{.*}}, %{{.*}} : vector<32xf32>
// CHECK-NOT:     scf.for
// CHECK:         vector.extract_strided_slice {{.*}} {offsets = [16]
// CHECK:         return
func.func @lanes(%x: tensor<20x32xf32>) -> tensor<20xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [1] : (tensor<20x32xf32>, tensor<f32>) -> tensor<20xf32>
  return %0 : tensor<20xf32>
}

// -----

// CHECK-LABEL: func.func @few
// CHECK:       func.func private @k_
// CHECK:         scf.for
// CHECK-NOT:     arith.addf {{.*}} : vector<32xf32>
// CHECK:         scf.for %{{.*}} = %c0 to %c31 step %c1
// CHECK:         return
func.func @few(%x: tensor<20x31xf32>) -> tensor<20xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [1] : (tensor<20x31xf32>, tensor<f32>) -> tensor<20xf32>
  return %0 : tensor<20xf32>
}
