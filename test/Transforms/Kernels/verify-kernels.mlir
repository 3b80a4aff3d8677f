// RUN: llmc-opt %s --split-input-file --llmc-verify-kernels --verify-diagnostics

func.func @left(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{expected a launch or a library call after kernels are formed}}
  %0 = stablehlo.negate %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @nowhere(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{expected a kernel, got @kernels::@k_0}}
  %0 = dist.launch @kernels::@k_0(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @size(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{expected the elements of 'tensor<8xf32>' (read), got 'tensor<4xf32>'}}
  %0 = dist.launch @kernels::@k_1(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
module @kernels {
  dist.kernel @k_1(read tensor<8xf32>, write tensor<4xf32>) for "cpu" by @k_1_cpu
  func.func private @k_1_cpu(memref<8xf32>, memref<4xf32>, index, index, memref<0xi8>)
}

// -----

func.func @none(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{expected a kernel, got @kernels::@k_2}}
  %0 = dist.launch @kernels::@k_2(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
module @kernels {
  func.func private @k_2(memref<4xf32>, memref<4xf32>, index, index, memref<0xi8>)
}

// -----

// What is tied has one argument: as many as there are pass, one less and one
// more do not. A coordinate is passed as an index, another value is not.
dist.mesh @mesh = <"d"=2>
func.func @counts(%x: tensor<4xf32>, %c: tensor<i32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0:2 = dist.launch @kernels::@k_3(%x, %x) {tied = [[0, 0]]} : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  // expected-error @+1 {{expected 3 operands and untied results, got 2}}
  %1:2 = dist.launch @kernels::@k_3(%x) {tied = [[0, 0]]} : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  // expected-error @+1 {{expected 3 operands and untied results, got 4}}
  %2:2 = dist.launch @kernels::@k_3(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  %at = dist.coordinate ["d"] : tensor<i32>
  %3 = dist.launch @kernels::@k_4(%at) : (tensor<i32>) -> tensor<4xf32>
  // expected-error @+1 {{expected the elements of 'i32' (scalar), got 'tensor<i32>'}}
  %4 = dist.launch @kernels::@k_4(%c) : (tensor<i32>) -> tensor<4xf32>
  return %0#0, %0#1 : tensor<4xf32>, tensor<4xf32>
}
module @kernels {
  dist.kernel @k_3(readwrite tensor<4xf32>, read tensor<4xf32>, write tensor<4xf32>) for "cpu" by @k_3_cpu
  func.func private @k_3_cpu(memref<4xf32>, memref<4xf32>, memref<4xf32>, index, index, memref<0xi8>)
  dist.kernel @k_4(scalar i32 below 2, write tensor<4xf32>) for "cpu" by @k_4_cpu
  func.func private @k_4_cpu(index, memref<4xf32>, index, index, memref<0xi8>)
}

// -----

// Bytes alone do not do: the element type is the kernel's too, and so are the
// width of a coordinate and the scratch.
dist.mesh @mesh = <"d"=2>
func.func @types(%x: tensor<2x2xi32>) -> tensor<4xf32> {
  // expected-error @+1 {{expected the elements of 'tensor<4xf32>' (read), got 'tensor<2x2xi32>'}}
  %0 = dist.launch @kernels::@k_5(%x) {scratch = 64} : (tensor<2x2xi32>) -> tensor<4xf32>
  %1 = dist.launch @kernels::@k_5(%0) {scratch = 64} : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error @+1 {{expected the kernel's scratch of 64 bytes, got 0}}
  %2 = dist.launch @kernels::@k_5(%1) : (tensor<4xf32>) -> tensor<4xf32>
  %at = dist.coordinate ["d"] : tensor<i32>
  // expected-error @+1 {{expected the elements of 'i64' (scalar), got 'tensor<i32>'}}
  %3 = dist.launch @kernels::@k_6(%at) : (tensor<i32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}
module @kernels {
  dist.kernel @k_5(read tensor<4xf32>, write tensor<4xf32>) for "cpu" rows(4) scratch(64) by @k_5_cpu
  func.func private @k_5_cpu(memref<4xf32>, memref<4xf32>, index, index, memref<64xi8>)
  dist.kernel @k_6(scalar i64 below 2, write tensor<4xf32>) for "cpu" by @k_6_cpu
  func.func private @k_6_cpu(index, memref<4xf32>, index, index, memref<0xi8>)
}

// -----

// A value that is no tensor has no elements.
func.func @value(%x: tensor<4xf32>, %i: i32) -> tensor<4xf32> {
  // expected-error @+1 {{expected the elements of 'tensor<1xi32>' (read), got 'i32'}}
  %0 = dist.launch @kernels::@k_7(%x, %i) : (tensor<4xf32>, i32) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
module @kernels {
  dist.kernel @k_7(read tensor<4xf32>, read tensor<1xi32>, write tensor<4xf32>) for "cpu" by @k_7_cpu
  func.func private @k_7_cpu(memref<4xf32>, memref<1xi32>, memref<4xf32>, index, index, memref<0xi8>)
}
