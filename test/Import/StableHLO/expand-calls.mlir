// RUN: split-file %s %t
// DEFINE: %{import} = llmc compile --compile-to=import -o - --set data.inputs.x=0
// RUN: %{import} %t/composites.mlir | llmc-opt | FileCheck %s --check-prefix=COMPOSITE
// RUN: %{import} %t/attributes.mlir | llmc-opt --mlir-print-op-generic | FileCheck %s --check-prefix=ATTRIBUTES
// RUN: %{import} %t/annotations.mlir | FileCheck %s --check-prefix=ANNOTATION
// RUN: not %{import} %t/lapack.mlir 2>&1 | FileCheck %s --check-prefix=LAPACK
// RUN: not %{import} %t/shape.mlir 2>&1 | FileCheck %s --check-prefix=SHAPE
// RUN: not %{import} %t/extern.mlir 2>&1 | FileCheck %s --check-prefix=EXTERN

// The op that has the name; else the decomposition, within which names count
// too, wherever it is called. An op that would not be valid is none.
// COMPOSITE: func.func public @{{.*}}(%[[X:.*]]: tensor<4xf32>
// COMPOSITE-NEXT: %[[A:.*]] = chlo.erf %[[X]]
// COMPOSITE-NEXT: %[[B:.*]] = chlo.square %[[A]]
// COMPOSITE-NEXT: %[[C:.*]] = stablehlo.tanh %[[B]]
// COMPOSITE-NEXT: %[[D:.*]] = chlo.square %[[C]]
// COMPOSITE-NEXT: %[[E:.*]] = stablehlo.tanh %[[D]]
// COMPOSITE-NEXT: %[[F:.*]] = stablehlo.negate %[[E]]
// COMPOSITE-NEXT: %[[G:.*]] = stablehlo.negate %[[F]]
// COMPOSITE-NEXT: return %[[G]]
// COMPOSITE-NOT: func.func private

// Attributes are the op's; an op that does not know one of them is another.
// ATTRIBUTES: "stablehlo.reverse"(%{{.*}}) <{dimensions = array<i64: 0>}> : (tensor<4xf32>) -> tensor<4xf32>
// ATTRIBUTES-NEXT: "stablehlo.tanh"

// ANNOTATION: func.func public @{{.*}}(%[[X:.*]]: tensor<4xf32>
// ANNOTATION-NEXT: %[[Y:.*]] = stablehlo.tanh %[[X]]
// ANNOTATION-NEXT: return %[[Y]]

// LAPACK: {{^}}llmc: error[unsupported]: {{.*}}lapack.mlir:2:10: 'stablehlo.custom_call' op expected a custom call that annotates a value, got 'lapack_sgees_ffi', which llmc does not have (of LAPACK it has getrf, potrf and trsm of real numbers, as JAX calls them for jnp.linalg.solve, inv, slogdet and cholesky){{$}}
// SHAPE: {{^}}llmc: error[unsupported]: {{.*}}shape.mlir:2:8: 'stablehlo.custom_call' op expected a custom call that annotates a value, got 'Sharding', which llmc does not have{{$}}
// EXTERN: {{^}}llmc: error[unsupported]: {{.*}}extern.mlir:3:8: expected a call of a function with one block, got 'g'{{$}}

//--- composites.mlir
func.func public @main(%x: tensor<4xf32> loc("x")) -> tensor<4xf32> {
  %0 = stablehlo.composite "chlo.erf" %x {decomposition = @unary, version = 1 : i32} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = stablehlo.composite "my.op" %0 {composite_attributes = {k = 3 : i64}, decomposition = @mine} : (tensor<4xf32>) -> tensor<4xf32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %2 = "stablehlo.case"(%zero) ({
    %5 = stablehlo.composite "my.op" %1 {decomposition = @mine} : (tensor<4xf32>) -> tensor<4xf32>
    stablehlo.return %5 : tensor<4xf32>
  }) : (tensor<i32>) -> tensor<4xf32>
  %3 = stablehlo.composite "stablehlo.reverse" %2 {decomposition = @unary} : (tensor<4xf32>) -> tensor<4xf32>
  %4 = stablehlo.composite "func.call" %3 {composite_attributes = {callee = @mine}, decomposition = @unary} : (tensor<4xf32>) -> tensor<4xf32>
  return %4 : tensor<4xf32>
}
func.func private @mine(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.composite "chlo.square" %x {decomposition = @unary} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = stablehlo.tanh %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}
func.func private @unary(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.negate %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

//--- attributes.mlir
func.func public @main(%x: tensor<4xf32> loc("x")) -> tensor<4xf32> {
  %0 = stablehlo.composite "stablehlo.reverse" %x {composite_attributes = {dimensions = array<i64: 0>}, decomposition = @impl} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = stablehlo.composite "chlo.square" %0 {composite_attributes = {accuracy = 2 : i64}, decomposition = @impl} : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
func.func private @impl(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.tanh %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

//--- annotations.mlir
func.func public @main(%x: tensor<4xf32> loc("x")) -> tensor<4xf32> {
  %0 = stablehlo.custom_call @Sharding(%x) {backend_config = "", mhlo.sharding = "{replicated}"} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = stablehlo.tanh %0 : tensor<4xf32>
  %2 = stablehlo.custom_call @annotate_device_placement(%1) {has_side_effect = true, mhlo.frontend_attributes = {_xla_buffer_placement = "pinned_host"}} : (tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

//--- lapack.mlir
func.func public @main(%x: tensor<4x4xf32> loc("x")) -> tensor<4x4xf32> {
  %0:2 = stablehlo.custom_call @lapack_sgees_ffi(%x) {mhlo.backend_config = {}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<> : tensor<0xindex>]} : (tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<i32>)
  return %0#0 : tensor<4x4xf32>
}

//--- shape.mlir
func.func public @main(%x: tensor<4xf32> loc("x")) -> tensor<2xf32> {
  %0 = stablehlo.custom_call @Sharding(%x) : (tensor<4xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

//--- extern.mlir
func.func private @g(tensor<4xf32>) -> tensor<4xf32>
func.func public @main(%x: tensor<4xf32> loc("x")) -> tensor<4xf32> {
  %0 = stablehlo.composite "my.op" %x {decomposition = @g} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
