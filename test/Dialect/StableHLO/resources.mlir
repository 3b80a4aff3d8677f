// Elements beside the text stay there; the file is written as it is printed.
// RUN: grep -v '^ *//' %s > %t.expected
// RUN: llmc-opt %s --verify-roundtrip | diff -bB %t.expected -
// RUN: llmc-opt %s --mlir-print-op-generic | llmc-opt | diff -bB %t.expected -

module {
  func.func @resources() {
    %cst = stablehlo.constant dense_resource<weights> : tensor<2xf32>
    %c = stablehlo.constant dense_resource<mask> : tensor<200xi1>
    return
  }
}

{-#
  dialect_resources: {
    builtin: {
      weights: "0x040000000000803F00000040",
      mask: "0x01000000FF"
    }
  }
#-}
