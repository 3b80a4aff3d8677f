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

// -----

// An update of one element has no loop of its own.
// CHECK-LABEL: func.func @update_of_one
// CHECK:         dist.kernel @{{.*}}(readwrite tensor<8xf32>, read tensor<1xi32>, read tensor<1xf32>)
// CHECK:         scf.for
// CHECK-NOT:     scf.for
// CHECK:         scf.if
// CHECK-NEXT:      memref.load
// CHECK-NEXT:      memref.load
// CHECK-NEXT:      arith.addf
// CHECK-NEXT:      memref.store
// CHECK-NOT:     scf.for
// CHECK:         return
func.func @update_of_one(%x: tensor<8xf32>, %u: tensor<f32>, %i: tensor<1xi32>) -> tensor<8xf32> {
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 0>, indices_are_sorted = false, unique_indices = false}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<8xf32>, tensor<1xi32>, tensor<f32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// Updates that each go to a place of their own are made one by one.
// CHECK-LABEL: func.func @update_each
// CHECK:         dist.kernel @{{.*}}(readwrite tensor<80xf32>, read tensor<40xi32>, read tensor<40xf32>)
// CHECK-NOT:     vector.
// CHECK:         scf.for %{{.*}} = %c0 to %c40 step %c1
// CHECK-NOT:     vector.
// CHECK:         scf.if
// CHECK-NOT:     vector.
// CHECK:         return
func.func @update_each(%x: tensor<80xf32>, %u: tensor<40xf32>, %i: tensor<40x1xi32>) -> tensor<80xf32> {
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, indices_are_sorted = false, unique_indices = false}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<80xf32>, tensor<40x1xi32>, tensor<40xf32>) -> tensor<80xf32>
  return %0 : tensor<80xf32>
}

// -----

// So are those of a column, whose elements do not neighbour.
// CHECK-LABEL: func.func @update_column
// CHECK:         dist.kernel @{{.*}}(readwrite tensor<280xf32>
// CHECK-NOT:     vector.
// CHECK:         scf.for %[[U:.*]] = %c0 to %c3 step %c1
// CHECK-NEXT:      scf.for %[[I:.*]] = %c0 to %c40 step %c1
// CHECK-NOT:     vector.
// CHECK:           arith.muli %[[I]], %c7
// CHECK-NOT:     vector.
// CHECK:         return
func.func @update_column(%x: tensor<40x7xf32>, %u: tensor<3x40xf32>, %i: tensor<3x1xi32>) -> tensor<40x7xf32> {
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [1], scatter_dims_to_operand_dims = [1], index_vector_dim = 1>, indices_are_sorted = false, unique_indices = false}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<40x7xf32>, tensor<3x1xi32>, tensor<3x40xf32>) -> tensor<40x7xf32>
  return %0 : tensor<40x7xf32>
}

// -----

// A constant multiple of a position has known lanes, whichever side it is on.
// CHECK-LABEL: func.func @multiple
// CHECK:         %[[L:.*]] = arith.constant dense<[0, 3, 6, 9, 12, 15, 18, 21, 24, 27, 30, 33, 36, 39, 42, 45]> : vector<16xi32>
// CHECK:         arith.muli %{{.*}}, %c3_i32 : i32
// CHECK:         %[[B:.*]] = vector.broadcast
// CHECK-NEXT:    arith.addi %[[B]], %[[L]] : vector<16xi32>
func.func @multiple(%y: tensor<40xi32>) -> tensor<40xi32> {
  %i = stablehlo.iota dim = 0 : tensor<40xi32>
  %three = stablehlo.constant dense<3> : tensor<40xi32>
  %0 = stablehlo.multiply %three, %i : tensor<40xi32>
  %1 = stablehlo.multiply %y, %0 : tensor<40xi32>
  return %1 : tensor<40xi32>
}

// -----

// A square, or a multiple that is not known, has the lanes of a product.
// CHECK-LABEL: func.func @square
// CHECK:         %[[L:.*]] = arith.constant dense<[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]> : vector<16xi32>
// CHECK:         %[[I:.*]] = arith.addi %{{.*}}, %[[L]] : vector<16xi32>
// CHECK-NEXT:    arith.muli %[[I]], %[[I]] : vector<16xi32>
func.func @square(%y: tensor<40xi32>) -> tensor<40xi32> {
  %i = stablehlo.iota dim = 0 : tensor<40xi32>
  %0 = stablehlo.multiply %i, %i : tensor<40xi32>
  %1 = stablehlo.add %y, %0 : tensor<40xi32>
  return %1 : tensor<40xi32>
}

// -----

// CHECK-LABEL: func.func @unknown_multiple
// CHECK:         %[[L:.*]] = arith.constant dense<[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]> : vector<16xi32>
// CHECK:         %[[K:.*]] = memref.load
// CHECK:         %[[I:.*]] = arith.addi %{{.*}}, %[[L]] : vector<16xi32>
// CHECK-NEXT:    %[[B:.*]] = vector.broadcast %[[K]]
// CHECK-NEXT:    arith.muli %[[I]], %[[B]] : vector<16xi32>
func.func @unknown_multiple(%y: tensor<40xi32>, %k: tensor<i32>) -> tensor<40xi32> {
  %i = stablehlo.iota dim = 0 : tensor<40xi32>
  %b = stablehlo.broadcast_in_dim %k, dims = [] : (tensor<i32>) -> tensor<40xi32>
  %0 = stablehlo.multiply %i, %b : tensor<40xi32>
  %1 = stablehlo.add %y, %0 : tensor<40xi32>
  return %1 : tensor<40xi32>
}

// -----

// Reductions of one element type share a loop; those of another one have more
// or fewer accumulators and take a loop of their own.
// CHECK-LABEL: func.func @two_loops
// CHECK:         dist.launch
// CHECK-NOT:     dist.launch
// CHECK:         scf.for %{{.*}} = %c0 to %c2048 step %c128 iter_args({{.*}}) -> (vector<32xf32>, vector<32xf32>, vector<32xf32>, vector<32xf32>)
// CHECK:         memref.store %{{.*}}, %{{.*}} : memref<1xf32>
// CHECK:         scf.for %{{.*}} = %c0 to %c2048 step %c64 iter_args({{.*}}) -> (vector<32xf64>, vector<32xf64>, vector<32xf64>, vector<32xf64>)
// CHECK-NOT:     to %c2048
// CHECK:         memref.store %{{.*}}, %{{.*}} : memref<1xf64>
// CHECK-NOT:     to %c2048
// CHECK:         memref.store %{{.*}}, %{{.*}} : memref<1xf64>
func.func @two_loops(%x: tensor<2048xf32>) -> (tensor<f32>, tensor<f64>, tensor<f64>) {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %zz = stablehlo.constant dense<0.0> : tensor<f64>
  %0 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [0] : (tensor<2048xf32>, tensor<f32>) -> tensor<f32>
  %w = stablehlo.convert %x : (tensor<2048xf32>) -> tensor<2048xf64>
  %1 = stablehlo.reduce(%w init: %zz) applies stablehlo.add across dimensions = [0] : (tensor<2048xf64>, tensor<f64>) -> tensor<f64>
  %2 = stablehlo.reduce(%w init: %zz) applies stablehlo.maximum across dimensions = [0] : (tensor<2048xf64>, tensor<f64>) -> tensor<f64>
  return %0, %1, %2 : tensor<f32>, tensor<f64>, tensor<f64>
}

// -----

// What is combined in order has one accumulator and shares any loop, before
// or after another reduction.
// CHECK-LABEL: func.func @ordered_last
// CHECK:         dist.launch
// CHECK-NOT:     dist.launch
// CHECK:         scf.for %{{.*}} = %c0 to %c2048 step %c1
// CHECK:           memref.store %{{.*}} : memref<128xf32>
// CHECK:           memref.store %{{.*}} : memref<1xf32>
// CHECK-NEXT:      memref.store %{{.*}} : memref<1xf32>
// CHECK-NOT:     to %c2048
// CHECK:         return
func.func @ordered_last(%x: tensor<2048xf32>) -> (tensor<f32>, tensor<f32>, tensor<f32>) {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %n = stablehlo.negate %x : tensor<2048xf32>
  %0 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [0] : (tensor<2048xf32>, tensor<f32>) -> tensor<f32>
  %1:2 = stablehlo.reduce(%x init: %z), (%n init: %z) across dimensions = [0] : (tensor<2048xf32>, tensor<2048xf32>, tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
   reducer(%a: tensor<f32>, %c: tensor<f32>) (%b: tensor<f32>, %d: tensor<f32>) {
    %p = stablehlo.compare GE, %a, %c : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %q = stablehlo.select %p, %a, %c : tensor<i1>, tensor<f32>
    %r = stablehlo.select %p, %b, %d : tensor<i1>, tensor<f32>
    stablehlo.return %q, %r : tensor<f32>, tensor<f32>
  }
  return %0, %1#0, %1#1 : tensor<f32>, tensor<f32>, tensor<f32>
}

// -----

// CHECK-LABEL: func.func @ordered_first
// CHECK:         dist.launch
// CHECK-NOT:     dist.launch
// CHECK:         scf.for %{{.*}} = %c0 to %c2048 step %c1
// CHECK:           memref.store %{{.*}} : memref<1xf32>
// CHECK-NEXT:      memref.store %{{.*}} : memref<1xf32>
// CHECK:           memref.store %{{.*}} : memref<128xf32>
// CHECK-NOT:     to %c2048
// CHECK:         return
func.func @ordered_first(%x: tensor<2048xf32>) -> (tensor<f32>, tensor<f32>, tensor<f32>) {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %n = stablehlo.negate %x : tensor<2048xf32>
  %1:2 = stablehlo.reduce(%x init: %z), (%n init: %z) across dimensions = [0] : (tensor<2048xf32>, tensor<2048xf32>, tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
   reducer(%a: tensor<f32>, %c: tensor<f32>) (%b: tensor<f32>, %d: tensor<f32>) {
    %p = stablehlo.compare GE, %a, %c : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %q = stablehlo.select %p, %a, %c : tensor<i1>, tensor<f32>
    %r = stablehlo.select %p, %b, %d : tensor<i1>, tensor<f32>
    stablehlo.return %q, %r : tensor<f32>, tensor<f32>
  }
  %0 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [0] : (tensor<2048xf32>, tensor<f32>) -> tensor<f32>
  return %0, %1#0, %1#1 : tensor<f32>, tensor<f32>, tensor<f32>
}

// -----

// Few columns make rows of 32, for several threads to work on; many rows of 128.
// CHECK-LABEL: func.func @few_columns
// CHECK:         dist.kernel @{{.*}}(read tensor<2560xf32>, write tensor<64xf32>) for "cpu" rows(2) by
// CHECK:         dist.kernel @{{.*}}(read tensor<20000xf32>, write tensor<500xf32>) for "cpu" rows(4) by
// CHECK:         dist.kernel @{{.*}}(read tensor<10240xf32>, write tensor<256xf32>) for "cpu" rows(4) by
func.func @few_columns(%x: tensor<40x64xf32>, %y: tensor<40x500xf32>, %w: tensor<4x40x64xf32>) -> (tensor<64xf32>, tensor<500xf32>, tensor<4x64xf32>) {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [0] : (tensor<40x64xf32>, tensor<f32>) -> tensor<64xf32>
  %1 = stablehlo.reduce(%y init: %z) applies stablehlo.add across dimensions = [0] : (tensor<40x500xf32>, tensor<f32>) -> tensor<500xf32>
  %2 = stablehlo.reduce(%w init: %z) applies stablehlo.add across dimensions = [1] : (tensor<4x40x64xf32>, tensor<f32>) -> tensor<4x64xf32>
  return %0, %1, %2 : tensor<64xf32>, tensor<500xf32>, tensor<4x64xf32>
}

// -----

// Down columns, what is combined in order goes on in one line from block to
// block: it starts once, and no two lines are combined.
// CHECK-LABEL: func.func @ordered_columns
// CHECK:         scf.for
// CHECK:           vector.store %{{.*}}, %[[BEST:.*]][%c0] : memref<20xf32>, vector<16xf32>
// CHECK:           vector.store %{{.*}}, %[[AT:.*]][%c0] : memref<20xi32>, vector<16xi32>
// CHECK:           scf.for %[[I:.*]] = %c0 to %c130 step %c64
// CHECK-NEXT:        %[[E:.*]] = arith.addi %[[I]], %c64
// CHECK-NEXT:        %[[H:.*]] = arith.minui %[[E]], %c130
// CHECK-NEXT:        scf.for %{{.*}} = %[[I]] to %[[H]] step %c1
// CHECK:               arith.cmpf oge, {{.*}} : vector<16xf32>
// CHECK:               vector.store %{{.*}}, %[[BEST]][%c0]
// CHECK-NEXT:          vector.store %{{.*}}, %[[AT]][%c0]
// CHECK:               arith.cmpf oge, {{.*}} : f32
// CHECK-NOT:     arith.cmpf
// CHECK-NOT:     vector.store {{.*}}, %[[BEST]]
// CHECK:         return
func.func @ordered_columns(%x: tensor<130x20xf32>, %i: tensor<130x20xi32>) -> (tensor<20xf32>, tensor<20xi32>) {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %n = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.reduce(%x init: %z), (%i init: %n) across dimensions = [0] : (tensor<130x20xf32>, tensor<130x20xi32>, tensor<f32>, tensor<i32>) -> (tensor<20xf32>, tensor<20xi32>)
   reducer(%a: tensor<f32>, %c: tensor<f32>) (%b: tensor<i32>, %d: tensor<i32>) {
    %p = stablehlo.compare GE, %a, %c : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %q = stablehlo.select %p, %a, %c : tensor<i1>, tensor<f32>
    %r = stablehlo.select %p, %b, %d : tensor<i1>, tensor<i32>
    stablehlo.return %q, %r : tensor<f32>, tensor<i32>
  }
  return %0#0, %0#1 : tensor<20xf32>, tensor<20xi32>
}

// -----

// What another op takes that is no tensor is in no kernel.
// CHECK-LABEL: func.func @no_tensor
// CHECK-NEXT:    %[[L:.*]] = dist.launch @kernels::@{{.*}}(%arg0) : (tensor<40xf32>) -> tensor<40xf32>
// CHECK-NEXT:    %[[M:.*]] = dist.launch @kernels::@k_1(%[[L]], %arg1) : (tensor<40xf32>, i32) -> tensor<40xf32>
// CHECK-NEXT:    return %[[M]]
func.func @no_tensor(%x: tensor<40xf32>, %i: i32) -> tensor<40xf32> {
  %0 = stablehlo.tanh %x : tensor<40xf32>
  %1 = dist.launch @kernels::@k_1(%0, %i) : (tensor<40xf32>, i32) -> tensor<40xf32>
  return %1 : tensor<40xf32>
}

// -----

// A kept row that is read in another order of its dims is read at the places
// of its own: element [p, q] is q 16 + p.
// CHECK-LABEL: func.func @scratch_transposed
// CHECK:         dist.launch {{.*}} {scratch = 512 : i64}
// CHECK-NOT:     dist.launch
// CHECK:         %[[ROW:.*]] = memref.view
// CHECK:         %[[E:.*]] = math.exp {{.*}} : vector<32xf32>
// CHECK:         vector.store %[[E]], %[[ROW]][%{{.*}}]
// CHECK-NOT:     math.exp
// CHECK:         scf.for %{{.*}} = %c0 to %c128 step %c16
// CHECK:           %[[Q:.*]] = arith.remui %[[AT:.*]], %[[EIGHT:.*]] : vector<16xindex>
// CHECK-NEXT:      %[[P:.*]] = arith.divui %[[AT]], %[[EIGHT]] : vector<16xindex>
// CHECK-NEXT:      %[[Q16:.*]] = arith.muli %[[Q]], %{{.*}} : vector<16xindex>
// CHECK-NEXT:      %[[I:.*]] = arith.addi %[[Q16]], %[[P]] : vector<16xindex>
// CHECK-NEXT:      vector.gather %[[ROW]][%c0] [%[[I]]]
// CHECK-NOT:     math.exp
// CHECK:         return
func.func @scratch_transposed(%x: tensor<20x8x16xf32>) -> tensor<20x16x8xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.exponential %x : tensor<20x8x16xf32>
  %1 = stablehlo.reduce(%0 init: %z) applies stablehlo.add across dimensions = [1, 2] : (tensor<20x8x16xf32>, tensor<f32>) -> tensor<20xf32>
  %2 = stablehlo.broadcast_in_dim %1, dims = [0] : (tensor<20xf32>) -> tensor<20x16x8xf32>
  %r = stablehlo.transpose %0, dims = [0, 2, 1] : (tensor<20x8x16xf32>) -> tensor<20x16x8xf32>
  %3 = stablehlo.divide %r, %2 : tensor<20x16x8xf32>
  return %3 : tensor<20x16x8xf32>
}

// -----

// Quotients and remainders by multiples of a vector are those of its first
// element: what is reshaped and moved is still loaded at once.
// CHECK-LABEL: func.func @moved
// CHECK-NOT:     vector.gather
// CHECK:         vector.load {{.*}} vector<16xf32>
// CHECK-NOT:     vector.gather
func.func @moved(%x: tensor<8x6x5x64xf32>) -> tensor<40x384xf32> {
  %0 = stablehlo.transpose %x, dims = [0, 2, 1, 3] : (tensor<8x6x5x64xf32>) -> tensor<8x5x6x64xf32>
  %1 = stablehlo.reshape %0 : (tensor<8x5x6x64xf32>) -> tensor<40x384xf32>
  return %1 : tensor<40x384xf32>
}

// -----

// Where parts begin at such multiples, a vector lies in one of them: it is
// loaded, or the first element of another part is read.
// CHECK-LABEL: func.func @parts
// CHECK-NOT:     vector.gather
// CHECK:         scf.if %{{.*}} -> (vector<16xf32>)
// CHECK-NEXT:      vector.load
// CHECK:         } else {
// CHECK-NEXT:      memref.load
// CHECK-NEXT:      vector.broadcast
// CHECK-NOT:     vector.gather
func.func @parts(%x: tensor<40x32xf32>, %y: tensor<40x64xf32>) -> tensor<40x96xf32> {
  %0 = stablehlo.concatenate %x, %y, dim = 1 : (tensor<40x32xf32>, tensor<40x64xf32>) -> tensor<40x96xf32>
  return %0 : tensor<40x96xf32>
}

// -----

// A part that begins within a vector is gathered.
// CHECK-LABEL: func.func @odd_parts
// CHECK-NOT:     scf.if
// CHECK:         vector.gather
func.func @odd_parts(%x: tensor<40x33xf32>, %y: tensor<40x63xf32>) -> tensor<40x96xf32> {
  %0 = stablehlo.concatenate %x, %y, dim = 1 : (tensor<40x33xf32>, tensor<40x63xf32>) -> tensor<40x96xf32>
  return %0 : tensor<40x96xf32>
}

// -----

// So are comparisons with what is known to be such a multiple, also where it is
// computed in front of the loop.
// CHECK-LABEL: func.func @lengths
// CHECK:         %[[L:.*]] = arith.muli %{{.*}}, %c16_i32 : i32
// CHECK:         scf.for
// CHECK:           arith.cmpi slt, %{{.*}}, %[[L]] : i32
// CHECK:           vector.store
func.func @lengths(%x: tensor<20x64xf32>, %n: tensor<20x64xi32>) -> (tensor<20x64xf32>, tensor<20xi32>) {
  %c = stablehlo.constant dense<16> : tensor<20xi32>
  %none = stablehlo.constant dense<0> : tensor<i32>
  %z = stablehlo.constant dense<0.0> : tensor<20x64xf32>
  %0 = stablehlo.reduce(%n init: %none) applies stablehlo.add across dimensions = [1] : (tensor<20x64xi32>, tensor<i32>) -> tensor<20xi32>
  %1 = stablehlo.multiply %0, %c : tensor<20xi32>
  %2 = stablehlo.broadcast_in_dim %1, dims = [0] : (tensor<20xi32>) -> tensor<20x64xi32>
  %i = stablehlo.iota dim = 1 : tensor<20x64xi32>
  %m = stablehlo.compare LT, %i, %2, SIGNED : (tensor<20x64xi32>, tensor<20x64xi32>) -> tensor<20x64xi1>
  %s = stablehlo.select %m, %x, %z : tensor<20x64xi1>, tensor<20x64xf32>
  return %s, %1 : tensor<20x64xf32>, tensor<20xi32>
}
