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
