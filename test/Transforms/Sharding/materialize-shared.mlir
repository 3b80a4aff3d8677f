// RUN: llmc-opt %s --split-input-file --llmc-materialize | FileCheck %s

// Two values are made of one, and both wanted whole: it is gathered, once, though
// one of them alone sends less.
#columns = #dist.layout<@mesh, [{}, {"x"}]>
#whole = #dist.layout<@mesh, [{}, {}]>
dist.mesh @mesh = <"x"=2>
// CHECK-LABEL: func.func @positions
// CHECK-SAME: %[[P:[^:]*]]: tensor<7x16xf32,
func.func @positions(%p: tensor<7x16xf32> {dist.port = #dist.port<input "p", layout = #columns>}) -> (tensor<7x16xf32> {dist.port = #dist.port<output "y", layout = #whole>}, tensor<5x16xf32> {dist.port = #dist.port<output "z", layout = #whole>}) {
  // CHECK: %[[W:.*]] = dist.reshard %[[P]]
  // CHECK-NOT: dist.reshard
  // CHECK: stablehlo.negate %[[W]]
  %n = stablehlo.negate %p {dist.layouts = [#columns]} : tensor<7x16xf32>
  // CHECK: stablehlo.slice %[[W]]
  %s = stablehlo.slice %p [0:5, 0:16] {dist.layouts = [#columns]} : (tensor<7x16xf32>) -> tensor<5x16xf32>
  // CHECK-NOT: dist.reshard
  %y = stablehlo.tanh %n {dist.layouts = [#whole]} : tensor<7x16xf32>
  %z = stablehlo.tanh %s {dist.layouts = [#whole]} : tensor<5x16xf32>
  return %y, %z : tensor<7x16xf32>, tensor<5x16xf32>
}
dist.entry @forward function(@positions) chunks([0])

// -----

// What is computed twice, of one value, is gathered before it.
#rows = #dist.layout<@mesh, [{"x"}]>
#list = #dist.layout<@mesh, [{}]>
dist.mesh @mesh = <"x"=2>
// CHECK-LABEL: func.func @variance
func.func @variance(%a: tensor<24xf32> {dist.port = #dist.port<input "a", layout = #rows>}) -> (tensor<24xf32> {dist.port = #dist.port<output "y", layout = #list>}, tensor<24xf32> {dist.port = #dist.port<output "z", layout = #list>}) {
  // CHECK: %[[V:.*]] = stablehlo.exponential
  // CHECK-NEXT: %[[W:.*]] = dist.reshard %[[V]]
  // CHECK-NOT: dist.reshard
  %v = stablehlo.exponential %a {dist.layouts = [#rows]} : tensor<24xf32>
  %r = stablehlo.rsqrt %v {dist.layouts = [#rows]} : tensor<24xf32>
  %q = stablehlo.rsqrt %v {dist.layouts = [#rows]} : tensor<24xf32>
  %y = stablehlo.tanh %r {dist.layouts = [#list]} : tensor<24xf32>
  %z = stablehlo.sine %q {dist.layouts = [#list]} : tensor<24xf32>
  return %y, %z : tensor<24xf32>, tensor<24xf32>
}
dist.entry @forward function(@variance) chunks([0])

// -----

// An argument is read whole, and split by another axis: that is a part of what
// is gathered, not gathered again.
#rest = #dist.layout<@mesh, [{"d"}, {}]>
#part = #dist.layout<@mesh, [{"t"}, {}]>
#whole = #dist.layout<@mesh, [{}, {}]>
dist.mesh @mesh = <"d"=2, "t"=2>
// CHECK-LABEL: func.func @head
// CHECK-SAME: %[[H:[^:]*]]: tensor<16x4xf32,
func.func @head(%h: tensor<16x4xf32> {dist.port = #dist.port<input "h", layout = #rest>}) -> (tensor<16x4xf32> {dist.port = #dist.port<output "y", layout = #part>}, tensor<16x4xf32> {dist.port = #dist.port<output "z", layout = #whole>}) {
  // CHECK: %[[W:.*]] = dist.reshard %[[H]]
  // CHECK: dist.reshard %[[W]]
  // CHECK-NOT: dist.reshard
  %y = stablehlo.dot_general %h, %h, batching_dims = [0, 1] x [0, 1], contracting_dims = [] x [] {dist.layouts = [#part]} : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
  %z = stablehlo.dot_general %h, %h, batching_dims = [0, 1] x [0, 1], contracting_dims = [] x [] {dist.layouts = [#whole]} : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
  return %y, %z : tensor<16x4xf32>, tensor<16x4xf32>
}
dist.entry @forward function(@head) chunks([0])

// -----

// A chunk wants a sum of an earlier one both whole and as terms, at a stage that
// runs a chunk before both: the terms are made where they are read, after the move.
#at1 = #dist.layout<@mesh, [{}], at = {"pipe" = [1]}>
#terms1 = #dist.layout<@mesh, [{}], partial = [sum{"t"}], at = {"pipe" = [1]}>
#at0 = #dist.layout<@mesh, [{}], at = {"pipe" = [0]}>
#terms0 = #dist.layout<@mesh, [{}], partial = [sum{"t"}], at = {"pipe" = [0]}>
dist.mesh @mesh = <"pipe"=2, "t"=2> pipeline "pipe"
// CHECK-LABEL: func.func @chunks
func.func @chunks(%x: tensor<4xf32> {dist.port = #dist.port<input "x", layout = #terms1>}, %a: tensor<4xf32> {dist.port = #dist.port<input "a", layout = #terms0>}) -> (tensor<4xf32> {dist.port = #dist.port<output "y", layout = #at0>}, tensor<4xf32> {dist.port = #dist.port<output "z", layout = #terms0>}) {
  // CHECK: %[[S:.*]] = stablehlo.add
  // CHECK-NEXT: %[[W:.*]] = dist.reshard %[[S]] {dist.block = 1
  // CHECK-NEXT: %[[T:.*]] = dist.keep %[[W]] where "t" = 0 {dist.block = 2
  %s = stablehlo.add %x, %x {dist.block = 1 : i64, dist.layouts = [#terms1], dist.phase = #dist.phase<forward>} : tensor<4xf32>
  // CHECK-NEXT: stablehlo.tanh %[[W]]
  %y = stablehlo.tanh %s {dist.block = 2 : i64, dist.layouts = [#at0], dist.phase = #dist.phase<forward>} : tensor<4xf32>
  // CHECK-NEXT: stablehlo.add %[[T]], %arg1
  %z = stablehlo.add %s, %a {dist.block = 2 : i64, dist.layouts = [#terms0], dist.phase = #dist.phase<forward>} : tensor<4xf32>
  return %y, %z : tensor<4xf32>, tensor<4xf32>
}
dist.entry @forward function(@chunks) chunks([0, 1, 2, 3])
