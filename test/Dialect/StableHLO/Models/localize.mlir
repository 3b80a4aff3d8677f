// RUN: llmc-opt %s --split-input-file --llmc-localize --verify-diagnostics | FileCheck %s

// Indices are limited in their own type: to the last row where it holds that
// number, else to its greatest.
#t = #dist.layout<@mesh, [{"t"}, {}]>
#r = #dist.layout<@mesh, [{}]>
#p = #dist.layout<@mesh, [{}, {}], partial = [sum{"t"}]>
dist.mesh @mesh = <"t"=2>
// CHECK-LABEL: func.func @limits
// CHECK: %[[LAST8:.*]] = stablehlo.constant dense<127> : tensor<i8>
// CHECK: stablehlo.clamp %{{.*}}, %{{.*}}, %[[LAST8]] : (tensor<i8>, tensor<5xi8>, tensor<i8>) -> tensor<5xi8>
// CHECK: %[[LASTU8:.*]] = stablehlo.constant dense<255> : tensor<ui8>
// CHECK: stablehlo.clamp %{{.*}}, %{{.*}}, %[[LASTU8]] : (tensor<ui8>, tensor<5xui8>, tensor<ui8>) -> tensor<5xui8>
// CHECK: %[[LASTU16:.*]] = stablehlo.constant dense<299> : tensor<ui16>
// CHECK: stablehlo.clamp %{{.*}}, %{{.*}}, %[[LASTU16]] : (tensor<ui16>, tensor<5xui16>, tensor<ui16>) -> tensor<5xui16>
func.func @limits(%t: tensor<300x4xf32, #t> {dist.port = #dist.port<input "t">}, %i: tensor<5xi8, #r> {dist.port = #dist.port<input "i">}, %j: tensor<5xui8, #r> {dist.port = #dist.port<input "j">}, %k: tensor<5xui16, #r> {dist.port = #dist.port<input "k">}) -> (tensor<5x4xf32, #p> {dist.port = #dist.port<output "x">}, tensor<5x4xf32, #p> {dist.port = #dist.port<output "y">}, tensor<5x4xf32, #p> {dist.port = #dist.port<output "z">}) {
  %0 = "stablehlo.gather"(%t, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>}> : (tensor<300x4xf32, #t>, tensor<5xi8, #r>) -> tensor<5x4xf32, #p>
  %1 = "stablehlo.gather"(%t, %j) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>}> : (tensor<300x4xf32, #t>, tensor<5xui8, #r>) -> tensor<5x4xf32, #p>
  %2 = "stablehlo.gather"(%t, %k) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>}> : (tensor<300x4xf32, #t>, tensor<5xui16, #r>) -> tensor<5x4xf32, #p>
  return %0, %1, %2 : tensor<5x4xf32, #p>, tensor<5x4xf32, #p>, tensor<5x4xf32, #p>
}
dist.entry @e function(@limits) chunks([0])

// -----

// What stands beside the text cannot be made local.
#r = #dist.layout<@mesh, [{}]>
dist.mesh @mesh = <"d"=2>
func.func @f() -> (tensor<2xf32, #r> {dist.port = #dist.port<output "y">}) {
  // expected-error@+1 {{expected a constant that is not split unless it is a splat, got local type 'tensor<2xf32>'}}
  %0 = stablehlo.constant dense_resource<weights> : tensor<2xf32> -> tensor<2xf32, #r>
  return %0 : tensor<2xf32, #r>
}
dist.entry @forward function(@f) chunks([0])
{-# dialect_resources: {builtin: {weights: "0x040000000000803F00000040"}} #-}
