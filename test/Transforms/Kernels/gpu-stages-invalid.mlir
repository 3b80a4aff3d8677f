// RUN: llmc-opt %s --split-input-file --llmc-form-kernels=target=cuda --verify-diagnostics

// A place has the number of an update and of its target.
func.func @places(%x: tensor<4294967296x2xi8>, %u: tensor<2147483648x2xi8>, %at: tensor<2147483648x1xi64>) -> tensor<4294967296x2xi8> {
  // expected-error @+1 {{expected updates and the elements that they go to to be numbered by 62 bits, got 2147483648 updates of 4294967296 targets; compile for 'cpu'}}
  %0 = "stablehlo.scatter"(%x, %at, %u) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
  ^bb0(%a: tensor<i8>, %b: tensor<i8>):
    %s = stablehlo.add %a, %b : tensor<i8>
    stablehlo.return %s : tensor<i8>
  }) : (tensor<4294967296x2xi8>, tensor<2147483648x1xi64>, tensor<2147483648x2xi8>) -> tensor<4294967296x2xi8>
  return %0 : tensor<4294967296x2xi8>
}
