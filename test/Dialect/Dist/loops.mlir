// RUN: llmc-opt %s --verify-roundtrip | FileCheck %s
// RUN: llmc-opt %s --mlir-print-op-generic | llmc-opt | FileCheck %s

// A loop of four trips: a row of a stack, a value that is carried, one that is the same in each trip.
// CHECK-LABEL: func.func @forward
func.func @forward(%W: tensor<4x8x8xf32>, %b: tensor<8xf32>, %x0: tensor<2x8xf32>) -> (tensor<2x8xf32>, tensor<4x2x8xf32>, tensor<8xf32>) {
  // CHECK: %[[W:.*]] = dist.enter row %{{.*}} of <"l", trips = 4> : tensor<4x8x8xf32> -> tensor<8x8xf32>
  %w = dist.enter row %W of <"l", trips = 4> : tensor<4x8x8xf32> -> tensor<8x8xf32>
  // CHECK: dist.enter same %{{.*}} of <"l", trips = 4> : tensor<8xf32> -> tensor<8xf32>
  %c = dist.enter same %b of <"l", trips = 4> : tensor<8xf32> -> tensor<8xf32>
  // CHECK: %[[X:.*]] = dist.enter carry %{{.*}} of <"l", trips = 4> number(2) : tensor<2x8xf32> -> tensor<2x8xf32>
  %x = dist.enter carry %x0 of <"l", trips = 4> number(2) : tensor<2x8xf32> -> tensor<2x8xf32>
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<2x8xf32>, tensor<8x8xf32>) -> tensor<2x8xf32>
  // CHECK: %[[F:.*]] = dist.next %[[X]], %{{.*}} : tensor<2x8xf32>
  %f = dist.next %x, %y : tensor<2x8xf32>
  // CHECK: dist.leave last %[[F]] of <"l", trips = 4> : tensor<2x8xf32> -> tensor<2x8xf32>
  %last = dist.leave last %f of <"l", trips = 4> : tensor<2x8xf32> -> tensor<2x8xf32>
  // CHECK: dist.leave stack %{{.*}} of <"l", trips = 4> : tensor<2x8xf32> -> tensor<4x2x8xf32>
  %stack = dist.leave stack %y of <"l", trips = 4> : tensor<2x8xf32> -> tensor<4x2x8xf32>
  // CHECK: dist.leave sum %{{.*}} of <"l", trips = 4> : tensor<8xf32> -> tensor<8xf32>
  %sum = dist.leave sum %c of <"l", trips = 4> : tensor<8xf32> -> tensor<8xf32>
  return %last, %stack, %sum : tensor<2x8xf32>, tensor<4x2x8xf32>, tensor<8xf32>
}

// A loop that its condition ends: half of a number as long as it is greater than 1.
// CHECK-LABEL: func.func @conditional
func.func @conditional(%x: tensor<f32>, %one: tensor<f32>) -> tensor<f32> {
  %before = stablehlo.compare GT, %x, %one : (tensor<f32>, tensor<f32>) -> tensor<i1>
  // CHECK: dist.enter carry %{{.*}} of <"l", conditional = true> number(0) : tensor<i1> -> tensor<i1>
  %on = dist.enter carry %before of <"l", conditional = true> number(0) : tensor<i1> -> tensor<i1>
  %y = dist.enter carry %x of <"l", conditional = true> number(1) : tensor<f32> -> tensor<f32>
  %half = stablehlo.constant dense<0.5> : tensor<f32>
  %z = stablehlo.multiply %y, %half : tensor<f32>
  %again = stablehlo.compare GT, %z, %one : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %goes = dist.next %on, %again : tensor<i1>
  %f = dist.next %y, %z : tensor<f32>
  // CHECK: dist.leave last %{{.*}} of <"l", conditional = true> : tensor<f32> -> tensor<f32>
  %last = dist.leave last %f of <"l", conditional = true> : tensor<f32> -> tensor<f32>
  return %last : tensor<f32>
}

// The trips of a reversed loop run from the last to the first.
// CHECK-LABEL: func.func @reversed
func.func @reversed(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: dist.enter row %{{.*}} of <"l", trips = 4, reversed = true>
  %r = dist.enter row %x of <"l", trips = 4, reversed = true> : tensor<4xf32> -> tensor<f32>
  %y = dist.leave stack %r of <"l", trips = 4, reversed = true> : tensor<f32> -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// A loop in each trip of another one: what leaves it is of that one. Rows of a slot are those of both trips.
// CHECK-LABEL: func.func @nested
// CHECK-SAME: #dist.port<buffer @w, trips = [2, 3]>
// CHECK-SAME: #dist.port<carry "c", chunk = 0, trips = [0, 3]>
func.func @nested(%W: tensor<2x3xf32> {dist.port = #dist.port<buffer @w, trips = [2, 3]>},
                  %c: tensor<3xf32> {dist.port = #dist.port<carry "c", chunk = 0, trips = [0, 3]>}) -> tensor<2x3xf32> {
  // CHECK: dist.enter row %{{.*}} of <"l", trips = 2> : tensor<2x3xf32> -> tensor<3xf32>
  %r = dist.enter row %W of <"l", trips = 2> : tensor<2x3xf32> -> tensor<3xf32>
  // CHECK: dist.enter row %{{.*}} of <"m", trips = 3, in = <"l", trips = 2>> : tensor<3xf32> -> tensor<f32>
  %x = dist.enter row %r of <"m", trips = 3, in = <"l", trips = 2>> : tensor<3xf32> -> tensor<f32>
  %y = stablehlo.add %x, %x : tensor<f32>
  // CHECK: dist.leave stack %{{.*}} of <"m", trips = 3, in = <"l", trips = 2>> : tensor<f32> -> tensor<3xf32>
  %s = dist.leave stack %y of <"m", trips = 3, in = <"l", trips = 2>> : tensor<f32> -> tensor<3xf32>
  %all = dist.leave stack %s of <"l", trips = 2> : tensor<3xf32> -> tensor<2x3xf32>
  return %all : tensor<2x3xf32>
}

// In a trip of a reversed loop another one may run in both directions.
// CHECK-LABEL: func.func @again
func.func @again(%W: tensor<3xf32>, %a: tensor<2xf32>) -> tensor<2x3xf32> {
  %r = dist.enter row %a of <"l", trips = 2, reversed = true> : tensor<2xf32> -> tensor<f32>
  // CHECK: %[[C:.*]] = dist.enter carry %{{.*}} of <"m", trips = 3, in = <"l", trips = 2, reversed = true>> number(0)
  %c = dist.enter carry %r of <"m", trips = 3, in = <"l", trips = 2, reversed = true>> number(0) : tensor<f32> -> tensor<f32>
  %y = stablehlo.add %c, %c : tensor<f32>
  %n = dist.next %c, %y : tensor<f32>
  // CHECK: dist.enter same %[[C]] of <"m", trips = 3, reversed = true, in = <"l", trips = 2, reversed = true>>
  %d = dist.enter same %c of <"m", trips = 3, reversed = true, in = <"l", trips = 2, reversed = true>> : tensor<f32> -> tensor<f32>
  %s = dist.leave stack %d of <"m", trips = 3, reversed = true, in = <"l", trips = 2, reversed = true>> : tensor<f32> -> tensor<3xf32>
  %all = dist.leave stack %s of <"l", trips = 2, reversed = true> : tensor<3xf32> -> tensor<2x3xf32>
  return %all : tensor<2x3xf32>
}
