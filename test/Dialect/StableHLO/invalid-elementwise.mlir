// RUN: llmc-opt %s --split-input-file --verify-diagnostics

func.func @shape(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{expected operand #0 to have the shape of the result, 'tensor<8x4xf32>', got 'tensor<4x8xf32>'}}
  %0 = stablehlo.add %x, %x : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<8x4xf32>
  return
}

// -----

func.func @element(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{expected operand #0 to have the element type of the result, 'tensor<4x8xf64>', got 'tensor<4x8xf32>'}}
  %0 = stablehlo.tanh %x : (tensor<4x8xf32>) -> tensor<4x8xf64>
  return
}

// -----

func.func @dynamic(%x: tensor<?xf32>) {
  // expected-error@+1 {{operand #0 must be statically shaped tensor of i1, integers or floats below 2^63 bytes or of complex numbers, but got 'tensor<?xf32>'}}
  %0 = stablehlo.add %x, %x : tensor<?xf32>
  return
}

// -----

func.func @huge(%x: tensor<4294967296x4294967296xf32>) {
  // expected-error@+1 {{operand #0 must be statically shaped tensor of floats or of complex numbers, but got 'tensor<4294967296x4294967296xf32>'}}
  %0 = stablehlo.exponential %x : tensor<4294967296x4294967296xf32>
  return
}

// -----

func.func @width(%x: tensor<4xi3>) {
  // expected-error@+1 {{operand #0 must be statically shaped tensor of i1, integers or floats below 2^63 bytes or of complex numbers, but got 'tensor<4xi3>'}}
  %0 = stablehlo.add %x, %x : tensor<4xi3>
  return
}

// -----

func.func @float_only(%x: tensor<4xi32>) {
  // expected-error@+1 {{operand #0 must be statically shaped tensor of floats or of complex numbers, but got 'tensor<4xi32>'}}
  %0 = stablehlo.sqrt %x : tensor<4xi32>
  return
}

// -----

func.func @no_i1(%x: tensor<4xi1>) {
  // expected-error@+1 {{operand #0 must be statically shaped tensor of integers or floats or of complex numbers, but got 'tensor<4xi1>'}}
  %0 = stablehlo.subtract %x, %x : tensor<4xi1>
  return
}

// -----

func.func @unsigned_abs(%x: tensor<4xui32>) {
  // expected-error@+1 {{operand #0 must be statically shaped tensor of signed integers or floats or of complex numbers, but got 'tensor<4xui32>'}}
  %0 = stablehlo.abs %x : tensor<4xui32>
  return
}

// -----

func.func @logical_float(%x: tensor<4xf32>) {
  // expected-error@+1 {{operand #0 must be statically shaped tensor of i1 or integers, but got 'tensor<4xf32>'}}
  %0 = stablehlo.and %x, %x : tensor<4xf32>
  return
}

// -----

func.func @compare_elements(%x: tensor<4xf32>, %y: tensor<4xi32>) {
  // expected-error@+1 {{expected operands of one element type, got 'f32' and 'i32'}}
  %0 = stablehlo.compare EQ, %x, %y : (tensor<4xf32>, tensor<4xi32>) -> tensor<4xi1>
  return
}

// -----

func.func @compare_type(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected a comparison type that suits 'f32', got SIGNED}}
  %0 = stablehlo.compare EQ, %x, %x, SIGNED : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  return
}

// -----

func.func @compare_unsigned(%x: tensor<4xui8>) {
  // expected-error@+1 {{expected a comparison type that suits 'ui8', got SIGNED}}
  %0 = stablehlo.compare EQ, %x, %x, SIGNED : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xi1>
  return
}

// -----

func.func @select_choice(%p: tensor<4xi1>, %x: tensor<4xf32>, %y: tensor<4xf64>) {
  // expected-error@+1 {{expected both choices of the result's shape and element type, 'tensor<4xf32>', got 'tensor<4xf64>'}}
  %0 = stablehlo.select %p, %x, %y : (tensor<4xi1>, tensor<4xf32>, tensor<4xf64>) -> tensor<4xf32>
  return
}

// -----

func.func @select_predicate(%p: tensor<5xi1>, %x: tensor<4xf32>) {
  // expected-error@+1 {{expected a predicate of rank 0 or the result's shape, 'tensor<4xf32>', got 'tensor<5xi1>'}}
  %0 = stablehlo.select %p, %x, %x : tensor<5xi1>, tensor<4xf32>
  return
}

// -----

func.func @clamp_operand(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected an operand of the result's shape, 'tensor<5xf32>', got 'tensor<4xf32>'}}
  %0 = stablehlo.clamp %x, %x, %x : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @clamp_bound(%x: tensor<4xf32>, %y: tensor<5xf32>) {
  // expected-error@+1 {{expected a bound of rank 0 or the result's shape, 'tensor<4xf32>', got 'tensor<5xf32>'}}
  %0 = stablehlo.clamp %x, %x, %y : (tensor<4xf32>, tensor<4xf32>, tensor<5xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @accuracy_negative(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected finite tolerances of at least 0}}
  %0 = stablehlo.log %x {result_accuracy = #stablehlo.result_accuracy<ulps = -1, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>} : tensor<4xf32>
  return
}

// -----

func.func @accuracy_mode(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected tolerances with mode TOLERANCE and with no other, got mode DEFAULT}}
  %0 = stablehlo.log %x {result_accuracy = #stablehlo.result_accuracy<ulps = 1>} : tensor<4xf32>
  return
}

// -----

func.func @compare_not_unsigned(%x: tensor<4xi8>) {
  // expected-error@+1 {{expected a comparison type that suits 'i8', got UNSIGNED}}
  %0 = stablehlo.compare EQ, %x, %x, UNSIGNED : (tensor<4xi8>, tensor<4xi8>) -> tensor<4xi1>
  return
}

// -----

func.func @compare_total_order(%x: tensor<4xi8>) {
  // expected-error@+1 {{expected a comparison type that suits 'i8', got TOTALORDER}}
  %0 = stablehlo.compare EQ, %x, %x, TOTALORDER : (tensor<4xi8>, tensor<4xi8>) -> tensor<4xi1>
  return
}

// -----

func.func @compare_truths(%x: tensor<4xi1>) {
  // expected-error@+1 {{expected a comparison type that suits 'i1', got SIGNED}}
  %0 = stablehlo.compare EQ, %x, %x, SIGNED : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  return
}

// -----

func.func @select_shape(%p: tensor<i1>, %x: tensor<4xf32>, %y: tensor<5xf32>) {
  // expected-error@+1 {{expected both choices of the result's shape and element type, 'tensor<4xf32>', got 'tensor<5xf32>'}}
  %0 = stablehlo.select %p, %x, %y : (tensor<i1>, tensor<4xf32>, tensor<5xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @clamp_low(%x: tensor<4xf32>, %y: tensor<1xf32>) {
  // expected-error@+1 {{expected a bound of rank 0 or the result's shape, 'tensor<4xf32>', got 'tensor<1xf32>'}}
  %0 = stablehlo.clamp %y, %x, %x : (tensor<1xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @accuracy_relative(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected tolerances with mode TOLERANCE and with no other, got mode DEFAULT}}
  %0 = stablehlo.log %x {result_accuracy = #stablehlo.result_accuracy<rtol = 0.5>} : tensor<4xf32>
  return
}

// -----

func.func @accuracy_none(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected tolerances with mode TOLERANCE and with no other, got mode TOLERANCE}}
  %0 = stablehlo.log %x {result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<TOLERANCE>>} : tensor<4xf32>
  return
}

// -----

func.func @accuracy_negative_absolute(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected finite tolerances of at least 0}}
  %0 = stablehlo.log %x {result_accuracy = #stablehlo.result_accuracy<atol = -0.5, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>} : tensor<4xf32>
  return
}

// -----

func.func @accuracy_negative_relative(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected finite tolerances of at least 0}}
  %0 = stablehlo.log %x {result_accuracy = #stablehlo.result_accuracy<rtol = -0.5, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>} : tensor<4xf32>
  return
}

// -----

func.func @accuracy_infinite(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected finite tolerances of at least 0}}
  %0 = stablehlo.log %x {result_accuracy = #stablehlo.result_accuracy<rtol = 0x7FF0000000000000, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>} : tensor<4xf32>
  return
}

// -----

func.func @format_word(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected a format of floats such as e8m7, got 'm8e7'}}
  %0 = stablehlo.reduce_precision %x, format = m8e7 : tensor<4xf32>
  return
}

// -----

func.func @format_rest(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected a format of floats such as e8m7, got 'e8m7x'}}
  %0 = stablehlo.reduce_precision %x, format = e8m7x : tensor<4xf32>
  return
}

// -----

func.func @no_exponent(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected at least 1 bit of exponent, got 0}}
  %0 = stablehlo.reduce_precision %x, format = e0m7 : tensor<4xf32>
  return
}

// -----

func.func @negative_mantissa(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected no negative bits of mantissa, got -1}}
  %0 = "stablehlo.reduce_precision"(%x) <{exponent_bits = 8 : i32, mantissa_bits = -1 : i32}> : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @shift_of_floats(%x: tensor<4xf32>) {
  // expected-error@+1 {{operand #0 must be statically shaped tensor of integers}}
  %0 = stablehlo.shift_left %x, %x : tensor<4xf32>
  return
}

// -----

func.func @bits_of_other_width(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected a result of shape [4, 2], got [4]}}
  %0 = stablehlo.bitcast_convert %x : (tensor<4xf32>) -> tensor<4xi16>
  return
}

// -----

func.func @parts_of_one(%x: tensor<4x3xi16>) {
  // expected-error@+1 {{expected an operand whose last dimension has 2 elements, the parts of one of the result, got 'tensor<4x3xi16>'}}
  %0 = stablehlo.bitcast_convert %x : (tensor<4x3xi16>) -> tensor<4xf32>
  return
}

// -----

func.func @parts_of_a_scalar(%x: tensor<i16>) {
  // expected-error@+1 {{expected an operand whose last dimension has 2 elements, the parts of one of the result, got 'tensor<i16>'}}
  %0 = stablehlo.bitcast_convert %x : (tensor<i16>) -> tensor<f32>
  return
}

// -----

func.func @widths_apart(%x: tensor<4xf6E2M3FN>) {
  // expected-error@+1 {{expected widths of which one divides the other, got 'f6E2M3FN' and 'i8'}}
  %0 = stablehlo.bitcast_convert %x : (tensor<4xf6E2M3FN>) -> tensor<4xi8>
  return
}

// -----

func.func @truth_has_no_bits(%x: tensor<8xi1>) {
  // expected-error@+1 {{operand #0 must be statically shaped tensor of integers or floats, but got 'tensor<8xi1>'}}
  %0 = stablehlo.bitcast_convert %x : (tensor<8xi1>) -> tensor<i8>
  return
}
