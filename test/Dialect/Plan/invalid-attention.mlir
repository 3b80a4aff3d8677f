// RUN: llmc-opt %s --split-input-file --verify-diagnostics

plan.program @p other {
  // expected-error @+1 {{'plan.library' op expected 5 operands of an attention, got 0}}
  plan.library on @C #plan.attention<[<row, 2, q = 2, out = 2, rows = 1>, <column, 2, k = 2, v = 2>, <depth, 2, q = 1, k = 1>, <value, 2, v = 1, out = 1>], accumulate = f32> operands([])
}

// -----

plan.program @p other {
  // expected-error @+1 {{'plan.library' op expected 7 operands of an attention, got 0}}
  plan.library on @C #plan.attention<[<row, 2, q = 2, out = 2, rows = 1>, <column, 2, k = 2, v = 2>, <depth, 2, q = 1, k = 1>, <value, 2, v = 1, out = 1>], accumulate = f32, causal = true, has_offset = true, has_bias = true> operands([])
}

// -----

plan.program @p other {
  // expected-error @+1 {{'plan.library' op expected 9 operands of an attention, got 0}}
  plan.library on @C #plan.attention<[<row, 2, q = 2, out = 2, rows = 1>, <column, 2, k = 2, v = 2>, <depth, 2, q = 1, k = 1>, <value, 2, v = 1, out = 1>], accumulate = f32, gradient = true> operands([])
}

// -----

plan.program @p other {
  // expected-error @+1 {{expected batch, row, column, depth or value, got 'm'}}
  plan.library on @C #plan.attention<[<m, 2>, <row, 2, q = 2, out = 2, rows = 1>, <column, 2, k = 2, v = 2>, <depth, 2, q = 1, k = 1>, <value, 2, v = 1, out = 1>], accumulate = f32> operands([])
}

// -----

plan.program @p other {
  // expected-error @+1 {{expected q, k, v, bias, out, rows, dq, dk, dv or bits, each once, got 'a'}}
  plan.library on @C #plan.attention<[<batch, 2, a = 1>, <row, 2, q = 2, out = 2, rows = 1>, <column, 2, k = 2, v = 2>, <depth, 2, q = 1, k = 1>, <value, 2, v = 1, out = 1>], accumulate = f32> operands([])
}

// -----

plan.program @p other {
  // expected-error @+1 {{expected q, k, v, bias, out, rows, dq, dk, dv or bits, each once, got 'q'}}
  plan.library on @C #plan.attention<[<batch, 2, q = 1, q = 1>, <row, 2, q = 2, out = 2, rows = 1>, <column, 2, k = 2, v = 2>, <depth, 2, q = 1, k = 1>, <value, 2, v = 1, out = 1>], accumulate = f32> operands([])
}

// -----

plan.program @p other {
  // expected-error @+1 {{expected a size of at least 1, got 0}}
  plan.library on @C #plan.attention<[<batch, 0>, <row, 2, q = 2, out = 2, rows = 1>, <column, 2, k = 2, v = 2>, <depth, 2, q = 1, k = 1>, <value, 2, v = 1, out = 1>], accumulate = f32> operands([])
}

// -----

plan.program @p other {
  // expected-error @+1 {{expected a stride of at least 0 of dv, got -1}}
  plan.library on @C #plan.attention<[<batch, 2, dv = -1>, <row, 2, q = 2, out = 2, rows = 1>, <column, 2, k = 2, v = 2>, <depth, 2, q = 1, k = 1>, <value, 2, v = 1, out = 1>], accumulate = f32> operands([])
}

// -----

plan.program @p other {
  // expected-error @+1 {{expected no stride where 'row' has no dim, got k = 1}}
  plan.library on @C #plan.attention<[<row, 2, k = 1>, <column, 2, k = 2, v = 2>, <depth, 2, q = 1, k = 1>, <value, 2, v = 1, out = 1>], accumulate = f32> operands([])
}

// -----

plan.program @p other {
  // expected-error @+1 {{expected no stride where 'value' has no dim, got rows = 1}}
  plan.library on @C #plan.attention<[<row, 2, q = 2, out = 2, rows = 1>, <column, 2, k = 2, v = 2>, <depth, 2, q = 1, k = 1>, <value, 2, rows = 1>], accumulate = f32> operands([])
}

// -----

plan.program @p other {
  // expected-error @+1 {{expected one dim of kind row, got 0}}
  plan.library on @C #plan.attention<[<column, 2, k = 2, v = 2>, <depth, 2, q = 1, k = 1>, <value, 2, v = 1, out = 1>], accumulate = f32> operands([])
}

// -----

plan.program @p other {
  // expected-error @+1 {{expected one dim of kind value, got 2}}
  plan.library on @C #plan.attention<[<row, 2, q = 2, out = 2, rows = 1>, <column, 2, k = 2, v = 2>, <depth, 2, q = 1, k = 1>, <value, 2, v = 1, out = 1>, <value, 2, v = 1, out = 1>], accumulate = f32> operands([])
}

// -----

plan.program @p other {
  // expected-error @+1 {{expected no stride of what is not there, got bias = 1}}
  plan.library on @C #plan.attention<[<batch, 2, bias = 1>, <row, 2, q = 2, out = 2, rows = 1>, <column, 2, k = 2, v = 2>, <depth, 2, q = 1, k = 1>, <value, 2, v = 1, out = 1>], accumulate = f32> operands([])
}

// -----

plan.program @p other {
  // expected-error @+1 {{expected no stride of what is not there, got dq = 1}}
  plan.library on @C #plan.attention<[<batch, 2, dq = 1>, <row, 2, q = 2, out = 2, rows = 1>, <column, 2, k = 2, v = 2>, <depth, 2, q = 1, k = 1>, <value, 2, v = 1, out = 1>], accumulate = f32> operands([])
}

// -----

plan.program @p other {
  // expected-error @+1 {{expected sums in f32 or f64, got 'bf16'}}
  plan.library on @C #plan.attention<[<row, 2, q = 2, out = 2, rows = 1>, <column, 2, k = 2, v = 2>, <depth, 2, q = 1, k = 1>, <value, 2, v = 1, out = 1>], accumulate = bf16> operands([])
}

// -----

plan.program @p other {
  // expected-error @+1 {{expected a shift or an offset only where causal}}
  plan.library on @C #plan.attention<[<row, 2, q = 2, out = 2, rows = 1>, <column, 2, k = 2, v = 2>, <depth, 2, q = 1, k = 1>, <value, 2, v = 1, out = 1>], accumulate = f32, shift = 1> operands([])
}

// -----

plan.program @p other {
  // expected-error @+1 {{expected a shift or an offset only where causal}}
  plan.library on @C #plan.attention<[<row, 2, q = 2, out = 2, rows = 1>, <column, 2, k = 2, v = 2>, <depth, 2, q = 1, k = 1>, <value, 2, v = 1, out = 1>], accumulate = f32, has_offset = true> operands([])
}

// -----

plan.program @p other {
  // expected-error @+1 {{expected no stride of what is not there, got bits = 1}}
  plan.library on @C #plan.attention<[<row, 2, q = 2, out = 2, rows = 1, bits = 1>, <column, 2, k = 2, v = 2>, <depth, 2, q = 1, k = 1>, <value, 2, v = 1, out = 1>], accumulate = f32> operands([])
}

// -----

plan.program @p other {
  // expected-error @+1 {{expected no stride where 'depth' has no dim, got bits = 1}}
  plan.library on @C #plan.attention<[<row, 2, q = 2, out = 2, rows = 1>, <column, 2, k = 2, v = 2>, <depth, 2, q = 1, k = 1, bits = 1>, <value, 2, v = 1, out = 1>], accumulate = f32, dropout = <jax32 below 7 factor 2.0>> operands([])
}

// -----

plan.program @p other {
  // expected-error @+1 {{'plan.library' op expected 6 operands of an attention, got 0}}
  plan.library on @C #plan.attention<[<row, 2, q = 2, out = 2, rows = 1, bits = 2>, <column, 2, k = 2, v = 2, bits = 1>, <depth, 2, q = 1, k = 1>, <value, 2, v = 1, out = 1>], accumulate = f32, dropout = <jax32 below 7 factor 2.0>> operands([])
}
