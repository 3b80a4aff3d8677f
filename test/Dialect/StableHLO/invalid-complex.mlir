// RUN: llmc-opt %s --split-input-file --verify-diagnostics

func.func @complex_parts(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected operand #0 of 'f64', as the parts of the result are, got 'tensor<4xf32>'}}
  %0 = stablehlo.complex %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xcomplex<f64>>
  return
}

// -----

func.func @complex_assembly(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected a tensor of complex numbers, got 'tensor<4xf32>'}}
  %0 = stablehlo.complex %x, %x : tensor<4xf32>
  return
}

// -----

func.func @complex_shape(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected operand #0 to have the shape of the result, 'tensor<5xcomplex<f32>>', got 'tensor<4xf32>'}}
  %0 = stablehlo.complex %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<5xcomplex<f32>>
  return
}

// -----

func.func @half(%x: tensor<4xf16>) {
  // expected-error@+1 {{result #0 must be statically shaped tensor of complex<f32> or complex<f64> below 2^63 bytes, but got 'tensor<4xcomplex<f16>>'}}
  %0 = stablehlo.complex %x, %x : tensor<4xcomplex<f16>>
  return
}

// -----

func.func @real_part(%x: tensor<4xcomplex<f32>>) {
  // expected-error@+1 {{expected a result of 'f32' of an operand 'tensor<4xcomplex<f32>>', got 'tensor<4xf64>'}}
  %0 = stablehlo.real %x : (tensor<4xcomplex<f32>>) -> tensor<4xf64>
  return
}

// -----

func.func @abs(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected a result of 'f32' of an operand 'tensor<4xf32>', got 'tensor<4xf64>'}}
  %0 = stablehlo.abs %x : (tensor<4xf32>) -> tensor<4xf64>
  return
}

// -----

func.func @order(%x: tensor<4xcomplex<f32>>) {
  // expected-error@+1 {{expected EQ or NE of complex numbers, got LT}}
  %0 = stablehlo.compare LT, %x, %x : (tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>) -> tensor<4xi1>
  return
}

// -----

func.func @total_order(%x: tensor<4xcomplex<f32>>) {
  // expected-error@+1 {{expected a comparison type that suits 'complex<f32>', got TOTALORDER}}
  %0 = stablehlo.compare EQ, %x, %x, TOTALORDER : (tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>) -> tensor<4xi1>
  return
}

// -----

func.func @floor(%x: tensor<4xcomplex<f32>>) {
  // expected-error@+1 {{operand #0 must be statically shaped tensor of floats, but got 'tensor<4xcomplex<f32>>'}}
  %0 = stablehlo.floor %x : tensor<4xcomplex<f32>>
  return
}

// -----

func.func @product(%x: tensor<4xcomplex<f32>>, %y: tensor<4xf32>) {
  // expected-error@+1 {{expected operands and result all of floats, all of integers or all of complex numbers, got 'tensor<4xcomplex<f32>>', 'tensor<4xf32>' and 'tensor<complex<f32>>'}}
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [0] x [0] : (tensor<4xcomplex<f32>>, tensor<4xf32>) -> tensor<complex<f32>>
  return
}

// -----

func.func @kind(%x: tensor<8xcomplex<f32>>) {
  // expected-error@+1 {{expected a kind of transform, got 'DCT'}}
  %0 = stablehlo.fft %x, type = DCT, length = [8] : (tensor<8xcomplex<f32>>) -> tensor<8xcomplex<f32>>
  return
}

// -----

func.func @no_length(%x: tensor<8xcomplex<f32>>) {
  // expected-error@+1 {{expected 1 to 3 lengths, not more than the 1 dimensions of the operand, got 0}}
  %0 = stablehlo.fft %x, type = FFT, length = [] : (tensor<8xcomplex<f32>>) -> tensor<8xcomplex<f32>>
  return
}

// -----

func.func @too_many(%x: tensor<8xcomplex<f32>>) {
  // expected-error@+1 {{expected 1 to 3 lengths, not more than the 1 dimensions of the operand, got 2}}
  %0 = stablehlo.fft %x, type = FFT, length = [1, 8] : (tensor<8xcomplex<f32>>) -> tensor<8xcomplex<f32>>
  return
}

// -----

func.func @negative(%x: tensor<8xcomplex<f32>>) {
  // expected-error@+1 {{expected lengths of at least 0, got -8}}
  %0 = stablehlo.fft %x, type = FFT, length = [-8] : (tensor<8xcomplex<f32>>) -> tensor<8xcomplex<f32>>
  return
}

// -----

func.func @real_side(%x: tensor<8xf32>) {
  // expected-error@+1 {{expected an operand of complex numbers for FFT, got 'tensor<8xf32>'}}
  %0 = stablehlo.fft %x, type = FFT, length = [8] : (tensor<8xf32>) -> tensor<8xcomplex<f32>>
  return
}

// -----

func.func @complex_side(%x: tensor<5xcomplex<f32>>) {
  // expected-error@+1 {{expected a result of floats for IRFFT, got 'tensor<8xcomplex<f32>>'}}
  %0 = stablehlo.fft %x, type = IRFFT, length = [8] : (tensor<5xcomplex<f32>>) -> tensor<8xcomplex<f32>>
  return
}

// -----

func.func @precision(%x: tensor<8xf32>) {
  // expected-error@+1 {{expected operand and result of f32 or f64 alike, got 'tensor<8xf32>' and 'tensor<5xcomplex<f64>>'}}
  %0 = stablehlo.fft %x, type = RFFT, length = [8] : (tensor<8xf32>) -> tensor<5xcomplex<f64>>
  return
}

// -----

func.func @operand_size(%x: tensor<8xcomplex<f32>>) {
  // expected-error@+1 {{expected an operand of shape [5], got [8]}}
  %0 = stablehlo.fft %x, type = IRFFT, length = [8] : (tensor<8xcomplex<f32>>) -> tensor<8xf32>
  return
}

// -----

func.func @result_size(%x: tensor<2x8xf32>) {
  // expected-error@+1 {{expected a result of shape [2, 5], got [2, 8]}}
  %0 = stablehlo.fft %x, type = RFFT, length = [8] : (tensor<2x8xf32>) -> tensor<2x8xcomplex<f32>>
  return
}
