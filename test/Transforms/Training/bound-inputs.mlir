// RUN: llmc-opt %s --llmc-bound-inputs | FileCheck %s

// A token counts rows of a table, as JAX prints it: negative ones count from the end.
// CHECK-LABEL: func.func @embed
// CHECK-SAME: data = <"corpus", limit = 256>
func.func @embed(%table: tensor<256x4xf32>,
                 %t: tensor<2x3xi32> {dist.port = #dist.port<input "t", data = <"corpus">>}) -> tensor<2x3x4xf32> {
  %zero = stablehlo.constant dense<0> : tensor<2x3xi32>
  %size = stablehlo.constant dense<256> : tensor<i32>
  %sizes = stablehlo.broadcast_in_dim %size, dims = [] : (tensor<i32>) -> tensor<2x3xi32>
  %0 = stablehlo.compare LT, %t, %zero, SIGNED : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi1>
  %1 = stablehlo.add %t, %sizes : tensor<2x3xi32>
  %2 = stablehlo.select %0, %1, %t : tensor<2x3xi1>, tensor<2x3xi32>
  %3 = stablehlo.broadcast_in_dim %2, dims = [0, 1] : (tensor<2x3xi32>) -> tensor<2x3x1xi32>
  %4 = "stablehlo.gather"(%table, %3) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 4>}> : (tensor<256x4xf32>, tensor<2x3x1xi32>) -> tensor<2x3x4xf32>
  return %4 : tensor<2x3x4xf32>
}

// Windows of three rows begin at one of six places.
// CHECK-LABEL: func.func @windows
// CHECK-SAME: data = <"corpus", offset = 1, limit = 6>
func.func @windows(%table: tensor<8xf32>,
                   %t: tensor<2xi32> {dist.port = #dist.port<input "t", data = <"corpus", offset = 1>>}) -> tensor<2x3xf32> {
  %0 = stablehlo.reshape %t : (tensor<2xi32>) -> tensor<2x1xi32>
  %1 = "stablehlo.gather"(%table, %0) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 3>}> : (tensor<8xf32>, tensor<2x1xi32>) -> tensor<2x3xf32>
  return %1 : tensor<2x3xf32>
}

// The least of several counts: classes of a one-hot, and of a loss; -100 masks a label, and no one else.
// CHECK-LABEL: func.func @classes
// CHECK-SAME: data = <"y", kind = array, limit = 5>
func.func @classes(%logits: tensor<2x7xf32>,
                   %y: tensor<2xi64> {dist.port = #dist.port<input "y", data = <"y", kind = array>>}) -> (tensor<2x5xi1>, tensor<2xf32>) {
  %mask = stablehlo.constant dense<-100> : tensor<2xi64>
  %zero = stablehlo.constant dense<0> : tensor<2xi64>
  %0 = stablehlo.compare EQ, %y, %mask, SIGNED : (tensor<2xi64>, tensor<2xi64>) -> tensor<2xi1>
  %1 = stablehlo.select %0, %zero, %y : tensor<2xi1>, tensor<2xi64>
  %2 = stablehlo.convert %1 : (tensor<2xi64>) -> tensor<2xi32>
  %loss, %sum = nn.softmax_cross_entropy %logits, %2 : (tensor<2x7xf32>, tensor<2xi32>) -> (tensor<2xf32>, tensor<2xf32>)
  %3 = stablehlo.broadcast_in_dim %2, dims = [0] : (tensor<2xi32>) -> tensor<2x5xi32>
  %count = stablehlo.iota dim = 1 : tensor<2x5xi32>
  %4 = stablehlo.compare EQ, %3, %count, SIGNED : (tensor<2x5xi32>, tensor<2x5xi32>) -> tensor<2x5xi1>
  return %4, %loss : tensor<2x5xi1>, tensor<2xf32>
}

// A text that asks first, or computes with the number, says nothing of it; nor
// does a comparison by order.
// CHECK-LABEL: func.func @asks
// CHECK-SAME: input "t", data = <"corpus">
// CHECK-SAME: input "u", data = <"u">
// CHECK-SAME: input "v", data = <"v">
func.func @asks(%table: tensor<8xf32>,
                %t: tensor<2xi32> {dist.port = #dist.port<input "t", data = <"corpus">>},
                %u: tensor<2xi32> {dist.port = #dist.port<input "u", data = <"u">>},
                %v: tensor<2xi32> {dist.port = #dist.port<input "v", data = <"v">>}) -> (tensor<2xf32>, tensor<2xf32>, tensor<2x8xi1>) {
  %end = stablehlo.constant dense<8> : tensor<2xi32>
  %zero = stablehlo.constant dense<0> : tensor<2xi32>
  %0 = stablehlo.compare LT, %t, %end, SIGNED : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi1>
  %1 = stablehlo.select %0, %t, %zero : tensor<2xi1>, tensor<2xi32>
  %2 = stablehlo.reshape %1 : (tensor<2xi32>) -> tensor<2x1xi32>
  %3 = "stablehlo.gather"(%table, %2) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1>}> : (tensor<8xf32>, tensor<2x1xi32>) -> tensor<2xf32>
  %4 = stablehlo.add %u, %u : tensor<2xi32>
  %5 = stablehlo.reshape %4 : (tensor<2xi32>) -> tensor<2x1xi32>
  %6 = "stablehlo.gather"(%table, %5) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1>}> : (tensor<8xf32>, tensor<2x1xi32>) -> tensor<2xf32>
  %7 = stablehlo.broadcast_in_dim %v, dims = [0] : (tensor<2xi32>) -> tensor<2x8xi32>
  %count = stablehlo.iota dim = 1 : tensor<2x8xi32>
  %8 = stablehlo.compare LT, %count, %7, SIGNED : (tensor<2x8xi32>, tensor<2x8xi32>) -> tensor<2x8xi1>
  return %3, %6, %8 : tensor<2xf32>, tensor<2xf32>, tensor<2x8xi1>
}

// A limit that is there stays, and what no source feeds has none.
// CHECK-LABEL: func.func @given
// CHECK-SAME: data = <"corpus", limit = 100>
// CHECK-SAME: #dist.port<input "free">
func.func @given(%table: tensor<8xf32>,
                 %t: tensor<2xi32> {dist.port = #dist.port<input "t", data = <"corpus", limit = 100>>},
                 %f: tensor<2xi32> {dist.port = #dist.port<input "free">}) -> (tensor<2xf32>, tensor<2xf32>) {
  %0 = stablehlo.reshape %t : (tensor<2xi32>) -> tensor<2x1xi32>
  %1 = "stablehlo.gather"(%table, %0) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1>}> : (tensor<8xf32>, tensor<2x1xi32>) -> tensor<2xf32>
  %2 = stablehlo.reshape %f : (tensor<2xi32>) -> tensor<2x1xi32>
  %3 = "stablehlo.gather"(%table, %2) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1>}> : (tensor<8xf32>, tensor<2x1xi32>) -> tensor<2xf32>
  return %1, %3 : tensor<2xf32>, tensor<2xf32>
}
