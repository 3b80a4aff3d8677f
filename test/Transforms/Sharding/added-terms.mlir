// RUN: llmc-opt %s --split-input-file --llmc-place-reductions | FileCheck %s

// The gradient of a table that is looked up in and multiplied: rows that are put
// in their places send less if they are gathered, but the product leaves terms
// of the whole table anyway, so the places are terms too, and one sum is sent.
#tokens = #dist.layout<@mesh, [{"d"}, {}]>
#rows = #dist.layout<@mesh, [{"d"}, {}]>
#scalar = #dist.layout<@mesh, []>
dist.mesh @mesh = <"d"=2>
// CHECK-DAG: #[[TERMS:.*]] = #dist.layout<@mesh, [{}, {}], partial = [sum{"d"}]>
// CHECK: func.func @tied
func.func @tied(%i: tensor<32x1xi32> {dist.port = #dist.port<input "i", layout = #tokens>}, %x: tensor<32x16xf32> {dist.port = #dist.port<input "x", layout = #tokens>}, %y: tensor<32x256xf32> {dist.port = #dist.port<input "y", layout = #tokens>}) -> (tensor<256x16xf32> {dist.port = #dist.port<output "g", layout = #rows>}) {
  %zero = stablehlo.constant {dist.layouts = [#rows]} dense<0.0> : tensor<256x16xf32>
  %r = stablehlo.tanh %x {dist.layouts = [#tokens]} : tensor<32x16xf32>
  // CHECK: "stablehlo.scatter"
  // CHECK: dist.layouts = [#[[TERMS]]]
  %put = "stablehlo.scatter"(%zero, %i, %r) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) {dist.layouts = [#rows]} : (tensor<256x16xf32>, tensor<32x1xi32>, tensor<32x16xf32>) -> tensor<256x16xf32>
  // CHECK: stablehlo.dot_general{{.*}}dist.layouts = [#[[TERMS]]]
  %p = stablehlo.dot_general %y, %x, contracting_dims = [0] x [0] {dist.layouts = [#rows]} : (tensor<32x256xf32>, tensor<32x16xf32>) -> tensor<256x16xf32>
  // CHECK: stablehlo.add {{.*}}dist.layouts = [#[[TERMS]]]
  %g = stablehlo.add %put, %p {dist.layouts = [#rows]} : tensor<256x16xf32>
  %out = stablehlo.tanh %g {dist.layouts = [#rows]} : tensor<256x16xf32>
  return %out : tensor<256x16xf32>
}
dist.entry @forward function(@tied) chunks([0])

// -----

// Without the product the rows and their numbers are gathered.
#tokens = #dist.layout<@mesh, [{"d"}, {}]>
#rows = #dist.layout<@mesh, [{"d"}, {}]>
dist.mesh @mesh = <"d"=2>
// CHECK-DAG: #[[ROWS:.*]] = #dist.layout<@mesh, [{"d"}, {}]>
// CHECK: func.func @alone
func.func @alone(%i: tensor<32x1xi32> {dist.port = #dist.port<input "i", layout = #tokens>}, %x: tensor<32x16xf32> {dist.port = #dist.port<input "x", layout = #tokens>}) -> (tensor<256x16xf32> {dist.port = #dist.port<output "g", layout = #rows>}) {
  %zero = stablehlo.constant {dist.layouts = [#rows]} dense<0.0> : tensor<256x16xf32>
  %r = stablehlo.tanh %x {dist.layouts = [#tokens]} : tensor<32x16xf32>
  // CHECK: "stablehlo.scatter"
  // CHECK: dist.layouts = [#[[ROWS]]]
  %put = "stablehlo.scatter"(%zero, %i, %r) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) {dist.layouts = [#rows]} : (tensor<256x16xf32>, tensor<32x1xi32>, tensor<32x16xf32>) -> tensor<256x16xf32>
  return %put : tensor<256x16xf32>
}
dist.entry @forward function(@alone) chunks([0])

// -----

// Rows of a table that two axes split: over t alone a sum of 96 rows sends more
// than the part of the table that t divides, over both axes it does not.
#table = #dist.layout<@mesh, [{"t", "d"}, {}, {}]>
#whole = #dist.layout<@mesh, [{}, {}]>
dist.mesh @mesh = <"d"=2, "t"=2>
// CHECK-DAG: #[[BOTH:.*]] = #dist.layout<@mesh, [{}, {}], partial = [sum{"d", "t"}]>
// CHECK: func.func @experts
func.func @experts(%t: tensor<4x48x16xf32> {dist.port = #dist.port<input "t", layout = #table>}, %i: tensor<96x2xi32> {dist.port = #dist.port<input "i", layout = #whole>}) -> (tensor<96x16xf32> {dist.port = #dist.port<output "y", layout = #whole>}) {
  // CHECK: "stablehlo.gather"{{.*}}dist.layouts = [#[[BOTH]]]
  %y = "stablehlo.gather"(%t, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1, 16>}> {dist.layouts = [#whole]} : (tensor<4x48x16xf32>, tensor<96x2xi32>) -> tensor<96x16xf32>
  return %y : tensor<96x16xf32>
}
dist.entry @forward function(@experts) chunks([0])

// -----

// Few tokens: the product gathers them too, so that there are no terms to join.
#tokens = #dist.layout<@mesh, [{"d"}, {}]>
#rows = #dist.layout<@mesh, [{"d"}, {}]>
dist.mesh @mesh = <"d"=2>
// CHECK: func.func @few
// CHECK-NOT: partial
func.func @few(%i: tensor<4x1xi32> {dist.port = #dist.port<input "i", layout = #tokens>}, %x: tensor<4x16xf32> {dist.port = #dist.port<input "x", layout = #tokens>}, %y: tensor<4x256xf32> {dist.port = #dist.port<input "y", layout = #tokens>}) -> (tensor<256x16xf32> {dist.port = #dist.port<output "g", layout = #rows>}) {
  %zero = stablehlo.constant {dist.layouts = [#rows]} dense<0.0> : tensor<256x16xf32>
  %r = stablehlo.tanh %x {dist.layouts = [#tokens]} : tensor<4x16xf32>
  %put = "stablehlo.scatter"(%zero, %i, %r) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) {dist.layouts = [#rows]} : (tensor<256x16xf32>, tensor<4x1xi32>, tensor<4x16xf32>) -> tensor<256x16xf32>
  %p = stablehlo.dot_general %y, %x, contracting_dims = [0] x [0] {dist.layouts = [#rows]} : (tensor<4x256xf32>, tensor<4x16xf32>) -> tensor<256x16xf32>
  %g = stablehlo.add %put, %p {dist.layouts = [#rows]} : tensor<256x16xf32>
  return %g : tensor<256x16xf32>
}
dist.entry @forward function(@few) chunks([0])
