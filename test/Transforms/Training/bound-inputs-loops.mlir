// RUN: llmc-opt %s --llmc-bound-inputs | FileCheck %s

// What enters the trips as it is, by rows, and by slices that the trip chooses.
// CHECK-LABEL: func.func @enters
// CHECK-SAME: data = <"same", limit = 8>
// CHECK-SAME: data = <"rows", limit = 8>
// CHECK-SAME: data = <"slices", limit = 8>
func.func @enters(%table: tensor<8xf32>, %same: tensor<2xi32> {dist.port = #dist.port<input "same", data = <"same">>}, %rows: tensor<4x2xi32> {dist.port = #dist.port<input "rows", data = <"rows">>}, %slices: tensor<8xi32> {dist.port = #dist.port<input "slices", data = <"slices">>}) -> tensor<4x2xf32> {
  %trips = stablehlo.iota dim = 0 : tensor<4xi32>
  %k = dist.enter row %trips of <"l", trips = 4> : tensor<4xi32> -> tensor<i32>
  %s = dist.enter same %same of <"l", trips = 4> : tensor<2xi32> -> tensor<2xi32>
  %ia = stablehlo.reshape %s : (tensor<2xi32>) -> tensor<2x1xi32>
  %a = "stablehlo.gather"(%table, %ia) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1>}> : (tensor<8xf32>, tensor<2x1xi32>) -> tensor<2xf32>
  %r = dist.enter row %rows of <"l", trips = 4> : tensor<4x2xi32> -> tensor<2xi32>
  %ib = stablehlo.reshape %r : (tensor<2xi32>) -> tensor<2x1xi32>
  %b = "stablehlo.gather"(%table, %ib) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1>}> : (tensor<8xf32>, tensor<2x1xi32>) -> tensor<2xf32>
  %all = dist.enter same %slices of <"l", trips = 4> : tensor<8xi32> -> tensor<8xi32>
  %d = stablehlo.dynamic_slice %all, %k, sizes = [2] : (tensor<8xi32>, tensor<i32>) -> tensor<2xi32>
  %ic = stablehlo.reshape %d : (tensor<2xi32>) -> tensor<2x1xi32>
  %c = "stablehlo.gather"(%table, %ic) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1>}> : (tensor<8xf32>, tensor<2x1xi32>) -> tensor<2xf32>
  %ab = stablehlo.add %a, %b : tensor<2xf32>
  %abc = stablehlo.add %ab, %c : tensor<2xf32>
  %y = dist.leave stack %abc of <"l", trips = 4> : tensor<2xf32> -> tensor<4x2xf32>
  return %y : tensor<4x2xf32>
}

// What is carried is what was there before the first trip, or what another trip
// puts in its place; what leaves is that too.
// CHECK-LABEL: func.func @carried
// CHECK-SAME: data = <"first", limit = 6>
// CHECK-SAME: data = <"then", limit = 6>
func.func @carried(%table: tensor<8xf32>, %small: tensor<6xf32>, %first: tensor<2xi32> {dist.port = #dist.port<input "first", data = <"first">>}, %then: tensor<2xi32> {dist.port = #dist.port<input "then", data = <"then">>}) -> (tensor<2xf32>, tensor<2xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<2xf32>
  %c = dist.enter carry %first of <"l", trips = 4> number(0) : tensor<2xi32> -> tensor<2xi32>
  %sum = dist.enter carry %zero of <"l", trips = 4> number(1) : tensor<2xf32> -> tensor<2xf32>
  %ia = stablehlo.reshape %c : (tensor<2xi32>) -> tensor<2x1xi32>
  %a = "stablehlo.gather"(%table, %ia) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1>}> : (tensor<8xf32>, tensor<2x1xi32>) -> tensor<2xf32>
  %plus = stablehlo.add %sum, %a : tensor<2xf32>
  %fs = dist.next %sum, %plus : tensor<2xf32>
  %t = dist.enter same %then of <"l", trips = 4> : tensor<2xi32> -> tensor<2xi32>
  %turned = stablehlo.slice %c [0:1] : (tensor<2xi32>) -> tensor<1xi32>
  %other = stablehlo.slice %t [1:2] : (tensor<2xi32>) -> tensor<1xi32>
  %new = stablehlo.concatenate %turned, %other, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %fc = dist.next %c, %new : tensor<2xi32>
  %last = dist.leave last %fc of <"l", trips = 4> : tensor<2xi32> -> tensor<2xi32>
  %total = dist.leave last %fs of <"l", trips = 4> : tensor<2xf32> -> tensor<2xf32>
  %ib = stablehlo.reshape %last : (tensor<2xi32>) -> tensor<2x1xi32>
  %b = "stablehlo.gather"(%small, %ib) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1>}> : (tensor<6xf32>, tensor<2x1xi32>) -> tensor<2xf32>
  return %total, %b : tensor<2xf32>, tensor<2xf32>
}

// Sums are other numbers, and a loop that its condition ends asks first.
// CHECK-LABEL: func.func @asks
// CHECK-SAME: data = <"t">
// CHECK-SAME: data = <"u">
func.func @asks(%table: tensor<8xf32>, %t: tensor<2xi32> {dist.port = #dist.port<input "t", data = <"t">>}, %u: tensor<2xi32> {dist.port = #dist.port<input "u", data = <"u">>}, %flag: tensor<i1>) -> (tensor<2xf32>, tensor<2xf32>) {
  %t0 = dist.enter same %t of <"l", trips = 4> : tensor<2xi32> -> tensor<2xi32>
  %sum = dist.leave sum %t0 of <"l", trips = 4> : tensor<2xi32> -> tensor<2xi32>
  %ia = stablehlo.reshape %sum : (tensor<2xi32>) -> tensor<2x1xi32>
  %a = "stablehlo.gather"(%table, %ia) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1>}> : (tensor<8xf32>, tensor<2x1xi32>) -> tensor<2xf32>
  %on = dist.enter carry %flag of <"w", conditional = true> number(0) : tensor<i1> -> tensor<i1>
  %off = stablehlo.not %on : tensor<i1>
  %fon = dist.next %on, %off : tensor<i1>
  %u0 = dist.enter same %u of <"w", conditional = true> : tensor<2xi32> -> tensor<2xi32>
  %zero = stablehlo.constant dense<0.0> : tensor<2xf32>
  %c = dist.enter carry %zero of <"w", conditional = true> number(1) : tensor<2xf32> -> tensor<2xf32>
  %ib = stablehlo.reshape %u0 : (tensor<2xi32>) -> tensor<2x1xi32>
  %b = "stablehlo.gather"(%table, %ib) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1>}> : (tensor<8xf32>, tensor<2x1xi32>) -> tensor<2xf32>
  %plus = stablehlo.add %c, %b : tensor<2xf32>
  %fc = dist.next %c, %plus : tensor<2xf32>
  %total = dist.leave last %fc of <"w", conditional = true> : tensor<2xf32> -> tensor<2xf32>
  return %a, %total : tensor<2xf32>, tensor<2xf32>
}
