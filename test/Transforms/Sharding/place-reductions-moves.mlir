// RUN: llmc-opt %s --split-input-file --llmc-place-reductions | FileCheck %s

// Rows that are terms of a sum are read by numbers that are split, weighted, and
// added up two by two. Numbers and weights are a few bytes for each row: these
// are gathered, the rows stay terms, and half as many are scattered.
#rows = #dist.layout<@mesh, [{"t"}, {}]>
#pairs = #dist.layout<@mesh, [{"t"}, {}, {}]>
#columns = #dist.layout<@mesh, [{}, {"t"}]>
#whole = #dist.layout<@mesh, [{}, {}]>
#scalar = #dist.layout<@mesh, []>
dist.mesh @mesh = <"t"=2>
// CHECK-DAG: #[[P:.*]] = #dist.layout<@mesh, [{}, {}], partial = [sum{"t"}]>
// CHECK-DAG: #[[P3:.*]] = #dist.layout<@mesh, [{}, {}, {}], partial = [sum{"t"}]>
// CHECK: func.func @combine
func.func @combine(%h: tensor<64x4xf32> {dist.port = #dist.port<input "h", layout = #columns>}, %w: tensor<4x256xf32> {dist.port = #dist.port<input "w", layout = #rows>}, %i: tensor<64x1xi32> {dist.port = #dist.port<input "i", layout = #rows>}, %s: tensor<32x2xf32> {dist.port = #dist.port<input "s", layout = #rows>}) -> (tensor<32x256xf32> {dist.port = #dist.port<output "y", layout = #rows>}) {
  %made = stablehlo.dot_general %h, %w, contracting_dims = [1] x [0] {dist.layouts = [#whole]} : (tensor<64x4xf32>, tensor<4x256xf32>) -> tensor<64x256xf32>
  %one = stablehlo.constant {dist.layouts = [#rows]} dense<1> : tensor<64x1xi32>
  %number = stablehlo.add %i, %one {dist.layouts = [#rows]} : tensor<64x1xi32>
  %weight = stablehlo.tanh %s {dist.layouts = [#rows]} : tensor<32x2xf32>
  // CHECK: "stablehlo.gather"{{.*}}dist.layouts = [#[[P]]]
  %read = "stablehlo.gather"(%made, %number) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 256>}> {dist.layouts = [#rows]} : (tensor<64x256xf32>, tensor<64x1xi32>) -> tensor<64x256xf32>
  // CHECK: stablehlo.reshape{{.*}}dist.layouts = [#[[P3]]]
  %two = stablehlo.reshape %read {dist.layouts = [#pairs]} : (tensor<64x256xf32>) -> tensor<32x2x256xf32>
  %wide = stablehlo.broadcast_in_dim %weight, dims = [0, 1] {dist.layouts = [#pairs]} : (tensor<32x2xf32>) -> tensor<32x2x256xf32>
  // CHECK: stablehlo.multiply{{.*}}dist.layouts = [#[[P3]]]
  %weighted = stablehlo.multiply %wide, %two {dist.layouts = [#pairs]} : tensor<32x2x256xf32>
  %zero = stablehlo.constant {dist.layouts = [#scalar]} dense<0.0> : tensor<f32>
  // CHECK: stablehlo.reduce{{.*}}dist.layouts = [#[[P]]]
  %sum = stablehlo.reduce(%weighted init: %zero) applies stablehlo.add across dimensions = [1] {dist.layouts = [#rows]} : (tensor<32x2x256xf32>, tensor<f32>) -> tensor<32x256xf32>
  %y = stablehlo.tanh %sum {dist.layouts = [#rows]} : tensor<32x256xf32>
  return %y : tensor<32x256xf32>
}
dist.entry @forward function(@combine) chunks([0])

// -----

// Numbers that an argument has are as they were given: rows are scattered where
// they are read.
#rows = #dist.layout<@mesh, [{"t"}, {}]>
#columns = #dist.layout<@mesh, [{}, {"t"}]>
#whole = #dist.layout<@mesh, [{}, {}]>
dist.mesh @mesh = <"t"=2>
// CHECK-DAG: #[[ROWS:.*]] = #dist.layout<@mesh, [{"t"}, {}]>
// CHECK: func.func @given
func.func @given(%h: tensor<64x4xf32> {dist.port = #dist.port<input "h", layout = #columns>}, %w: tensor<4x256xf32> {dist.port = #dist.port<input "w", layout = #rows>}, %i: tensor<64x1xi32> {dist.port = #dist.port<input "i", layout = #rows>}) -> (tensor<64x256xf32> {dist.port = #dist.port<output "y", layout = #rows>}) {
  %made = stablehlo.dot_general %h, %w, contracting_dims = [1] x [0] {dist.layouts = [#whole]} : (tensor<64x4xf32>, tensor<4x256xf32>) -> tensor<64x256xf32>
  // CHECK: "stablehlo.gather"{{.*}}dist.layouts = [#[[ROWS]]]
  %read = "stablehlo.gather"(%made, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 256>}> {dist.layouts = [#rows]} : (tensor<64x256xf32>, tensor<64x1xi32>) -> tensor<64x256xf32>
  return %read : tensor<64x256xf32>
}
dist.entry @forward function(@given) chunks([0])

// -----

// Each row is put in its place, and all places are read whole: to gather the
// rows and their places sends half of what the sum of all places does.
#rows = #dist.layout<@mesh, [{"t"}, {}]>
#whole = #dist.layout<@mesh, [{}, {}]>
dist.mesh @mesh = <"t"=2>
// CHECK-DAG: #[[WHOLE:.*]] = #dist.layout<@mesh, [{}, {}]>
// CHECK: func.func @places
func.func @places(%x: tensor<64x256xf32> {dist.port = #dist.port<input "x", layout = #rows>}, %i: tensor<64x1xi32> {dist.port = #dist.port<input "i", layout = #rows>}) -> (tensor<64x256xf32> {dist.port = #dist.port<output "y", layout = #whole>}) {
  %zero = stablehlo.constant {dist.layouts = [#whole]} dense<0.0> : tensor<64x256xf32>
  %row = stablehlo.tanh %x {dist.layouts = [#rows]} : tensor<64x256xf32>
  %place = stablehlo.abs %i {dist.layouts = [#rows]} : tensor<64x1xi32>
  // CHECK-DAG: %[[I:.*]] = dist.constraint %{{.*}} to #[[WHOLE]] {dist.layouts = [#[[WHOLE]]]} : tensor<64x1xi32>
  // CHECK-DAG: %[[R:.*]] = dist.constraint %{{.*}} to #[[WHOLE]] {dist.layouts = [#[[WHOLE]]]} : tensor<64x256xf32>
  // CHECK: "stablehlo.scatter"(%{{.*}}, %[[I]], %[[R]])
  // CHECK: dist.layouts = [#[[WHOLE]]]
  %put = "stablehlo.scatter"(%zero, %place, %row) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) {dist.layouts = [#whole]} : (tensor<64x256xf32>, tensor<64x1xi32>, tensor<64x256xf32>) -> tensor<64x256xf32>
  %y = stablehlo.tanh %put {dist.layouts = [#whole]} : tensor<64x256xf32>
  return %y : tensor<64x256xf32>
}
dist.entry @forward function(@places) chunks([0])

// -----

// A maximum and a sum over a dim that is split: each by itself sends less than
// the values do, both together send more, so the values are gathered for both.
#columns = #dist.layout<@mesh, [{}, {"t"}]>
#rows = #dist.layout<@mesh, [{"t"}, {}]>
#whole = #dist.layout<@mesh, [{}, {}]>
#list = #dist.layout<@mesh, [{}]>
#scalar = #dist.layout<@mesh, []>
dist.mesh @mesh = <"t"=2>
// CHECK-DAG: #[[WHOLE:.*]] = #dist.layout<@mesh, [{}, {}]>
// CHECK-DAG: #[[LIST:.*]] = #dist.layout<@mesh, [{}]>
// CHECK: func.func @together
func.func @together(%x: tensor<64x16xf32> {dist.port = #dist.port<input "x", layout = #whole>}, %w: tensor<16x2xf32> {dist.port = #dist.port<input "w", layout = #columns>}) -> (tensor<64xf32> {dist.port = #dist.port<output "y", layout = #list>}, tensor<64x2xf32> {dist.port = #dist.port<output "z", layout = #columns>}) {
  %v = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] {dist.layouts = [#columns]} : (tensor<64x16xf32>, tensor<16x2xf32>) -> tensor<64x2xf32>
  %zero = stablehlo.constant {dist.layouts = [#scalar]} dense<0.0> : tensor<f32>
  // CHECK: %[[A:.*]] = dist.constraint %{{.*}} to #[[WHOLE]]
  // CHECK: stablehlo.reduce(%[[A]]{{.*}}dist.layouts = [#[[LIST]]]
  %one = stablehlo.reduce(%v init: %zero) applies stablehlo.add across dimensions = [1] {dist.layouts = [#list]} : (tensor<64x2xf32>, tensor<f32>) -> tensor<64xf32>
  %e = stablehlo.exponential %v {dist.layouts = [#columns]} : tensor<64x2xf32>
  // CHECK: %[[B:.*]] = dist.constraint %{{.*}} to #[[WHOLE]]
  // CHECK: stablehlo.reduce(%[[B]]{{.*}}dist.layouts = [#[[LIST]]]
  %two = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] {dist.layouts = [#list]} : (tensor<64x2xf32>, tensor<f32>) -> tensor<64xf32>
  %l = stablehlo.log %two {dist.layouts = [#list]} : tensor<64xf32>
  %t = stablehlo.tanh %one {dist.layouts = [#list]} : tensor<64xf32>
  %y = stablehlo.multiply %l, %t {dist.layouts = [#list]} : tensor<64xf32>
  return %y, %v : tensor<64xf32>, tensor<64x2xf32>
}
dist.entry @forward function(@together) chunks([0])
