// RUN: split-file %s %t
// DEFINE: %{import} = llmc compile --compile-to=import -o - --set data.inputs.x=0
// RUN: %{import} %t/read.mlir | FileCheck %s --check-prefix=READ
// RUN: %{import} %t/write.mlir | FileCheck %s --check-prefix=WRITE
// RUN: %{import} %t/through.mlir | FileCheck %s --check-prefix=THROUGH
// RUN: %{import} %t/joins.mlir | FileCheck %s --check-prefix=JOINS
// RUN: %{import} %t/stay.mlir | FileCheck %s --check-prefix=STAY

// A box at constants is a slice, moved so that it fits; the whole is the value.
// Where a dimension is taken whole its start may be anything, and goes.
// READ: func.func public @{{.*}}(%[[X:.*]]: tensor<4x6xf32>
// READ-NEXT: stablehlo.slice %[[X]] [2:4, 0:3] : (tensor<4x6xf32>) -> tensor<2x3xf32>
// READ-NEXT: stablehlo.slice %[[X]] [1:2, 0:6] : (tensor<4x6xf32>) -> tensor<1x6xf32>
// READ-NEXT: stablehlo.slice %[[X]] [3:4, 0:6] : (tensor<4x6xf32>) -> tensor<1x6xf32>
// One place of a sequence is its number.
// READ-NEXT: stablehlo.constant dense<3> : tensor<i32>
// READ-NEXT: return %{{.*}}, %{{.*}}, %{{.*}}, %[[X]], %{{.*}}

// What stays before and behind, around what is written; along two dimensions
// the rows that change are cut once more. A column is no row of the reshape.
// WRITE: func.func public @{{.*}}(%[[X:.*]]: tensor<4x6xf32>
// WRITE-NEXT: %[[U:.*]] = stablehlo.slice %[[X]] [0:1, 0:6]
// WRITE-NEXT: %[[A:.*]] = stablehlo.slice %[[X]] [0:3, 0:6]
// WRITE-NEXT: stablehlo.concatenate %[[A]], %[[U]], dim = 0
// WRITE-NEXT: %[[C:.*]] = stablehlo.slice %[[X]] [1:4, 0:6]
// WRITE-NEXT: stablehlo.concatenate %[[U]], %[[C]], dim = 0
// WRITE-NEXT: %[[S:.*]] = stablehlo.slice %[[X]] [0:1, 2:4]
// WRITE-NEXT: %[[D:.*]] = stablehlo.slice %[[X]] [0:1, 0:6]
// WRITE-NEXT: %[[E:.*]] = stablehlo.slice %[[X]] [1:2, 0:3]
// WRITE-NEXT: %[[F:.*]] = stablehlo.slice %[[X]] [1:2, 5:6]
// WRITE-NEXT: %[[G:.*]] = stablehlo.concatenate %[[E]], %[[S]], %[[F]], dim = 1
// WRITE-NEXT: %[[H:.*]] = stablehlo.slice %[[X]] [2:4, 0:6]
// WRITE-NEXT: stablehlo.concatenate %[[D]], %[[G]], %[[H]], dim = 0
// WRITE-NEXT: %[[N:.*]] = stablehlo.negate %[[X]]
// WRITE-NEXT: return %{{.*}}, %{{.*}}, %{{.*}}, %[[N]]

// A slice of one operand of a concatenation is one of this operand; of a slice,
// one of its operand. A slice of two operands stays, but an update takes it
// apart; reshapes of reshapes are one.
// THROUGH: func.func public @{{.*}}(%[[X:.*]]: tensor<4x6xf32>
// THROUGH-NEXT: %[[N:.*]] = stablehlo.negate %[[X]]
// THROUGH-NEXT: %[[J:.*]] = stablehlo.concatenate %[[X]], %[[N]], dim = 0
// THROUGH-NEXT: stablehlo.slice %[[N]] [1:3, 2:6] : (tensor<4x6xf32>) -> tensor<2x4xf32>
// THROUGH-NEXT: stablehlo.slice %[[N]] [2:3, 4:5] : (tensor<4x6xf32>) -> tensor<1x1xf32>
// THROUGH-NEXT: stablehlo.slice %[[J]] [3:5, 0:6] : (tensor<8x6xf32>) -> tensor<2x6xf32>
// THROUGH-NEXT: %[[R:.*]] = stablehlo.tanh %[[X]]
// THROUGH-NEXT: %[[K:.*]] = stablehlo.slice %[[X]] [0:2, 0:6]
// THROUGH-NEXT: %[[L:.*]] = stablehlo.slice %[[N]] [2:4, 0:6]
// THROUGH-NEXT: stablehlo.concatenate %[[K]], %[[R]], %[[L]], dim = 0
// THROUGH-NEXT: stablehlo.reshape %[[X]] : (tensor<4x6xf32>) -> tensor<2x12xf32>
// THROUGH-NEXT: return %[[N]],

// Pieces without elements are left out, and one piece is the whole; a whole without elements stays.
// JOINS: func.func public @{{.*}}(%[[X:.*]]: tensor<4x6xf32>
// JOINS-NEXT: %[[N:.*]] = stablehlo.negate %[[X]]
// JOINS-NEXT: %[[NONE:.*]] = stablehlo.slice %[[X]] [2:2, 0:6]
// JOINS-NEXT: %[[A:.*]] = stablehlo.concatenate %[[X]], %[[N]], dim = 0
// JOINS-NEXT: %[[B:.*]] = stablehlo.concatenate %[[NONE]], %[[NONE]], dim = 0
// JOINS-NEXT: %[[C:.*]] = stablehlo.concatenate %[[NONE]], %[[NONE]], dim = 1
// JOINS-NEXT: return %[[N]], %[[A]], %[[B]], %[[C]]

// Starts that are not known, strides, annotations.
// STAY: stablehlo.dynamic_slice
// STAY: stablehlo.dynamic_update_slice
// STAY: stablehlo.slice %{{.*}} [0:4:2, 0:6]
// STAY-NEXT: stablehlo.slice %{{.*}} [0:1, 0:6]
// STAY: stablehlo.dynamic_slice

//--- read.mlir
func.func public @main(%x: tensor<4x6xf32> loc("x")) -> (tensor<2x3xf32>, tensor<1x6xf32>, tensor<1x6xf32>, tensor<4x6xf32>, tensor<i32>) {
  %big = stablehlo.constant dense<9> : tensor<i32>
  %less = stablehlo.constant dense<-5> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %huge = stablehlo.constant dense<18446744073709551615> : tensor<ui64>
  %f = stablehlo.slice %x [0:1, 0:1] : (tensor<4x6xf32>) -> tensor<1x1xf32>
  %g = stablehlo.reshape %f : (tensor<1x1xf32>) -> tensor<f32>
  %i = stablehlo.convert %g : (tensor<f32>) -> tensor<i32>
  %0 = stablehlo.dynamic_slice %x, %big, %less, sizes = [2, 3] : (tensor<4x6xf32>, tensor<i32>, tensor<i32>) -> tensor<2x3xf32>
  %1 = stablehlo.dynamic_slice %x, %one, %i, sizes = [1, 6] : (tensor<4x6xf32>, tensor<i32>, tensor<i32>) -> tensor<1x6xf32>
  %2 = stablehlo.dynamic_slice %x, %huge, %huge, sizes = [1, 6] : (tensor<4x6xf32>, tensor<ui64>, tensor<ui64>) -> tensor<1x6xf32>
  %3 = stablehlo.dynamic_slice %x, %big, %big, sizes = [4, 6] : (tensor<4x6xf32>, tensor<i32>, tensor<i32>) -> tensor<4x6xf32>
  %sequence = stablehlo.iota dim = 1 : tensor<2x8xi32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %4 = stablehlo.dynamic_slice %sequence, %one, %three, sizes = [1, 1] : (tensor<2x8xi32>, tensor<i32>, tensor<i32>) -> tensor<1x1xi32>
  %5 = stablehlo.reshape %4 : (tensor<1x1xi32>) -> tensor<i32>
  return %0, %1, %2, %3, %5 : tensor<2x3xf32>, tensor<1x6xf32>, tensor<1x6xf32>, tensor<4x6xf32>, tensor<i32>
}

//--- write.mlir
func.func public @main(%x: tensor<4x6xf32> loc("x")) -> (tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %big = stablehlo.constant dense<9> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %row = stablehlo.slice %x [0:1, 0:6] : (tensor<4x6xf32>) -> tensor<1x6xf32>
  %0 = stablehlo.dynamic_update_slice %x, %row, %big, %zero : (tensor<4x6xf32>, tensor<1x6xf32>, tensor<i32>, tensor<i32>) -> tensor<4x6xf32>
  %1 = stablehlo.dynamic_update_slice %x, %row, %zero, %zero : (tensor<4x6xf32>, tensor<1x6xf32>, tensor<i32>, tensor<i32>) -> tensor<4x6xf32>
  %box = stablehlo.slice %x [0:1, 2:4] : (tensor<4x6xf32>) -> tensor<1x2xf32>
  %2 = stablehlo.dynamic_update_slice %x, %box, %one, %three : (tensor<4x6xf32>, tensor<1x2xf32>, tensor<i32>, tensor<i32>) -> tensor<4x6xf32>
  %all = stablehlo.negate %x : tensor<4x6xf32>
  %3 = stablehlo.dynamic_update_slice %x, %all, %one, %one : (tensor<4x6xf32>, tensor<4x6xf32>, tensor<i32>, tensor<i32>) -> tensor<4x6xf32>
  return %0, %1, %2, %3 : tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>
}

//--- through.mlir
func.func public @main(%x: tensor<4x6xf32> loc("x")) -> (tensor<4x6xf32>, tensor<2x4xf32>, tensor<1x1xf32>, tensor<2x6xf32>, tensor<8x6xf32>, tensor<2x12xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %two = stablehlo.constant dense<2> : tensor<i32>
  %n = stablehlo.negate %x : tensor<4x6xf32>
  %j = stablehlo.concatenate %x, %n, dim = 0 : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  %0 = stablehlo.slice %j [4:8, 0:6] : (tensor<8x6xf32>) -> tensor<4x6xf32>
  %1 = stablehlo.slice %j [5:7, 2:6] : (tensor<8x6xf32>) -> tensor<2x4xf32>
  %2 = stablehlo.slice %1 [1:2, 2:3] : (tensor<2x4xf32>) -> tensor<1x1xf32>
  %3 = stablehlo.slice %j [3:5, 0:6] : (tensor<8x6xf32>) -> tensor<2x6xf32>
  %r = stablehlo.tanh %x : tensor<4x6xf32>
  %4 = stablehlo.dynamic_update_slice %j, %r, %two, %zero : (tensor<8x6xf32>, tensor<4x6xf32>, tensor<i32>, tensor<i32>) -> tensor<8x6xf32>
  %5 = stablehlo.reshape %x : (tensor<4x6xf32>) -> tensor<24xf32>
  %6 = stablehlo.reshape %5 : (tensor<24xf32>) -> tensor<2x12xf32>
  return %0, %1, %2, %3, %4, %6 : tensor<4x6xf32>, tensor<2x4xf32>, tensor<1x1xf32>, tensor<2x6xf32>, tensor<8x6xf32>, tensor<2x12xf32>
}

//--- joins.mlir
func.func public @main(%x: tensor<4x6xf32> loc("x")) -> (tensor<4x6xf32>, tensor<8x6xf32>, tensor<0x6xf32>, tensor<0x12xf32>) {
  %n = stablehlo.negate %x : tensor<4x6xf32>
  %none = stablehlo.slice %x [2:2, 0:6] : (tensor<4x6xf32>) -> tensor<0x6xf32>
  %0 = stablehlo.concatenate %none, %n, dim = 0 : (tensor<0x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  %1 = stablehlo.concatenate %x, %none, %n, dim = 0 : (tensor<4x6xf32>, tensor<0x6xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  %2 = stablehlo.concatenate %none, %none, dim = 0 : (tensor<0x6xf32>, tensor<0x6xf32>) -> tensor<0x6xf32>
  %3 = stablehlo.concatenate %none, %none, dim = 1 : (tensor<0x6xf32>, tensor<0x6xf32>) -> tensor<0x12xf32>
  return %0, %1, %2, %3 : tensor<4x6xf32>, tensor<8x6xf32>, tensor<0x6xf32>, tensor<0x12xf32>
}

//--- stay.mlir
func.func public @main(%x: tensor<4x6xf32> loc("x")) -> (tensor<1x6xf32>, tensor<4x6xf32>, tensor<1x6xf32>, tensor<1x6xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %f = stablehlo.slice %x [0:1, 0:1] : (tensor<4x6xf32>) -> tensor<1x1xf32>
  %g = stablehlo.reshape %f : (tensor<1x1xf32>) -> tensor<f32>
  %i = stablehlo.convert %g : (tensor<f32>) -> tensor<i32>
  %0 = stablehlo.dynamic_slice %x, %i, %zero, sizes = [1, 6] : (tensor<4x6xf32>, tensor<i32>, tensor<i32>) -> tensor<1x6xf32>
  %1 = stablehlo.dynamic_update_slice %x, %0, %i, %zero : (tensor<4x6xf32>, tensor<1x6xf32>, tensor<i32>, tensor<i32>) -> tensor<4x6xf32>
  %2 = stablehlo.slice %x [0:4:2, 0:6] : (tensor<4x6xf32>) -> tensor<2x6xf32>
  %3 = stablehlo.slice %2 [0:1, 0:6] : (tensor<2x6xf32>) -> tensor<1x6xf32>
  %4 = stablehlo.dynamic_slice %x, %zero, %zero, sizes = [1, 6] {llmc.note = "mine"} : (tensor<4x6xf32>, tensor<i32>, tensor<i32>) -> tensor<1x6xf32>
  return %0, %1, %3, %4 : tensor<1x6xf32>, tensor<4x6xf32>, tensor<1x6xf32>, tensor<1x6xf32>
}
