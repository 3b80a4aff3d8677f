// A transposition of SIZE columns: the indices of an element are its position
// divided by 3, and what is left.
func.func @transposed(%x: tensor<3xSIZExf32>, %y: tensor<SIZEx3xf32>) -> tensor<SIZEx3xf32> {
  %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<3xSIZExf32>) -> tensor<SIZEx3xf32>
  %1 = stablehlo.add %0, %y : tensor<SIZEx3xf32>
  return %1 : tensor<SIZEx3xf32>
}

// A gather: the index comes from the data, and fits once it lies in the table.
func.func @gathered(%x: tensor<SIZEx3xf32>, %at: tensor<5xi64>) -> tensor<5x3xf32> {
  %0 = "stablehlo.gather"(%x, %at) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 3>}> : (tensor<SIZEx3xf32>, tensor<5xi64>) -> tensor<5x3xf32>
  return %0 : tensor<5x3xf32>
}
