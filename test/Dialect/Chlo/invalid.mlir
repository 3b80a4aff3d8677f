// RUN: llmc-opt %s --split-input-file --verify-diagnostics

func.func @element(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected operand #0 to have the element type of the result, 'tensor<4xf64>', got 'tensor<4xf32>'}}
  %0 = chlo.erf %x : tensor<4xf32> -> tensor<4xf64>
  return
}

// -----

func.func @shape(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected operand #0 to have the shape of the result, 'tensor<5xf32>', got 'tensor<4xf32>'}}
  %0 = chlo.square %x : tensor<4xf32> -> tensor<5xf32>
  return
}

// -----

func.func @integers(%x: tensor<4xi32>) {
  // expected-error@+1 {{operand #0 must be statically shaped tensor of floats, but got 'tensor<4xi32>'}}
  %0 = chlo.erfc %x : tensor<4xi32> -> tensor<4xi32>
  return
}

// -----

func.func @unknown(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected an op that llmc knows, got 'chlo.ragged_dot', which llmc does not have}}
  %0 = chlo.ragged_dot %x : tensor<4xf32> -> tensor<4xf32>
  return
}
