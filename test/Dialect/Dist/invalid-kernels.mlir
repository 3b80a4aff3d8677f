// RUN: llmc-opt %s --split-input-file --verify-diagnostics

func.func @f(%a: tensor<4xf32>) {
  // expected-error @+1 {{'dist.launch' op expected scratch of at least 0 bytes, got -1}}
  %0 = dist.launch @k(%a) {scratch = -1} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%a: tensor<4xf32>) {
  // expected-error @+1 {{'dist.launch' op expected [result, operand] in `tied`, got 0 : i64}}
  %0 = dist.launch @k(%a) {tied = [0]} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%a: tensor<4xf32>) {
  // expected-error @+1 {{'dist.launch' op expected tied pairs of 1 results and 1 operands, got [0, 1]}}
  %0 = dist.launch @k(%a) {tied = [[0, 1]]} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%a: tensor<4xf32>) {
  // expected-error @+1 {{'dist.launch' op expected results and operands tied once, got [1, 0] again}}
  %0:2 = dist.launch @k(%a) {tied = [[0, 0], [1, 0]]} : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @f(%a: tensor<4xf32>) {
  // expected-error @+1 {{'dist.launch' op expected tied types of equal size, got 'tensor<4xf64>' and 'tensor<4xf32>'}}
  %0 = dist.launch @k(%a) {tied = [[0, 0]]} : (tensor<4xf32>) -> tensor<4xf64>
  return
}

// -----

func.func @f(%a: tensor<4x4xf32>, %b: tensor<4x4xf64>) {
  // expected-error @+1 {{'dist.contract' op expected sides of equal element type or of floats of 8 bits, got 'f32' and 'f64'}}
  %0 = dist.contract %a, %b batch [] x [] contracting [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf64>) -> tensor<4x4xf32>
  return
}

// -----

func.func @f(%a: tensor<4x4xf32>) {
  // expected-error @+1 {{'dist.contract' op expected distinct dims of the left side of 'tensor<4x4xf32>', got 2}}
  %0 = dist.contract %a, %a batch [] x [] contracting [2] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @f(%a: tensor<4x4xf32>) {
  // expected-error @+1 {{'dist.contract' op expected as many contracting dims on both sides, got 1 and 0}}
  %0 = dist.contract %a, %a batch [] x [] contracting [1] x [] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @f(%a: tensor<4x2xf32>) {
  // expected-error @+1 {{'dist.contract' op expected contracting dims of equal size, got 2 and 4}}
  %0 = dist.contract %a, %a batch [] x [] contracting [1] x [0] : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @f(%a: tensor<4x2xf32>) {
  // expected-error @+1 {{'dist.contract' op expected a result of shape [4, 4], got 'tensor<4x2xf32>'}}
  %0 = dist.contract %a, %a batch [] x [] contracting [1] x [1] : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @f(%a: tensor<4x2xf32>, %c: tensor<4x4xf64>) {
  // expected-error @+1 {{'dist.contract' op expected an accumulator of 'tensor<4x4xf32>', got 'tensor<4x4xf64>'}}
  %0 = dist.contract %a, %a plus %c batch [] x [] contracting [1] x [1] : (tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x4xf64>) -> tensor<4x4xf32>
  return
}

// -----

func.func private @code(memref<4xf32>, index, index, memref<0xi8>)
// expected-error @+1 {{expected read, write, readwrite or scalar, got 'reads'}}
dist.kernel @k(reads tensor<4xf32>) for "cpu" by @code

// -----

func.func private @code(memref<4xf32>, index, index, memref<0xi8>)
// expected-error @+1 {{expected 'below'}}
dist.kernel @k(scalar i32) for "cpu" by @code

// -----

func.func private @code(memref<4xf32>, index, index, memref<0xi8>)
// expected-error @+1 {{expected a scalar to be an integer below a bound of at least 1, got 'i32' below 0}}
dist.kernel @k(scalar i32 below 0) for "cpu" by @code

// -----

func.func private @code(memref<4xf32>, index, index, memref<0xi8>)
// expected-error @+1 {{expected a scalar to be an integer below a bound of at least 1, got 'f32' below 4}}
dist.kernel @k(scalar f32 below 4) for "cpu" by @code

// -----

func.func private @code(memref<4xf32>, index, index, memref<0xi8>)
// expected-error @+1 {{expected memory to be a tensor of one static dimension, got 'tensor<2x2xf32>'}}
dist.kernel @k(read tensor<2x2xf32>) for "cpu" by @code

// -----

func.func private @code(memref<4xf32>, index, index, memref<0xi8>)
// expected-error @+1 {{expected memory to be a tensor of one static dimension, got 'tensor<?xf32>'}}
dist.kernel @k(read tensor<?xf32>) for "cpu" by @code

// -----

func.func private @code(memref<4xf32>, index, index, memref<0xi8>)
// expected-error @+1 {{expected memory to be a tensor of one static dimension, got 'memref<4xf32>'}}
dist.kernel @k(read memref<4xf32>) for "cpu" by @code

// -----

func.func private @code(memref<4xf32>, index, index, memref<0xi8>)
// expected-error @+1 {{expected the name of a target, got ""}}
dist.kernel @k(read tensor<4xf32>) for "" by @code

// -----

func.func private @code(memref<4xf32>, index, index, memref<0xi8>)
// expected-error @+1 {{expected rows and scratch of at least 0, got -1 and 0}}
dist.kernel @k(read tensor<4xf32>) for "cpu" rows(-1) by @code

// -----

func.func private @code(memref<4xf32>, index, index, memref<0xi8>)
// expected-error @+1 {{expected rows and scratch of at least 0, got 1 and -1}}
dist.kernel @k(read tensor<4xf32>) for "cpu" scratch(-1) by @code

// -----

func.func private @code(memref<4xf32>, index, index, memref<0xi8>)
// expected-error @+1 {{expected function @none beside the kernel, got none}}
dist.kernel @k(read tensor<4xf32>) for "cpu" by @none

// -----

func.func private @code(memref<4xf32>, index, index, memref<0xi8>)
// expected-error @+1 {{expected @code to be '(memref<5xf32>, index, index, memref<0xi8>) -> ()', got '(memref<4xf32>, index, index, memref<0xi8>) -> ()'}}
dist.kernel @k(read tensor<5xf32>) for "cpu" by @code

// -----

func.func private @code(memref<4xf32>, index, index, memref<0xi8>)
// expected-error @+1 {{expected @code to be '(memref<4xi32>, index, index, memref<0xi8>) -> ()'}}
dist.kernel @k(read tensor<4xi32>) for "cpu" by @code

// -----

func.func private @code(memref<4xf32>, index, index, memref<0xi8>)
// expected-error @+1 {{expected @code to be '(memref<4xf32>, index, index, memref<64xi8>) -> ()'}}
dist.kernel @k(read tensor<4xf32>) for "cpu" scratch(64) by @code

// -----

func.func private @code(memref<4xf32>, index, index, memref<0xi8>)
// expected-error @+1 {{expected @code to be '(index, memref<4xf32>, index, index, memref<0xi8>) -> ()'}}
dist.kernel @k(scalar i32 below 2, read tensor<4xf32>) for "cpu" by @code

// -----

// expected-error @+1 {{expected memory to be a tensor of one static dimension, got 'tensor<4xf32>' with a bound}}
func.func private @bounded() attributes {a = #dist.argument<read, tensor<4xf32>, 4>}

// -----

// expected-error @+1 {{expected at least 1 row, 1 thread and 0 shared bytes, got 0, 1 and 0}}
func.func private @shape() attributes {a = #dist.launch_shape<rows = 0>}

// -----

// expected-error @+1 {{expected at least 1 row, 1 thread and 0 shared bytes, got 1, 0 and 0}}
func.func private @shape() attributes {a = #dist.launch_shape<threads = 0>}

// -----

// expected-error @+1 {{expected at least 1 row, 1 thread and 0 shared bytes, got 1, 1 and -1}}
func.func private @shape() attributes {a = #dist.launch_shape<shared = -1>}

// -----

// expected-error @+1 {{expected at least 1 row, 1 thread and 0 shared bytes, got 1, 2147483648 and 0}}
func.func private @shape() attributes {a = #dist.launch_shape<threads = 2147483648>}

// -----

// expected-error @+1 {{expected an alignment of a power of two up to 64, got 128}}
func.func private @shape() attributes {a = #dist.launch_shape<align = 128>}

// -----

// expected-error @+1 {{expected an alignment of a power of two up to 64, got 24}}
func.func private @shape() attributes {a = #dist.launch_shape<align = 24>}

// -----

// expected-error @+1 {{expected an alignment of a power of two up to 64, got 0}}
func.func private @shape() attributes {a = #dist.launch_shape<align = 0>}

// -----

// expected-error @+1 {{expected memory to be a tensor of one static dimension, got 'tensor<4xf32, #dist.layout<@mesh, [{}]>>'}}
func.func private @placed() attributes {a = #dist.argument<read, tensor<4xf32, #dist.layout<@mesh, [{}]>>>}

// -----

// expected-error @+1 {{expected memory to be a tensor of one static dimension, got 'tensor<4xindex>'}}
func.func private @index() attributes {a = #dist.argument<write, tensor<4xindex>>}

// -----

// The first and the last numbers of a launch that are accepted.
func.func private @shape() attributes {a = #dist.launch_shape<rows = 2147483647, threads = 2147483647, shared = 2147483647, align = 64>, b = #dist.launch_shape<rows = 1>}

// -----

// expected-error @+1 {{expected at least 1 row, 1 thread and 0 shared bytes, got 2147483648, 1 and 0}}
func.func private @shape() attributes {a = #dist.launch_shape<rows = 2147483648>}

// -----

// expected-error @+1 {{expected at least 1 row, 1 thread and 0 shared bytes, got 1, 1 and 2147483648}}
func.func private @shape() attributes {a = #dist.launch_shape<shared = 2147483648>}

// -----

func.func @f(%a: tensor<4xf32>) {
  // expected-error @+1 {{'dist.launch' op expected [result, operand] in `tied`, got [0]}}
  %0 = dist.launch @k(%a) {tied = [[0, 0], [0]]} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%a: tensor<4xf32>) {
  // expected-error @+1 {{'dist.launch' op expected [result, operand] in `tied`, got [0, 0, 0]}}
  %0 = dist.launch @k(%a) {tied = [[0, 0, 0]]} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%a: tensor<4xf32>) {
  // expected-error @+1 {{'dist.launch' op expected [result, operand] in `tied`, got ["0", 0]}}
  %0 = dist.launch @k(%a) {tied = [["0", 0]]} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%a: tensor<4xf32>) {
  // expected-error @+1 {{'dist.launch' op expected [result, operand] in `tied`, got [0, "0"]}}
  %0 = dist.launch @k(%a) {tied = [[0, "0"]]} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%a: tensor<4xf32>) {
  // expected-error @+1 {{'dist.launch' op expected tied pairs of 1 results and 1 operands, got [-1, 0]}}
  %0 = dist.launch @k(%a) {tied = [[-1, 0]]} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%a: tensor<4xf32>) {
  // expected-error @+1 {{'dist.launch' op expected tied pairs of 1 results and 1 operands, got [1, 0]}}
  %0 = dist.launch @k(%a) {tied = [[1, 0]]} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%a: tensor<4xf32>) {
  // expected-error @+1 {{'dist.launch' op expected tied pairs of 1 results and 1 operands, got [0, -1]}}
  %0 = dist.launch @k(%a) {tied = [[0, -1]]} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%a: tensor<4xf32>, %b: tensor<4xf32>) {
  // expected-error @+1 {{'dist.launch' op expected results and operands tied once, got [0, 1] again}}
  %0 = dist.launch @k(%a, %b) {tied = [[0, 0], [0, 1]]} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// Types without a size have no equal one.
func.func @f(%a: tensor<4xf32>, %b: tensor<?xf32>) {
  // expected-error @+1 {{'dist.launch' op expected tied types of equal size, got 'tensor<?xf32>' and 'tensor<?xf32>'}}
  %0:2 = dist.launch @k(%a, %b) {tied = [[0, 0], [1, 1]]} : (tensor<4xf32>, tensor<?xf32>) -> (tensor<4xf32>, tensor<?xf32>)
  return
}

// -----

func.func @f(%a: tensor<4xindex>) {
  // expected-error @+1 {{'dist.launch' op expected tied types of equal size, got 'tensor<4xindex>' and 'tensor<4xindex>'}}
  %0 = dist.launch @k(%a) {tied = [[0, 0]]} : (tensor<4xindex>) -> tensor<4xindex>
  return
}

// -----

func.func @f(%a: memref<4xf32>) {
  // expected-error @+1 {{'dist.launch' op expected tied types of equal size, got 'tensor<4xf32>' and 'memref<4xf32>'}}
  %0 = dist.launch @k(%a) {tied = [[0, 0]]} : (memref<4xf32>) -> tensor<4xf32>
  return
}

// -----

// Other types of as many bits share a buffer.
func.func @f(%a: tensor<4xf32>, %b: tensor<2x2xf64>) {
  %0:2 = dist.launch @k(%a, %b) {tied = [[0, 1], [1, 0]]} : (tensor<4xf32>, tensor<2x2xf64>) -> (tensor<8xi32>, tensor<2xf64>)
  return
}

// -----

func.func @f(%a: tensor<4x4xf32>) {
  // expected-error @+1 {{'dist.contract' op expected distinct dims of the left side of 'tensor<4x4xf32>', got -1}}
  %0 = dist.contract %a, %a batch [-1] x [0] contracting [1] x [1] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%a: tensor<4x4xf32>) {
  // expected-error @+1 {{'dist.contract' op expected distinct dims of the left side of 'tensor<4x4xf32>', got 1}}
  %0 = dist.contract %a, %a batch [1] x [0] contracting [1] x [1] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%a: tensor<4x4xf32>, %b: tensor<4x4x4xf32>) {
  // expected-error @+1 {{'dist.contract' op expected distinct dims of the right side of 'tensor<4x4x4xf32>', got 3}}
  %0 = dist.contract %a, %b batch [0] x [0] contracting [1] x [3] : (tensor<4x4xf32>, tensor<4x4x4xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @f(%a: tensor<4x4xf32>) {
  // expected-error @+1 {{'dist.contract' op expected distinct dims of the right side of 'tensor<4x4xf32>', got 0}}
  %0 = dist.contract %a, %a batch [] x [] contracting [0, 1] x [0, 0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%a: tensor<4x4xf32>) {
  // expected-error @+1 {{'dist.contract' op expected as many batch dims on both sides, got 0 and 1}}
  %0 = dist.contract %a, %a batch [] x [0] contracting [1] x [1] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @f(%a: tensor<4x2x3xf32>, %b: tensor<4x5x3xf32>) {
  // expected-error @+1 {{'dist.contract' op expected batch dims of equal size, got 2 and 5}}
  %0 = dist.contract %a, %b batch [0, 1] x [0, 1] contracting [2] x [2] : (tensor<4x2x3xf32>, tensor<4x5x3xf32>) -> tensor<4x2xf32>
  return
}

// -----

// The result has the batch dims, then those left of each side.
func.func @f(%a: tensor<5x2x3xf32>, %b: tensor<3x7x5xf32>) {
  %0 = dist.contract %a, %b batch [0] x [2] contracting [2] x [0] : (tensor<5x2x3xf32>, tensor<3x7x5xf32>) -> tensor<5x2x7xf32>
  // expected-error @+1 {{'dist.contract' op expected a result of shape [5, 2, 7], got 'tensor<2x5x7xf32>'}}
  %1 = dist.contract %a, %b batch [0] x [2] contracting [2] x [0] : (tensor<5x2x3xf32>, tensor<3x7x5xf32>) -> tensor<2x5x7xf32>
  return
}

// -----

func.func @f(%a: tensor<4x6xf32>, %b: tensor<4x5xf32>) {
  // expected-error @+1 {{'dist.contract' op expected contracting dims of equal size, got 6 and 5}}
  %0 = dist.contract %a, %b batch [] x [] contracting [0, 1] x [0, 1] : (tensor<4x6xf32>, tensor<4x5xf32>) -> tensor<f32>
  return
}

// -----

func.func @f(%a: tensor<4x2xf32>, %b: tensor<2x6xf32>, %c: tensor<4x6xf32>, %d: tensor<6xf32>) {
  // expected-error @+1 {{'dist.contract' op expected an accumulator or a bias, got both}}
  %0 = dist.contract %a, %b plus %c bias %d batch [] x [] contracting [1] x [0] : (tensor<4x2xf32>, tensor<2x6xf32>, tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
  return
}

// -----

func.func @f(%a: tensor<4x2xf32>, %b: tensor<2x6xf32>, %d: tensor<4xf32>) {
  // expected-error @+1 {{'dist.contract' op expected a bias of 'tensor<6xf32>', got 'tensor<4xf32>'}}
  %0 = dist.contract %a, %b bias %d batch [] x [] contracting [1] x [0] : (tensor<4x2xf32>, tensor<2x6xf32>, tensor<4xf32>) -> tensor<4x6xf32>
  return
}

// -----

func.func @f(%a: tensor<4x2xf32>, %b: tensor<2x6xf32>, %d: tensor<6xf64>) {
  // expected-error @+1 {{'dist.contract' op expected a bias of 'tensor<6xf32>', got 'tensor<6xf64>'}}
  %0 = dist.contract %a, %b bias %d batch [] x [] contracting [1] x [0] : (tensor<4x2xf32>, tensor<2x6xf32>, tensor<6xf64>) -> tensor<4x6xf32>
  return
}

// -----

func.func @f(%a: tensor<4x2xf32>, %b: tensor<2x3x6xf32>, %d: tensor<6x3xf32>) {
  // expected-error @+1 {{'dist.contract' op expected a bias of 'tensor<3x6xf32>', got 'tensor<6x3xf32>'}}
  %0 = dist.contract %a, %b bias %d batch [] x [] contracting [1] x [0] : (tensor<4x2xf32>, tensor<2x3x6xf32>, tensor<6x3xf32>) -> tensor<4x3x6xf32>
  return
}
