// RUN: llmc-opt %s --split-input-file --llmc-localize --canonicalize --cse | FileCheck %s

// A table of 10 rows in 4 parts of 3: own rows are read, others count as zero.
#t = #dist.layout<@mesh, [{"t"}:12, {}]>
#r = #dist.layout<@mesh, [{}]>
#p = #dist.layout<@mesh, [{}, {}], partial = [sum{"t"}]>
dist.mesh @mesh = <"t"=4>
// CHECK-LABEL: func.func @gather(
// CHECK-SAME: %[[I:.*]]: tensor<5xi32> {dist.port = #dist.port<input "i", layout = {{.*}}>}, %[[T:.*]]: tensor<3x4xf32>
func.func @gather(%i: tensor<5xi32, #r> {dist.port = #dist.port<input "i">}, %t: tensor<10x4xf32, #t> {dist.port = #dist.port<input "t">}) -> (tensor<5x4xf32, #p> {dist.port = #dist.port<output "y">}) {
  // CHECK-DAG: %[[NINE:.*]] = stablehlo.constant dense<9> : tensor<i32>
  // CHECK-DAG: %[[ZERO:.*]] = stablehlo.constant dense<0> : tensor<i32>
  // CHECK: %[[C:.*]] = stablehlo.clamp %[[ZERO]], %[[I]], %[[NINE]]
  // CHECK: %[[COORDINATE:.*]] = dist.coordinate ["t"] : tensor<i32>
  // CHECK: %[[OFFSET:.*]] = stablehlo.multiply %[[COORDINATE]], %{{.*}} : tensor<i32>
  // CHECK: %[[SPREAD:.*]] = stablehlo.broadcast_in_dim %[[OFFSET]]
  // CHECK: %[[P:.*]] = stablehlo.subtract %[[C]], %[[SPREAD]]
  // CHECK: %[[G:.*]] = "stablehlo.gather"(%[[T]], %[[P]])
  // CHECK: stablehlo.select %{{.*}}, %[[G]], %{{.*}} {dist.name = "rows"}
  %0 = "stablehlo.gather"(%t, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>}> {dist.name = "rows"} : (tensor<10x4xf32, #t>, tensor<5xi32, #r>) -> tensor<5x4xf32, #p>
  return %0 : tensor<5x4xf32, #p>
}
dist.entry @e function(@gather) chunks([0])

// -----

// Windows that are whole follow the operand's local size; nothing is masked.
#t = #dist.layout<@mesh, [{}, {"t"}]>
#r = #dist.layout<@mesh, [{}]>
dist.mesh @mesh = <"t"=2>
// CHECK-LABEL: func.func @windows
func.func @windows(%i: tensor<5xi32, #r> {dist.port = #dist.port<input "i">}, %t: tensor<10x4xf32, #t> {dist.port = #dist.port<input "t">}) -> (tensor<5x4xf32, #t> {dist.port = #dist.port<output "y">}) {
  // CHECK: %[[G:.*]] = "stablehlo.gather"({{.*}}slice_sizes = array<i64: 1, 2>{{.*}} : (tensor<10x2xf32>, tensor<5xi32>) -> tensor<5x2xf32>
  // CHECK: return %[[G]]
  %0 = "stablehlo.gather"(%t, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>}> : (tensor<10x4xf32, #t>, tensor<5xi32, #r>) -> tensor<5x4xf32, #t>
  return %0 : tensor<5x4xf32, #t>
}
dist.entry @e function(@windows) chunks([0])

// -----

// Rows of others are out of range; what lies outside of the 10 rows is moved
// there, so that padding is never written.
#t = #dist.layout<@mesh, [{"t"}:12, {}]>
#r = #dist.layout<@mesh, [{}]>
#u = #dist.layout<@mesh, [{}, {}]>
dist.mesh @mesh = <"t"=4>
// CHECK-LABEL: func.func @scatter
func.func @scatter(%i: tensor<5xi32, #r> {dist.port = #dist.port<input "i">}, %t: tensor<10x4xf32, #t> {dist.port = #dist.port<input "t">}, %u: tensor<5x4xf32, #u> {dist.port = #dist.port<input "u">}) -> (tensor<10x4xf32, #t> {dist.port = #dist.port<output "y">}) {
  // CHECK: %[[P:.*]] = stablehlo.subtract %arg0, %{{.*}} : tensor<5xi32>
  // CHECK: %[[S:.*]] = stablehlo.select %{{.*}}, %[[P]], %{{.*}} : tensor<5xi1>, tensor<5xi32>
  // CHECK: "stablehlo.scatter"(%arg1, %[[S]], %arg2)
  // CHECK: (tensor<3x4xf32>, tensor<5xi32>, tensor<5x4xf32>) -> tensor<3x4xf32>
  %0 = "stablehlo.scatter"(%t, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<10x4xf32, #t>, tensor<5xi32, #r>, tensor<5x4xf32, #u>) -> tensor<10x4xf32, #t>
  return %0 : tensor<10x4xf32, #t>
}
dist.entry @e function(@scatter) chunks([0])

// -----

// An iota starts at the device's offset; slices keep whole dims at the device's
// size; splats shrink.
#l = #dist.layout<@mesh, [{"d", "t"}, {}]>
#h = #dist.layout<@mesh, [{"d", "t"}, {}]>
dist.mesh @mesh = <"d"=2, "t"=2>
// CHECK-LABEL: func.func @sources
func.func @sources() -> (tensor<8x4xf32, #l> {dist.port = #dist.port<output "y">}, tensor<8x2xf32, #h> {dist.port = #dist.port<output "z">}) {
  // CHECK: %[[C:.*]] = dist.coordinate ["d", "t"] : tensor<i32>
  // CHECK: %[[OFFSET:.*]] = stablehlo.multiply %[[C]]
  // CHECK: %[[LINE:.*]] = stablehlo.iota dim = 0 : tensor<2xi32>
  // CHECK: %[[SPREAD:.*]] = stablehlo.broadcast_in_dim %[[OFFSET]]
  // CHECK: %[[SUM:.*]] = stablehlo.add %[[LINE]], %[[SPREAD]]
  // CHECK: %[[REAL:.*]] = stablehlo.convert %[[SUM]] : (tensor<2xi32>) -> tensor<2xf32>
  // CHECK: %[[IOTA:.*]] = stablehlo.broadcast_in_dim %[[REAL]], dims = [0] : (tensor<2xf32>) -> tensor<2x4xf32>
  %0 = stablehlo.iota dim = 0 : tensor<8x4xf32, #l>
  %1 = stablehlo.constant dense<2.0> : tensor<8x4xf32, #l>
  // CHECK: %[[M:.*]] = stablehlo.multiply %[[IOTA]], %{{.*}} : tensor<2x4xf32>
  %2 = stablehlo.multiply %0, %1 : tensor<8x4xf32, #l>
  // CHECK: stablehlo.slice %[[M]] [0:2, 1:3] : (tensor<2x4xf32>) -> tensor<2x2xf32>
  %3 = stablehlo.slice %2 [0:8, 1:3] : (tensor<8x4xf32, #l>) -> tensor<8x2xf32, #h>
  return %2, %3 : tensor<8x4xf32, #l>, tensor<8x2xf32, #h>
}
dist.entry @e function(@sources) chunks([0])
