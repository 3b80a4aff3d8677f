// Elements of i1 in hexadecimal: one byte each, as JAX prints more than 100 of
// them, or one bit each, as MLIR 22 does. They are written as bytes.
// RUN: llmc-opt %s --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: func.func @bytes
func.func @bytes() -> (tensor<10xi1>, tensor<2x2xi1>, tensor<9xi1>, tensor<0xi1>) {
  // CHECK: dense<[true, false, true, true, false, false, false, false, false, true]> : tensor<10xi1>
  %0 = stablehlo.constant dense<"0x01000101000000000001"> : tensor<10xi1>
  // CHECK: dense<{{\[}}[true, false], [false, true]]> : tensor<2x2xi1>
  %1 = stablehlo.constant dense<"0x01000001"> : tensor<2x2xi1>
  // CHECK: dense<true> : tensor<9xi1>
  %2 = stablehlo.constant dense<"0x01"> : tensor<9xi1>
  // CHECK: dense<> : tensor<0xi1>
  %3 = stablehlo.constant dense<"0x"> : tensor<0xi1>
  return %0, %1, %2, %3 : tensor<10xi1>, tensor<2x2xi1>, tensor<9xi1>, tensor<0xi1>
}

// CHECK-LABEL: func.func @bits
func.func @bits() -> (tensor<10xi1>, tensor<8xi1>, tensor<3xi1>, tensor<i1>) {
  // CHECK: dense<[true, false, true, true, false, false, false, false, false, true]> : tensor<10xi1>
  %0 = stablehlo.constant dense<"0x0D02"> : tensor<10xi1>
  // Both readings agree.
  // CHECK: dense<true> : tensor<8xi1>
  %1 = stablehlo.constant dense<"0xFF"> : tensor<8xi1>
  // CHECK: dense<false> : tensor<3xi1>
  %2 = stablehlo.constant dense<"0x00"> : tensor<3xi1>
  // CHECK: dense<true> : tensor<i1>
  %3 = stablehlo.constant dense<"0x01"> : tensor<i1>
  return %0, %1, %2, %3 : tensor<10xi1>, tensor<8xi1>, tensor<3xi1>, tensor<i1>
}

// CHECK-LABEL: func.func @many
func.func @many() -> tensor<104xi1> {
  // CHECK: dense<"0x0101010101010101000000000000000000{{(00)*}}01"> : tensor<104xi1>
  %0 = stablehlo.constant dense<"0xFF000000000000000000000080"> : tensor<104xi1>
  return %0 : tensor<104xi1>
}

// Elements of other types that begin with i1 are read as they stand.
// CHECK-LABEL: func.func @wider
func.func @wider() -> (tensor<2xi16>, tensor<104xi1, "a">) {
  // CHECK: dense<[1, 256]> : tensor<2xi16>
  %0 = stablehlo.constant dense<"0x01000001"> : tensor<2xi16>
  // CHECK: dense<true> : tensor<104xi1> -> tensor<104xi1, "a">
  %1 = stablehlo.constant dense<"0xFFFFFFFFFFFFFFFFFFFFFFFFFF"> : tensor<104xi1> -> tensor<104xi1, "a">
  return %0, %1 : tensor<2xi16>, tensor<104xi1, "a">
}

// A hundred elements are written out, one more is not.
// CHECK-LABEL: func.func @most
func.func @most() -> (tensor<100xi1>, tensor<101xi1>) {
  // CHECK: dense<[true, false, false,
  %0 = stablehlo.constant dense<"0x01000000000000000000000000"> : tensor<100xi1>
  // CHECK: dense<"0x010000
  %1 = stablehlo.constant dense<"0x01000000000000000000000000"> : tensor<101xi1>
  return %0, %1 : tensor<100xi1>, tensor<101xi1>
}

// -----

// A byte for all, or a bit for each?
func.func @ambiguous() -> tensor<8xi1> {
  // expected-error@+1 {{expected elements with one meaning, got a byte that may be one value for all or a bit for each}}
  %0 = stablehlo.constant dense<"0x01"> : tensor<8xi1>
  return %0 : tensor<8xi1>
}

// -----

func.func @size() -> tensor<20xi1> {
  // expected-error@+1 {{expected 20 bytes or 3 bytes of bits for the elements of 'tensor<20xi1>', got 4}}
  %0 = stablehlo.constant dense<"0x01010101"> : tensor<20xi1>
  return %0 : tensor<20xi1>
}

// -----

func.func @digits() -> tensor<2xi1> {
  // expected-error@+1 {{expected pairs of hexadecimal digits}}
  %0 = stablehlo.constant dense<"0x010"> : tensor<2xi1>
  return %0 : tensor<2xi1>
}
