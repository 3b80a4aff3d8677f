// RUN: llmc-opt %s --split-input-file --verify-diagnostics

plan.program @p other {
  // expected-error @+1 {{expected rows that are a dim m or k of the product, got dim -1}}
  plan.library on @C #plan.grouped_contraction<product = <[<m, 4, a = 2, c = 4>, <n, 4, b = 1, c = 1>, <k, 2, a = 1, b = 4>], accumulate = f32>, rows = -1, num_sizes = 2, groups = 2, stride = 8> operands([#plan.use<read, <@x, [4, 2], f32>>, #plan.use<read, <@x, [2, 2, 4], f32>>, #plan.use<read, <@y, [2], i32>>, #plan.use<write, <@x, [4, 4], f32>>])
}

// -----

plan.program @p other {
  // expected-error @+1 {{expected rows that are a dim m or k of the product, got dim 3}}
  plan.library on @C #plan.grouped_contraction<product = <[<m, 4, a = 2, c = 4>, <n, 4, b = 1, c = 1>, <k, 2, a = 1, b = 4>], accumulate = f32>, rows = 3, num_sizes = 2, groups = 2, stride = 8> operands([#plan.use<read, <@x, [4, 2], f32>>, #plan.use<read, <@x, [2, 2, 4], f32>>, #plan.use<read, <@y, [2], i32>>, #plan.use<write, <@x, [4, 4], f32>>])
}

// -----

plan.program @p other {
  // expected-error @+1 {{expected rows that are a dim m or k of the product, got dim 1}}
  plan.library on @C #plan.grouped_contraction<product = <[<m, 4, a = 2, c = 4>, <n, 4, b = 1, c = 1>, <k, 2, a = 1, b = 4>], accumulate = f32>, rows = 1, num_sizes = 2, groups = 2, stride = 8> operands([#plan.use<read, <@x, [4, 2], f32>>, #plan.use<read, <@x, [2, 2, 4], f32>>, #plan.use<read, <@y, [2], i32>>, #plan.use<write, <@x, [4, 4], f32>>])
}

// -----

plan.program @p other {
  // expected-error @+1 {{expected numbers of at least 0, got -1, 2 and 8}}
  plan.library on @C #plan.grouped_contraction<product = <[<m, 4, a = 2, c = 4>, <n, 4, b = 1, c = 1>, <k, 2, a = 1, b = 4>], accumulate = f32>, rows = 0, num_sizes = -1, groups = 2, stride = 8> operands([#plan.use<read, <@x, [4, 2], f32>>, #plan.use<read, <@x, [2, 2, 4], f32>>, #plan.use<read, <@y, [2], i32>>, #plan.use<write, <@x, [4, 4], f32>>])
}

// -----

plan.program @p other {
  // expected-error @+1 {{expected numbers of at least 0, got 2, -1 and 8}}
  plan.library on @C #plan.grouped_contraction<product = <[<m, 4, a = 2, c = 4>, <n, 4, b = 1, c = 1>, <k, 2, a = 1, b = 4>], accumulate = f32>, rows = 0, num_sizes = 2, groups = -1, stride = 8> operands([#plan.use<read, <@x, [4, 2], f32>>, #plan.use<read, <@x, [2, 2, 4], f32>>, #plan.use<read, <@y, [2], i32>>, #plan.use<write, <@x, [4, 4], f32>>])
}

// -----

plan.program @p other {
  // expected-error @+1 {{expected numbers of at least 0, got 2, 2 and -1}}
  plan.library on @C #plan.grouped_contraction<product = <[<m, 4, a = 2, c = 4>, <n, 4, b = 1, c = 1>, <k, 2, a = 1, b = 4>], accumulate = f32>, rows = 0, num_sizes = 2, groups = 2, stride = -1> operands([#plan.use<read, <@x, [4, 2], f32>>, #plan.use<read, <@x, [2, 2, 4], f32>>, #plan.use<read, <@y, [2], i32>>, #plan.use<write, <@x, [4, 4], f32>>])
}

// -----

plan.program @p other {
  // expected-error @+1 {{expected a product without bias, alpha and activation}}
  plan.library on @C #plan.grouped_contraction<product = <[<m, 4, a = 2, c = 4>, <n, 4, b = 1, c = 1>, <k, 2, a = 1, b = 4>], accumulate = f32, has_bias = true>, rows = 0, num_sizes = 2, groups = 2, stride = 8> operands([#plan.use<read, <@x, [4, 2], f32>>, #plan.use<read, <@x, [2, 2, 4], f32>>, #plan.use<read, <@y, [2], i32>>, #plan.use<write, <@x, [4, 4], f32>>])
}

// -----

plan.program @p other {
  // expected-error @+1 {{expected a product without bias, alpha and activation}}
  plan.library on @C #plan.grouped_contraction<product = <[<m, 4, a = 2, c = 4>, <n, 4, b = 1, c = 1>, <k, 2, a = 1, b = 4>], accumulate = f32, alpha = 2.0 : f64>, rows = 0, num_sizes = 2, groups = 2, stride = 8> operands([#plan.use<read, <@x, [4, 2], f32>>, #plan.use<read, <@x, [2, 2, 4], f32>>, #plan.use<read, <@y, [2], i32>>, #plan.use<write, <@x, [4, 4], f32>>])
}

// -----

plan.program @p other {
  // expected-error @+1 {{expected a product without bias, alpha and activation}}
  plan.library on @C #plan.grouped_contraction<product = <[<m, 4, a = 2, c = 4>, <n, 4, b = 1, c = 1>, <k, 2, a = 1, b = 4>], accumulate = f32, activation = relu>, rows = 0, num_sizes = 2, groups = 2, stride = 8> operands([#plan.use<read, <@x, [4, 2], f32>>, #plan.use<read, <@x, [2, 2, 4], f32>>, #plan.use<read, <@y, [2], i32>>, #plan.use<write, <@x, [4, 4], f32>>])
}
