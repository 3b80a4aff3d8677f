// RUN: llmc-opt %s --split-input-file --llmc-verify-kernels --verify-diagnostics

func.func @left(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{expected a launch or a contraction after kernels are formed}}
  %0 = stablehlo.negate %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @nowhere(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{expected a kernel, got @kernels::@k.0}}
  %0 = dist.launch @kernels::@k.0(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @size(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{expected the elements of 'memref<8xf32>', got 'tensor<4xf32>'}}
  %0 = dist.launch @kernels::@k.1(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
module @kernels {
  func.func private @k.1(%a: memref<8xf32>, %b: memref<4xf32>, %from: index, %to: index, %s: memref<0xi8>) attributes {llmc.kernel} {
    return
  }
}

// -----

func.func @none(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{expected a kernel, got @kernels::@k.2}}
  %0 = dist.launch @kernels::@k.2(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
module @kernels {
  func.func private @k.2(%a: memref<4xf32>, %b: memref<4xf32>, %from: index, %to: index, %s: memref<0xi8>) {
    return
  }
}

// -----

// What is tied has one argument: as many as there are pass, one less and one
// more do not. A coordinate is passed as an index, another value is not.
dist.mesh @mesh = <"d"=2>
func.func @counts(%x: tensor<4xf32>, %c: tensor<i32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0:2 = dist.launch @kernels::@k.3(%x, %x) {tied = [[0, 0]]} : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  // expected-error @+1 {{expected 3 operands and untied results, got 2}}
  %1:2 = dist.launch @kernels::@k.3(%x) {tied = [[0, 0]]} : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  // expected-error @+1 {{expected 3 operands and untied results, got 4}}
  %2:2 = dist.launch @kernels::@k.3(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  %at = dist.coordinate ["d"] : tensor<i32>
  %3 = dist.launch @kernels::@k.4(%at) : (tensor<i32>) -> tensor<4xf32>
  // expected-error @+1 {{expected the elements of 'index', got 'tensor<i32>'}}
  %4 = dist.launch @kernels::@k.4(%c) : (tensor<i32>) -> tensor<4xf32>
  return %0#0, %0#1 : tensor<4xf32>, tensor<4xf32>
}
module @kernels {
  func.func private @k.3(%a: memref<4xf32>, %b: memref<4xf32>, %c: memref<4xf32>, %from: index, %to: index, %s: memref<0xi8>) attributes {llmc.kernel} {
    return
  }
  func.func private @k.4(%a: index, %b: memref<4xf32>, %from: index, %to: index, %s: memref<0xi8>) attributes {llmc.kernel} {
    return
  }
}
