// RUN: llmc-opt %s --split-input-file --llmc-form-kernels --llmc-verify-kernels --canonicalize | FileCheck %s
// RUN: llmc-opt %s --split-input-file --llmc-form-kernels --remarks-filter=kernels --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// Rows of 64 x 96 and a weight of 96 are read once and written once; an update
// reads 4 x 20 and 2 x 20 elements and a position.
// REMARK: Remark="rows 64: 14 ops, 2 inputs, 1 outputs, 24960 bytes read, 24576 bytes written"
// REMARK: Remark="elements: 1 ops, 1 inputs, 1 outputs, 160 bytes read, 160 bytes written"
// REMARK: Remark="elements: 1 ops, 2 inputs, 1 outputs, 320 bytes read, 160 bytes written"
// REMARK: Remark="copies 80 elements: the operand that is updated in place is read later"
// REMARK: Remark="update: 1 ops, 3 inputs, 1 outputs, 484 bytes read, 320 bytes written"

// A layer norm is one kernel over rows.
// CHECK-LABEL: func @layer_norm
// CHECK:         %[[Y:.*]] = dist.launch @kernels::@[[K:k_[0-9a-f]+]](%{{.*}}, %{{.*}}) : (tensor<64x96xf32>, tensor<96xf32>) -> tensor<64x96xf32>
// CHECK-NEXT:    return %[[Y]]
// CHECK:       module @kernels
// CHECK:         dist.kernel @[[K]](read tensor<6144xf32>, read tensor<96xf32>, write tensor<6144xf32>) for "cpu" rows(64) by @[[K]]_cpu
// CHECK-NEXT:    func.func private @[[K]]_cpu(%{{.*}}: memref<6144xf32>, %{{.*}}: memref<96xf32>, %{{.*}}: memref<6144xf32>, %{{.*}}: index, %{{.*}}: index, %{{.*}}: memref<0xi8>) {
func.func @layer_norm(%x: tensor<64x96xf32>, %g: tensor<96xf32>) -> tensor<64x96xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %n = stablehlo.constant dense<96.0> : tensor<64x1xf32>
  %0 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [1] : (tensor<64x96xf32>, tensor<f32>) -> tensor<64xf32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<64xf32>) -> tensor<64x1xf32>
  %2 = stablehlo.divide %1, %n : tensor<64x1xf32>
  %3 = stablehlo.broadcast_in_dim %2, dims = [0, 1] : (tensor<64x1xf32>) -> tensor<64x96xf32>
  %4 = stablehlo.subtract %x, %3 : tensor<64x96xf32>
  %5 = stablehlo.multiply %4, %4 : tensor<64x96xf32>
  %6 = stablehlo.reduce(%5 init: %z) applies stablehlo.add across dimensions = [1] : (tensor<64x96xf32>, tensor<f32>) -> tensor<64xf32>
  %7 = stablehlo.rsqrt %6 : tensor<64xf32>
  %8 = stablehlo.broadcast_in_dim %7, dims = [0] : (tensor<64xf32>) -> tensor<64x96xf32>
  %9 = stablehlo.multiply %4, %8 : tensor<64x96xf32>
  %10 = stablehlo.broadcast_in_dim %g, dims = [1] : (tensor<96xf32>) -> tensor<64x96xf32>
  %11 = stablehlo.multiply %9, %10 : tensor<64x96xf32>
  return %11 : tensor<64x96xf32>
}

// -----

// The same computation twice is one kernel.
// CHECK-LABEL: func @twice
// CHECK:         dist.launch @kernels::@[[K:k_[0-9a-f]+]](
// CHECK:         dist.launch @kernels::@[[K]](
// CHECK:       dist.kernel @[[K]]
// CHECK-NEXT:  func.func private @[[K]]_cpu
// CHECK-NOT:   func.func private
func.func @twice(%x: tensor<40xf32>, %y: tensor<40xf32>) -> (tensor<40xf32>, tensor<40xf32>) {
  %0 = stablehlo.tanh %x : tensor<40xf32>
  %1 = stablehlo.tanh %y : tensor<40xf32>
  return %0, %1 : tensor<40xf32>, tensor<40xf32>
}

// -----

// A state is updated in its own buffer; an activation's is not.
// CHECK-LABEL: func @update
// CHECK:         dist.launch @kernels::@{{.*}}(%[[A:.*]], %{{.*}}) {tied = {{\[}}[0, 0]]}
// CHECK:         dist.launch @kernels::@{{.*}}(%{{.*}})
// CHECK-NOT:     tied
// CHECK:         return
func.func @update(%g: tensor<40xf32> {dist.port = #dist.port<act "g">}, %w: tensor<40xf32> {dist.port = #dist.port<buffer @w>})
    -> (tensor<40xf32> {dist.port = #dist.port<buffer @w>}, tensor<40xf32> {dist.port = #dist.port<act "h">}) {
  %0 = stablehlo.subtract %w, %g : tensor<40xf32>
  %1 = stablehlo.tanh %g : tensor<40xf32>
  return %0, %1 : tensor<40xf32>, tensor<40xf32>
}

// -----

// What a slot of a microbatch takes is made apart where its operand's buffer was
// read before, by the transpose: written over it, it would be copied from there.
// Else it may be written over it.
// CHECK-LABEL: func @kept
// CHECK:         %[[M:.*]] = dist.contract
// CHECK:         dist.launch @kernels::@{{.*}}(%[[M]])
// CHECK:         %[[N:.*]] = dist.contract
// CHECK:         dist.launch @kernels::@{{.*}}(%[[M]]) :
// CHECK:         dist.launch @kernels::@{{.*}}(%[[N]]) {tied = {{\[}}[0, 0]]}
func.func @kept(%x: tensor<8x8xf32> {dist.port = #dist.port<act "x">})
    -> (tensor<8x8xf32> {dist.port = #dist.port<act "h">}, tensor<8x8xf32> {dist.port = #dist.port<act "g">}) {
  %m = dist.contract %x, %x batch [] x [] contracting [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %t = stablehlo.transpose %m, dims = [1, 0] : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %n = dist.contract %x, %t batch [] x [] contracting [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %h = stablehlo.tanh %m : tensor<8x8xf32>
  %g = stablehlo.tanh %n : tensor<8x8xf32>
  return %h, %g : tensor<8x8xf32>, tensor<8x8xf32>
}

// -----

// A scatter into a value that is read later changes a copy.
// CHECK-LABEL: func @copied
// CHECK:         %[[C:.*]] = dist.launch @kernels::@{{.*}}(%[[X:.*]]) : (tensor<4x20xf32>) -> tensor<4x20xf32>
// CHECK:         dist.launch @kernels::@{{.*}}(%[[C]], {{.*}}tied = {{\[}}[0, 0]]
func.func @copied(%x: tensor<4x20xf32>, %u: tensor<2x20xf32>, %i: tensor<i32>) -> tensor<4x20xf32> {
  %0 = stablehlo.dynamic_update_slice %x, %u, %i, %i : (tensor<4x20xf32>, tensor<2x20xf32>, tensor<i32>, tensor<i32>) -> tensor<4x20xf32>
  return %0 : tensor<4x20xf32>
}

// -----

// A fence stays between what is before and after it, all its values included.
// CHECK-LABEL: func @fenced
// CHECK-SAME:    (%[[X:.*]]: tensor<40xf32>, %[[Y:.*]]: tensor<40xf32>, %[[D:.*]]: tensor<40xf32>)
// CHECK:         %[[F:.*]]:2 = dist.fence(%[[X]], %[[Y]]) after(%[[D]])
// CHECK:         dist.launch @kernels::@{{.*}}(%[[F]]#0, %[[F]]#1)
func.func @fenced(%x: tensor<40xf32>, %y: tensor<40xf32>, %d: tensor<40xf32>) -> tensor<40xf32> {
  %0:2 = dist.fence(%x, %y) after(%d) : tensor<40xf32>, tensor<40xf32> after tensor<40xf32>
  %1 = stablehlo.tanh %0#0 : tensor<40xf32>
  %2 = stablehlo.multiply %1, %0#1 : tensor<40xf32>
  return %2 : tensor<40xf32>
}

// -----

// A contraction and a later kernel read one value through the same alias: the
// alias stands before the contraction, the kernel reads the value itself.
// CHECK-LABEL: func @alias_read_by_two
// CHECK:         %[[T:.*]] = dist.launch @kernels::@{{.*}}(%{{.*}}) : (tensor<4x6xf32>) -> tensor<6x4xf32>
// CHECK-NEXT:    %[[R:.*]] = stablehlo.reshape %[[T]]
// CHECK-NEXT:    %[[D:.*]] = dist.contract %[[R]],
// CHECK-NEXT:    dist.launch @kernels::@{{.*}}(%[[T]], %[[D]])
func.func @alias_read_by_two(%x: tensor<4x6xf32>, %w: tensor<8x8xf32>) -> tensor<3x8xf32> {
  %t = stablehlo.transpose %x, dims = [1, 0] : (tensor<4x6xf32>) -> tensor<6x4xf32>
  %r = stablehlo.reshape %t : (tensor<6x4xf32>) -> tensor<3x8xf32>
  %d = dist.contract %r, %w batch [] x [] contracting [1] x [0] : (tensor<3x8xf32>, tensor<8x8xf32>) -> tensor<3x8xf32>
  %e = stablehlo.add %r, %d : tensor<3x8xf32>
  return %e : tensor<3x8xf32>
}

// -----

// Collectives that several programs name stay in their order, though the kernel
// of both element-wise ops waits for the second one alone.
dist.mesh @mesh = <"pipe"=2> pipeline "pipe"
// CHECK-LABEL: func @named
// CHECK:         dist.all_reduce @c0
// CHECK:         dist.all_reduce @c1
// CHECK:         dist.launch
func.func @named(%x: tensor<64xf32>, %y: tensor<64xf32>, %z: tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  %k = stablehlo.exponential %x : tensor<64xf32>
  %a = dist.all_reduce @c0 %y over ["pipe"] sum : tensor<64xf32>
  %b = dist.all_reduce @c1 %z over ["pipe"] sum : tensor<64xf32>
  %m = stablehlo.add %k, %b : tensor<64xf32>
  return %a, %m : tensor<64xf32>, tensor<64xf32>
}

// -----

// What an update changes is also read on the way to it: a copy is changed, the
// value is read.
// CHECK-LABEL: func.func @itself
// CHECK: %[[C:.*]] = dist.launch @kernels::@{{.*}}(%arg0) : (tensor<6xf64>) -> tensor<6xf64>
// CHECK: dist.launch @kernels::@{{.*}}(%[[C]], %arg0, %arg1) {tied = {{\[}}[0, 0]]}
func.func @itself(%x: tensor<6xf64>, %i: tensor<i32>) -> tensor<6xf64> {
  %u = stablehlo.dynamic_update_slice %x, %x, %i : (tensor<6xf64>, tensor<6xf64>, tensor<i32>) -> tensor<6xf64>
  return %u : tensor<6xf64>
}

// -----

// A constant that is changed is computed where it is read.
// CHECK-LABEL: func.func @constant
// CHECK: %[[Z:.*]] = dist.launch @kernels::@{{.*}}() : () -> tensor<6xf64>
// CHECK: dist.launch @kernels::@{{.*}}(%{{.*}}) {tied = {{\[}}[0, {{[0-9]}}]]}
func.func @constant(%x: tensor<6xf64>, %g: tensor<6xf64>) -> tensor<6xf64> {
  %z = stablehlo.constant dense<0.0> : tensor<6xf64>
  %i = stablehlo.constant dense<0> : tensor<i32>
  %c = stablehlo.compare GT, %x, %g : (tensor<6xf64>, tensor<6xf64>) -> tensor<6xi1>
  %s = stablehlo.select %c, %g, %z : tensor<6xi1>, tensor<6xf64>
  %u = stablehlo.dynamic_update_slice %z, %s, %i : (tensor<6xf64>, tensor<6xf64>, tensor<i32>) -> tensor<6xf64>
  return %u : tensor<6xf64>
}

// -----

// A row that is read through a view of the same dims is the same row: one
// kernel makes it, sums it and goes on with it.
// CHECK-LABEL: func @view_of_a_row
// CHECK:         dist.launch
// CHECK-NOT:     dist.launch
// CHECK:         return
func.func @view_of_a_row(%x: tensor<6x4xf32>, %y: tensor<6x1x4xf32>) -> (tensor<6xf32>, tensor<6x1x4xf32>) {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %t = stablehlo.tanh %x : tensor<6x4xf32>
  %s = stablehlo.reduce(%t init: %z) applies stablehlo.add across dimensions = [1] : (tensor<6x4xf32>, tensor<f32>) -> tensor<6xf32>
  %r = stablehlo.reshape %t : (tensor<6x4xf32>) -> tensor<6x1x4xf32>
  %e = stablehlo.add %r, %y : tensor<6x1x4xf32>
  %u = stablehlo.tanh %e : tensor<6x1x4xf32>
  return %s, %u : tensor<6xf32>, tensor<6x1x4xf32>
}

// -----

// Where the program has a table of kernels, new ones are added to it. A value
// that another launch made is not written over; a function without a body has
// no kernels.
// CHECK-LABEL: func.func private @elsewhere
// CHECK-LABEL: func.func @second
// CHECK:         %[[V:.*]] = dist.launch @kernels::@k_1(%arg0)
// CHECK-NEXT:    dist.launch @kernels::@[[K:k_[0-9a-f]+]](%[[V]]) :
// CHECK:       module @kernels
// CHECK-NEXT:    dist.kernel @k_1
// CHECK:         dist.kernel @[[K]]
func.func private @elsewhere(tensor<4xf32>) -> tensor<4xf32>
func.func @second(%x: tensor<40xf32>) -> tensor<40xf32> {
  %0 = dist.launch @kernels::@k_1(%x) : (tensor<40xf32>) -> tensor<40xf32>
  %1 = stablehlo.tanh %0 : tensor<40xf32>
  return %1 : tensor<40xf32>
}
module @kernels {
  dist.kernel @k_1(read tensor<40xf32>, write tensor<40xf32>) for "cpu" by @k_1_cpu
  func.func private @k_1_cpu(memref<40xf32>, memref<40xf32>, index, index, memref<0xi8>)
}

// -----

// A barrier of one value is read through; one of several stays, and what is
// around it is not one kernel.
// CHECK-LABEL: func.func @barriers
// CHECK-NEXT:    %[[L:.*]]:2 = dist.launch @kernels::@{{.*}}(%arg0) : (tensor<40xf32>) -> (tensor<40xf32>, tensor<40xf32>)
// CHECK-NEXT:    %[[B:.*]]:2 = stablehlo.optimization_barrier %[[L]]#0, %arg1
// CHECK-NEXT:    %[[P:.*]] = dist.launch @kernels::@{{.*}}(%[[B]]#0, %[[B]]#1)
// CHECK-NEXT:    return %[[L]]#1, %[[P]]
func.func @barriers(%x: tensor<40xf32>, %y: tensor<40xf32>) -> (tensor<40xf32>, tensor<40xf32>) {
  %0 = stablehlo.tanh %x : tensor<40xf32>
  %1 = stablehlo.optimization_barrier %0 : tensor<40xf32>
  %2 = stablehlo.multiply %1, %1 : tensor<40xf32>
  %3:2 = stablehlo.optimization_barrier %0, %y : tensor<40xf32>, tensor<40xf32>
  %4 = stablehlo.multiply %3#0, %3#1 : tensor<40xf32>
  return %2, %4 : tensor<40xf32>, tensor<40xf32>
}

// -----

// A reduction over no dims is one step for each element.
// CHECK-LABEL: func.func @no_dims
// CHECK:         dist.kernel @{{.*}}(read tensor<40xf32>, write tensor<40xf32>) for "cpu" rows(40)
// CHECK:         arith.addf {{.*}} : vector<16xf32>
// CHECK:         arith.addf {{.*}} : f32
// CHECK-NOT:     arith.addf
// CHECK:         return
func.func @no_dims(%x: tensor<40xf32>) -> tensor<40xf32> {
  %z = stablehlo.constant dense<1.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [] : (tensor<40xf32>, tensor<f32>) -> tensor<40xf32>
  return %0 : tensor<40xf32>
}

// -----

// The backward alone reads what the forward keeps in "x", and may write over it;
// "y" an update reads too.
// CHECK-LABEL: func @kept_for_one
// CHECK:         dist.launch @kernels::@{{.*}}(%arg0) {tied = {{\[}}[0, 0]]}
// CHECK:         dist.launch @kernels::@{{.*}}(%arg1) :
func.func @make(%a: tensor<8x8xf32> {dist.port = #dist.port<buffer @w>})
    -> (tensor<8x8xf32> {dist.port = #dist.port<act "x">}, tensor<8x8xf32> {dist.port = #dist.port<act "y">}) {
  %m = dist.contract %a, %a batch [] x [] contracting [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %n = dist.contract %m, %a batch [] x [] contracting [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %m, %n : tensor<8x8xf32>, tensor<8x8xf32>
}
func.func @kept_for_one(%x: tensor<8x8xf32> {dist.port = #dist.port<act "x">}, %y: tensor<8x8xf32> {dist.port = #dist.port<act "y">})
    -> (tensor<8x8xf32> {dist.port = #dist.port<gradient @w>}) {
  %0 = stablehlo.tanh %x : tensor<8x8xf32>
  %1 = stablehlo.tanh %y : tensor<8x8xf32>
  %m = dist.contract %0, %1 batch [] x [] contracting [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %m : tensor<8x8xf32>
}
func.func @reads_too(%y: tensor<8x8xf32> {dist.port = #dist.port<act "y">}) -> (tensor<8x8xf32> {dist.port = #dist.port<gradient @v>}) {
  %0 = stablehlo.sine %y : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
