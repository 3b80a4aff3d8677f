// The file is written exactly as it is printed, so the text itself is the check;
// then through the generic form and back.
// RUN: grep -v '^ *//' %s > %t.expected
// RUN: llmc-opt %s --verify-roundtrip | diff -bB %t.expected -
// RUN: llmc-opt %s --mlir-print-op-generic | llmc-opt | diff -bB %t.expected -
// RUN: llmc-opt %s --mlir-print-op-generic | FileCheck %s --check-prefix=GENERIC
// GENERIC: "stablehlo.rng_bit_generator"(%{{.*}}) <{rng_algorithm = #stablehlo<rng_algorithm DEFAULT>}>
// GENERIC: rng_distribution = #stablehlo<rng_distribution UNIFORM>

module {
  // Each algorithm, with the states that it has; unsigned, signed and float elements.
  func.func @bits(%arg0: tensor<2xui64>, %arg1: tensor<3xui64>) {
    %output_state, %output = stablehlo.rng_bit_generator %arg0, algorithm = DEFAULT : (tensor<2xui64>) -> (tensor<2xui64>, tensor<3x5xui32>)
    %output_state_0, %output_1 = stablehlo.rng_bit_generator %arg0, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<7xi16>)
    %output_state_2, %output_3 = stablehlo.rng_bit_generator %arg0, algorithm = PHILOX : (tensor<2xui64>) -> (tensor<2xui64>, tensor<ui8>)
    %output_state_4, %output_5 = stablehlo.rng_bit_generator %arg1, algorithm = PHILOX {note = 1 : i32} : (tensor<3xui64>) -> (tensor<3xui64>, tensor<0x4xf64>)
    return
  }
  // The deprecated op, which import refuses.
  func.func @numbers(%arg0: tensor<f32>, %arg1: tensor<f32>, %arg2: tensor<i32>, %arg3: tensor<2xi64>) {
    %0 = stablehlo.rng %arg0, %arg1, %arg3, distribution = NORMAL : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> tensor<3x5xf32>
    %1 = stablehlo.rng %arg2, %arg2, %arg3, distribution = UNIFORM : (tensor<i32>, tensor<i32>, tensor<2xi64>) -> tensor<3x5xi32>
    return
  }
}
