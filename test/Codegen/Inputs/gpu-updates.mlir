func.func @embedding(%x: tensor<500x48xf32>, %u: tensor<512x48xf32>, %at: tensor<512x1xi32>) -> tensor<500x48xf32> {
  %0 = "stablehlo.scatter"(%x, %at, %u) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<500x48xf32>, tensor<512x1xi32>, tensor<512x48xf32>) -> tensor<500x48xf32>
  return %0 : tensor<500x48xf32>
}
