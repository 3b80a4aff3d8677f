// RUN: llmc-opt %s --split-input-file --verify-diagnostics

plan.program @p other {
  // expected-error @+1 {{'plan.library' op expected 3 operands of a contraction, got 2}}
  plan.library on @C #plan.contraction<[<m, 4, a = 1, c = 1>], accumulate = f32> operands([#plan.use<read, <@x, [4], f32>>, #plan.use<write, <@x, [4], f32>>])
}

// -----

plan.program @p other {
  // expected-error @+1 {{'plan.library' op expected 4 operands of a contraction, got 3}}
  plan.library on @C #plan.contraction<[<m, 4, a = 1, c = 1>], accumulate = f32, has_bias = true> operands([#plan.use<read, <@x, [4], f32>>, #plan.use<read, <@x, [4], f32>>, #plan.use<write, <@x, [4], f32>>])
}

// -----

plan.program @p other {
  // expected-error @+1 {{'plan.library' op expected access 'readwrite' of operand c, got 'write'}}
  plan.library on @C #plan.contraction<[<m, 4, a = 1, c = 1>], accumulate = f32, beta = 1> operands([#plan.use<read, <@x, [4], f32>>, #plan.use<read, <@x, [4], f32>>, #plan.use<write, <@x, [4], f32>>])
}

// -----

plan.program @p other {
  // expected-error @+1 {{'plan.library' op expected access 'read' of operand a, got 'write'}}
  plan.library on @C #plan.contraction<[<m, 4, a = 1, c = 1>], accumulate = f32> operands([#plan.use<write, <@x, [4], f32>>, #plan.use<read, <@x, [4], f32>>, #plan.use<write, <@x, [4], f32>>])
}

// -----

plan.program @p other {
  // expected-error @+1 {{'plan.library' op expected workspace bytes of at least 0, got -1}}
  plan.library on @C #plan.contraction<[<m, 4, a = 1, c = 1>], accumulate = f32> operands([#plan.use<read, <@x, [4], f32>>, #plan.use<read, <@x, [4], f32>>, #plan.use<write, <@x, [4], f32>>]) workspace_bytes(-1)
}

// -----

plan.program @p other {
  // expected-error @+1 {{'plan.library' op expected a form from 0 to 255, got 256}}
  plan.library on @C #plan.contraction<[<m, 4, a = 1, c = 1>], accumulate = f32> operands([#plan.use<read, <@x, [4], f32>>, #plan.use<read, <@x, [4], f32>>, #plan.use<write, <@x, [4], f32>>]) form(256)
}

// -----

plan.program @p other {
  // expected-error @+1 {{'plan.library' op expected a workspace of 65 bytes, got 64}}
  plan.library on @C #plan.contraction<[<m, 4, a = 1, c = 1>], accumulate = f32> operands([#plan.use<read, <@x, [4], f32>>, #plan.use<read, <@x, [4], f32>>, #plan.use<write, <@x, [4], f32>>]) workspace_bytes(65) workspace(<@s, [64], i8>)
}

// -----

plan.program @p other {
  // expected-error @+1 {{'plan.library' op expected a workspace of 1 bytes, got 0}}
  plan.library on @C #plan.contraction<[<m, 4, a = 1, c = 1>], accumulate = f32> operands([#plan.use<read, <@x, [4], f32>>, #plan.use<read, <@x, [4], f32>>, #plan.use<write, <@x, [4], f32>>]) workspace_bytes(1)
}

// -----

plan.program @p other {
  // expected-error @+1 {{expected a beta of 0 or 1, got 2}}
  plan.library on @C #plan.contraction<[<m, 4, a = 1, c = 1>], accumulate = f32, beta = 2> operands([#plan.use<read, <@x, [4], f32>>, #plan.use<read, <@x, [4], f32>>, #plan.use<write, <@x, [4], f32>>])
}

// -----

plan.program @p other {
  // expected-error @+1 {{expected sums in a type that the runtime stores, got 'index'}}
  plan.library on @C #plan.contraction<[<m, 4, a = 1, c = 1>], accumulate = index> operands([#plan.use<read, <@x, [4], f32>>, #plan.use<read, <@x, [4], f32>>, #plan.use<write, <@x, [4], f32>>])
}

// -----

plan.program @p other {
  // expected-error @+1 {{expected no stride of a bias that is not there, got 1}}
  plan.library on @C #plan.contraction<[<m, 4, a = 1, c = 1, bias = 1>], accumulate = f32> operands([#plan.use<read, <@x, [4], f32>>, #plan.use<read, <@x, [4], f32>>, #plan.use<write, <@x, [4], f32>>])
}

// -----

plan.program @p other {
  // expected-error @+1 {{expected a size of at least 1, got 0}}
  plan.library on @C #plan.contraction<[<m, 0>], accumulate = f32> operands([#plan.use<read, <@x, [4], f32>>, #plan.use<read, <@x, [4], f32>>, #plan.use<write, <@x, [4], f32>>])
}

// -----

plan.program @p other {
  // expected-error @+1 {{expected strides of at least 0, got -1, 0, 0 and 0}}
  plan.library on @C #plan.contraction<[<m, 4, a = -1>], accumulate = f32> operands([#plan.use<read, <@x, [4], f32>>, #plan.use<read, <@x, [4], f32>>, #plan.use<write, <@x, [4], f32>>])
}

// -----

plan.program @p other {
  // expected-error @+1 {{expected strides of at least 0, got 0, 0, 0 and -1}}
  plan.library on @C #plan.contraction<[<m, 4, bias = -1>], accumulate = f32> operands([#plan.use<read, <@x, [4], f32>>, #plan.use<read, <@x, [4], f32>>, #plan.use<write, <@x, [4], f32>>])
}

// -----

plan.program @p other {
  // expected-error @+1 {{expected no stride where 'm' has no dim, got a = 0, b = 1, c = 0, bias = 0}}
  plan.library on @C #plan.contraction<[<m, 4, b = 1>], accumulate = f32> operands([#plan.use<read, <@x, [4], f32>>, #plan.use<read, <@x, [4], f32>>, #plan.use<write, <@x, [4], f32>>])
}

// -----

plan.program @p other {
  // expected-error @+1 {{expected no stride where 'k' has no dim, got a = 0, b = 0, c = 0, bias = 1}}
  plan.library on @C #plan.contraction<[<k, 4, bias = 1>], accumulate = f32> operands([#plan.use<read, <@x, [4], f32>>, #plan.use<read, <@x, [4], f32>>, #plan.use<write, <@x, [4], f32>>])
}

// -----

plan.program @p other {
  // expected-error @+1 {{invalid kind of attribute specified}}
  plan.library on @C 4 operands([])
}

// -----

plan.program @p other {
  // expected-error @+1 {{expected strides of at least 0, got 0, -1, 0 and 0}}
  plan.library on @C #plan.contraction<[<m, 4, a = 1, c = 1>, <n, 4, b = -1>], accumulate = f32> operands([])
}

// -----

plan.program @p other {
  // expected-error @+1 {{expected strides of at least 0, got 0, 0, -1 and 0}}
  plan.library on @C #plan.contraction<[<m, 4, a = 1, c = 1>, <n, 4, c = -1>], accumulate = f32> operands([])
}

// -----

plan.program @p other {
  // expected-error @+1 {{expected no stride where 'n' has no dim, got a = 1, b = 0, c = 0, bias = 0}}
  plan.library on @C #plan.contraction<[<m, 4, a = 1, c = 1>, <n, 4, a = 1>], accumulate = f32> operands([])
}

// -----

plan.program @p other {
  // expected-error @+1 {{expected no stride where 'k' has no dim, got a = 0, b = 0, c = 1, bias = 0}}
  plan.library on @C #plan.contraction<[<m, 4, a = 1, c = 1>, <k, 4, c = 1>], accumulate = f32> operands([])
}

// -----

plan.program @p other {
  // expected-error @+1 {{expected no stride of a bias that is not there, got 2}}
  plan.library on @C #plan.contraction<[<m, 4>, <n, 4, bias = 2>], accumulate = f32> operands([])
}

// -----

plan.program @p other {
  // expected-error @+1 {{expected a beta of 0 or 1, got -1}}
  plan.library on @C #plan.contraction<[<m, 4>], accumulate = f32, beta = -1> operands([])
}

// -----

plan.program @p other {
  // expected-error @+1 {{'plan.library' op expected access 'read' of operand bias, got 'write'}}
  plan.library on @C #plan.contraction<[<m, 4>], accumulate = f32, has_bias = true> operands([#plan.use<read, <@x, [4], f32>>, #plan.use<read, <@x, [4], f32>>, #plan.use<write, <@x, [4], f32>>, #plan.use<write, <@x, [4], f32>>])
}

// -----

plan.program @p other {
  // expected-error @+1 {{expected '<'}}
  plan.library on @C #plan.contraction<[], accumulate = f32> operands([])
}

// -----

plan.program @p other {
  // expected-error @+1 {{expected batch, m, n or k, got 'q'}}
  plan.library on @C #plan.contraction<[<m, 4>, <q, 4>], accumulate = f32> operands([])
}

// -----

plan.program @p other {
  // expected-error @+1 {{expected integer value}}
  plan.library on @C #plan.contraction<[<m, four>], accumulate = f32> operands([])
}

// -----

plan.program @p other {
  // expected-error @+1 {{expected a, b, c or bias, each once, got 'd'}}
  plan.library on @C #plan.contraction<[<m, 4, a = 1, d = 1>], accumulate = f32> operands([])
}

// -----

plan.program @p other {
  // expected-error @+1 {{expected a, b, c or bias, each once, got 'a'}}
  plan.library on @C #plan.contraction<[<m, 4, a = 1, a = 1>], accumulate = f32> operands([])
}

// -----

plan.program @p other {
  // expected-error @+1 {{expected a size of at least 1, got -2}}
  plan.library on @C #plan.contraction<[#plan.dim<m, -2>], accumulate = f32> operands([])
}

// -----

plan.program @p other {
  // expected-error @+1 {{expected three sizes and steps of at least 1 and strides of at least 0, got [4, 3], [1, 1, 1] and [1, 1, 1]}}
  plan.library on @C #plan.convolution<[<m, 4>], windows = [<sizes = [4, 3], strides = [1, 1, 1], steps = [1, 1, 1]>], accumulate = f32> operands([])
}

// -----

plan.program @p other {
  // expected-error @+1 {{expected three sizes and steps of at least 1 and strides of at least 0, got [4, 3, 0], [1, 1, 1] and [1, 1, 1]}}
  plan.library on @C #plan.convolution<[<m, 4>], windows = [<sizes = [4, 3, 0], strides = [1, 1, 1], steps = [1, 1, 1]>], accumulate = f32> operands([])
}

// -----

plan.program @p other {
  // expected-error @+1 {{expected three sizes and steps of at least 1 and strides of at least 0, got [4, 3, 2], [1, 0, 1] and [1, 1, 1]}}
  plan.library on @C #plan.convolution<[<m, 4>], windows = [<sizes = [4, 3, 2], strides = [1, 1, 1], steps = [1, 0, 1]>], accumulate = f32> operands([])
}

// -----

plan.program @p other {
  // expected-error @+1 {{expected three sizes and steps of at least 1 and strides of at least 0, got [4, 3, 2], [1, 1, 1] and [1, -1, 1]}}
  plan.library on @C #plan.convolution<[<m, 4>], windows = [<sizes = [4, 3, 2], strides = [1, -1, 1], steps = [1, 1, 1]>], accumulate = f32> operands([])
}

// -----

plan.program @p other {
  // expected-error @+1 {{expected a beta of 0 or 1, got 2}}
  plan.library on @C #plan.convolution<[<m, 4>], windows = [], accumulate = f32, beta = 2> operands([])
}

// -----

plan.program @p other {
  // expected-error @+1 {{expected no stride of a bias that is not there, got 1}}
  plan.library on @C #plan.convolution<[<m, 4, bias = 1>], windows = [], accumulate = f32> operands([])
}

// -----

plan.program @p other {
  // expected-error @+1 {{expected sums in a type that the runtime stores, got 'index'}}
  plan.library on @C #plan.convolution<[<m, 4>], windows = [], accumulate = index> operands([])
}

// -----

plan.program @p other {
  // expected-error @+1 {{expected at least one key, got none}}
  plan.library on @C #plan.argsort<outer = 2, size = 8, inner = 1, count = 3, descending = []> operands([#plan.use<read, <@x, [2, 8], f32>>, #plan.use<write, <@y, [2, 3], i32>>])
}

// -----

plan.program @p other {
  // expected-error @+1 {{expected numbers of at least 0 and a size below 2^31, got -2, 8 and 1}}
  plan.library on @C #plan.argsort<outer = -2, size = 8, inner = 1, count = 3, descending = [true]> operands([#plan.use<read, <@x, [2, 8], f32>>, #plan.use<write, <@y, [2, 3], i32>>])
}

// -----

plan.program @p other {
  // expected-error @+1 {{expected numbers of at least 0 and a size below 2^31, got 2, 2147483648 and 1}}
  plan.library on @C #plan.argsort<outer = 2, size = 2147483648, inner = 1, count = 3, descending = [true]> operands([#plan.use<read, <@x, [2, 8], f32>>, #plan.use<write, <@y, [2, 3], i32>>])
}

// -----

plan.program @p other {
  // expected-error @+1 {{expected numbers of at least 0 and a size below 2^31, got 2, 8 and -1}}
  plan.library on @C #plan.argsort<outer = 2, size = 8, inner = -1, count = 3, descending = [true]> operands([#plan.use<read, <@x, [2, 8], f32>>, #plan.use<write, <@y, [2, 3], i32>>])
}

// -----

plan.program @p other {
  // expected-error @+1 {{expected a count of at most the size 8, got 9}}
  plan.library on @C #plan.argsort<outer = 2, size = 8, inner = 1, count = 9, descending = [true]> operands([#plan.use<read, <@x, [2, 8], f32>>, #plan.use<write, <@y, [2, 3], i32>>])
}

// -----

plan.program @p other {
  // expected-error @+1 {{expected a count of at most the size 8, got -1}}
  plan.library on @C #plan.argsort<outer = 2, size = 8, inner = 1, count = -1, descending = [true]> operands([#plan.use<read, <@x, [2, 8], f32>>, #plan.use<write, <@y, [2, 3], i32>>])
}

// -----

plan.program @p other {
  // expected-error @+1 {{'plan.library' op expected 3 operands of an argsort, got 2}}
  plan.library on @C #plan.argsort<outer = 2, size = 8, inner = 1, count = 3, descending = [true, false]> operands([#plan.use<read, <@x, [2, 8], f32>>, #plan.use<write, <@y, [2, 3], i32>>])
}
