// The file is written exactly as it is printed, so the text itself is the check.
// RUN: grep -v '^ *//' %s > %t.expected
// RUN: llmc-opt %s --verify-roundtrip | diff -bB %t.expected -
// RUN: llmc-opt %s --mlir-print-op-generic | llmc-opt | diff -bB %t.expected -

module {
  func.func @functions(%arg0: tensor<4x8xf32>) {
    %0 = chlo.erf %arg0 : tensor<4x8xf32> -> tensor<4x8xf32>
    %1 = chlo.erfc %arg0 : tensor<4x8xf32> -> tensor<4x8xf32>
    %2 = chlo.square %arg0 : tensor<4x8xf32> -> tensor<4x8xf32>
    return
  }
}
