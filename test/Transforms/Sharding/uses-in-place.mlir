// RUN: llmc-opt %s --split-input-file --llmc-materialize | FileCheck %s

// Tokens of a sequence that is split look up rows of a table that is split too.
// The product reads a part of the table in place, so that no use gathers it:
// tokens are gathered, and what is looked up is scattered.
#rows = #dist.layout<@mesh, [{"t"}, {}]>
#tokens = #dist.layout<@mesh, [{"t"}]>
#columns = #dist.layout<@mesh, [{}, {"t"}]>
dist.mesh @mesh = <"t"=2>
// CHECK-LABEL: func.func @in_place
// CHECK-SAME: %[[E:[^:]*]]: tensor<512x4xf32, #[[ROWS:[a-z0-9_]*]]>
// CHECK-SAME: %[[T:[^:]*]]: tensor<8xi32,
func.func @in_place(%E: tensor<512x4xf32> {dist.port = #dist.port<input "E", layout = #rows>}, %tok: tensor<8xi32> {dist.port = #dist.port<input "tok", layout = #tokens>}) -> (tensor<8x512xf32> {dist.port = #dist.port<output "y", layout = #columns>}) {
  // CHECK-NEXT: %[[ALL:.*]] = dist.reshard %[[T]]
  // CHECK-NEXT: %[[X:.*]] = "stablehlo.gather"(%[[E]], %[[ALL]])
  %x = "stablehlo.gather"(%E, %tok) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>}> {dist.layouts = [#rows]} : (tensor<512x4xf32>, tensor<8xi32>) -> tensor<8x4xf32>
  // CHECK-NOT: dist.reshard %[[E]]
  // CHECK: stablehlo.dot_general %{{.*}}, %[[E]],
  %y = stablehlo.dot_general %x, %E, contracting_dims = [1] x [1] {dist.layouts = [#columns]} : (tensor<8x4xf32>, tensor<512x4xf32>) -> tensor<8x512xf32>
  return %y : tensor<8x512xf32>
}
dist.entry @forward function(@in_place) chunks([0])

// -----

// The product wants the whole table, which is gathered once for both.
#rows = #dist.layout<@mesh, [{"t"}, {}]>
#tokens = #dist.layout<@mesh, [{"t"}]>
dist.mesh @mesh = <"t"=2>
// CHECK-LABEL: func.func @gathered
// CHECK-SAME: %[[E:[^:]*]]: tensor<512x4xf32, #[[ROWS:[a-z0-9_]*]]>
// CHECK-SAME: %[[T:[^:]*]]: tensor<8xi32,
func.func @gathered(%E: tensor<512x4xf32> {dist.port = #dist.port<input "E", layout = #rows>}, %tok: tensor<8xi32> {dist.port = #dist.port<input "tok", layout = #tokens>}) -> (tensor<8x512xf32> {dist.port = #dist.port<output "y", layout = #rows>}) {
  // CHECK-NEXT: %[[W:.*]] = dist.reshard %[[E]]
  // CHECK-NEXT: "stablehlo.gather"(%[[W]], %[[T]])
  %x = "stablehlo.gather"(%E, %tok) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>}> {dist.layouts = [#rows]} : (tensor<512x4xf32>, tensor<8xi32>) -> tensor<8x4xf32>
  // CHECK: stablehlo.dot_general %{{.*}}, %[[W]],
  %y = stablehlo.dot_general %x, %E, contracting_dims = [1] x [1] {dist.layouts = [#rows]} : (tensor<8x4xf32>, tensor<512x4xf32>) -> tensor<8x512xf32>
  return %y : tensor<8x512xf32>
}
dist.entry @forward function(@gathered) chunks([0])
