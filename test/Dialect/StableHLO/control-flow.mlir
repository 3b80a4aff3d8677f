// The file is written exactly as it is printed, so the text itself is the check;
// then through the generic form and back.
// RUN: grep -v '^ *//' %s > %t.expected
// RUN: llmc-opt %s --verify-roundtrip | diff -bB %t.expected -
// RUN: llmc-opt %s --mlir-print-op-generic | llmc-opt | diff -bB %t.expected -

module {
  // A loop in a loop; attributes stand before the regions.
  func.func @loops(%arg0: tensor<i32>, %arg1: tensor<4xf32>) -> tensor<4xf32> {
    %c = stablehlo.constant dense<3> : tensor<i32>
    %0:2 = stablehlo.while(%iterArg = %arg0, %iterArg_0 = %arg1) : tensor<i32>, tensor<4xf32> attributes {llmc.a = 1 : i32}
    cond {
      %1 = stablehlo.compare LT, %iterArg, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %1 = stablehlo.while(%iterArg_1 = %iterArg) : tensor<i32>
      cond {
        %2 = stablehlo.compare LT, %iterArg_1, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %2 : tensor<i1>
      } do {
        %2 = stablehlo.add %iterArg_1, %c : tensor<i32>
        stablehlo.return %2 : tensor<i32>
      }
      stablehlo.return %1, %iterArg_0 : tensor<i32>, tensor<4xf32>
    }
    return %0#1 : tensor<4xf32>
  }

  // A loop that carries nothing; branches of values and of none.
  func.func @branches(%arg0: tensor<i1>, %arg1: tensor<i32>, %arg2: tensor<4xf32>) {
    stablehlo.while()
    cond {
      stablehlo.return %arg0 : tensor<i1>
    } do {
      stablehlo.return
    }
    %0 = "stablehlo.case"(%arg1) ({
      stablehlo.return %arg2 : tensor<4xf32>
    }, {
      %2 = stablehlo.negate %arg2 : tensor<4xf32>
      stablehlo.return %2 : tensor<4xf32>
    }) : (tensor<i32>) -> tensor<4xf32>
    %1 = "stablehlo.if"(%arg0) ({
      stablehlo.return %arg2 : tensor<4xf32>
    }, {
      stablehlo.return %0 : tensor<4xf32>
    }) : (tensor<i1>) -> tensor<4xf32>
    "stablehlo.if"(%arg0) ({
      stablehlo.return
    }, {
      stablehlo.return
    }) : (tensor<i1>) -> ()
    return
  }

  // Composites with and without attributes, operands and results.
  func.func @composites(%arg0: tensor<4xf32>) {
    %0 = stablehlo.composite "my.gelu" %arg0 {composite_attributes = {k = 3 : i64}, decomposition = @impl, version = 1 : i32} : (tensor<4xf32>) -> tensor<4xf32>
    %1:2 = stablehlo.composite "my.pair" %arg0, %arg0 {decomposition = @pair} : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    stablehlo.composite "my.nothing"  {decomposition = @nothing} : () -> ()
    return
  }
  func.func private @impl(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    return %arg0 : tensor<4xf32>
  }
  func.func private @pair(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    return %arg0, %arg1 : tensor<4xf32>, tensor<4xf32>
  }
  func.func private @nothing() {
    return
  }

  // Custom calls by identifiers and other names, without results too.
  func.func @custom_calls(%arg0: tensor<4xf32>) {
    %0 = stablehlo.custom_call @Sharding(%arg0) {backend_config = "", mhlo.sharding = "{replicated}"} : (tensor<4xf32>) -> tensor<4xf32>
    %1:2 = stablehlo.custom_call @"not-an-id"(%arg0, %arg0) {api_version = 2 : i32, has_side_effect = true, operand_layouts = [dense<0> : tensor<1xindex>, dense<0> : tensor<1xindex>], result_layouts = [dense<0> : tensor<1xindex>, dense<0> : tensor<1xindex>]} : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    stablehlo.custom_call @t(%arg0) {api_version = 4 : i32, backend_config = {a = 1 : i64}, called_computations = [@impl]} : (tensor<4xf32>) -> ()
    return
  }
}
