// Ops that newer ones have replaced, and ops whose sizes are operands, become these and
// their static forms.
// RUN: split-file %s %t
// DEFINE: %{import} = llmc compile --compile-to=import -o - --set data.inputs.x=0
// RUN: %{import} %t/older.mlir | llmc-opt | FileCheck %s --check-prefix=OLDER
// RUN: %{import} %t/sizes.mlir | llmc-opt | FileCheck %s --check-prefix=SIZES
// RUN: not %{import} %t/map.mlir 2>&1 | FileCheck %s --check-prefix=MAP
// RUN: not %{import} %t/unknown.mlir 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not %{import} %t/shape.mlir 2>&1 | FileCheck %s --check-prefix=SHAPE
// RUN: not %{import} %t/short.mlir 2>&1 | FileCheck %s --check-prefix=SHORT
// RUN: not %{import} %t/edges.mlir 2>&1 | FileCheck %s --check-prefix=EDGES
// RUN: not %{import} %t/resized.mlir 2>&1 | FileCheck %s --check-prefix=RESIZED

// OLDER-LABEL: func.func @loss
// OLDER: %[[TWO:.*]] = stablehlo.constant dense<2.0{{.*}}> : tensor<f32>
// OLDER: stablehlo.dot_general %arg0, %{{.*}}, contracting_dims = [1] x [0], precision = [HIGH, DEFAULT] : (tensor<4x6xf32>, tensor<6x3xf32>) -> tensor<4x3xf32>
// OLDER: stablehlo.dot_general %{{.*}}, %{{.*}}, contracting_dims = [0] x [0] : (tensor<6xf32>, tensor<6x3xf32>) -> tensor<3xf32>
// OLDER: stablehlo.broadcast_in_dim %{{.*}}, dims = [2] : (tensor<6xf32>) -> tensor<2x1x6xf32>
// OLDER: %[[REPEATED:.*]] = stablehlo.broadcast_in_dim %[[TWO]], dims = [] : (tensor<f32>) -> tensor<4x6xf32>
// OLDER: stablehlo.multiply %arg0, %[[REPEATED]] : tensor<4x6xf32>
// OLDER: stablehlo.compare LT, %arg0, %{{.*}} : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xi1>

// A size is a constant, of which shapes may be computed.
// SIZES-LABEL: func.func @loss
// SIZES: stablehlo.reshape %arg0 : (tensor<4x6xf32>) -> tensor<6x4xf32>
// SIZES: stablehlo.broadcast_in_dim %{{.*}}, dims = [1, 2] : (tensor<6x4xf32>) -> tensor<2x6x4xf32>
// SIZES: stablehlo.iota dim = 1 : tensor<6x4xi32>
// SIZES: stablehlo.pad %arg0, %{{.*}}, low = [1, -1], high = [0, 2], interior = [1, 0] : (tensor<4x6xf32>, tensor<f32>) -> tensor<8x7xf32>
// SIZES: stablehlo.slice %arg0 [1:4:2, 0:6] : (tensor<4x6xf32>) -> tensor<2x6xf32>
// SIZES: "stablehlo.gather"(%arg0, %{{.*}}) <{{.*}}slice_sizes = array<i64: 1, 6>
// SIZES: stablehlo.convolution(%{{.*}}, %{{.*}}) {{.*}}pad = {{\[\[}}1, 0], [0, 1]]
// SIZES: return %arg0, %
// SIZES-NOT: stablehlo.dynamic

// MAP: {{^}}llmc: error[unsupported]: {{.*}}map.mlir:4:10: 'stablehlo.reduce' op expected element-wise ops in the body of 'stablehlo.map', got another{{$}}
// UNKNOWN: {{^}}llmc: error[unsupported]: {{.*}}unknown.mlir:4:8: 'stablehlo.dynamic_pad' op expected sizes that are known before the run, got some that depend on argument 0 ('x'){{$}}
// SHAPE: {{^}}llmc: error[malformed]: {{.*}}shape.mlir:3:8: 'stablehlo.dynamic_reshape' op expected the shape of the result, 'tensor<6x4xi32>', got [4, 6]{{$}}
// SHORT: {{^}}llmc: error[malformed]: {{.*}}short.mlir:3:8: 'stablehlo.real_dynamic_slice' op expected sizes that fit, got others: {{.*}}
// EDGES: {{^}}llmc: error[malformed]: {{.*}}edges.mlir:4:8: 'stablehlo.dynamic_pad' op expected sizes that fit, got others: {{.*}}
// RESIZED: {{^}}llmc: error[unsupported]: {{.*}}resized.mlir:3:8: 'stablehlo.set_dimension_size' op expected the size 6 that dimension 1 has, got 5{{$}}

//--- older.mlir
func.func @main(%x: tensor<4x6xf32> loc("x")) -> (tensor<4x3xf32>, tensor<3xf32>, tensor<2x1x6xf32>, tensor<4x6xf32>, tensor<4x6xi1>) {
  %two = stablehlo.constant dense<2.0> : tensor<f32>
  %w = stablehlo.constant dense<2.0> : tensor<6x3xf32>
  %v = stablehlo.constant dense<2.0> : tensor<6xf32>
  %0 = stablehlo.dot %x, %w, precision = [HIGH, DEFAULT] : (tensor<4x6xf32>, tensor<6x3xf32>) -> tensor<4x3xf32>
  %1 = stablehlo.dot %v, %w : (tensor<6xf32>, tensor<6x3xf32>) -> tensor<3xf32>
  %2 = stablehlo.broadcast %v, sizes = [2, 1] : (tensor<6xf32>) -> tensor<2x1x6xf32>
  %3 = "stablehlo.map"(%x) <{dimensions = array<i64: 0, 1>}> ({
  ^bb0(%p: tensor<f32>):
    %5 = stablehlo.multiply %p, %two : tensor<f32>
    stablehlo.return %5 : tensor<f32>
  }) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %4 = "stablehlo.map"(%x, %3) <{dimensions = array<i64: 0, 1>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %5 = stablehlo.compare LT, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %5 : tensor<i1>
  }) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xi1>
  return %0, %1, %2, %3, %4 : tensor<4x3xf32>, tensor<3xf32>, tensor<2x1x6xf32>, tensor<4x6xf32>, tensor<4x6xi1>
}

//--- sizes.mlir
func.func @main(%x: tensor<4x6xf32> loc("x")) -> (tensor<4x6xf32>, tensor<2x6x4xf32>, tensor<6x4xi32>, tensor<8x7xf32>, tensor<2x6xf32>, tensor<3x6xf32>, tensor<1x8x6x2xf32>) {
  %columns = stablehlo.get_dimension_size %x, dim = 1 : (tensor<4x6xf32>) -> tensor<i32>
  %rows = stablehlo.get_dimension_size %x, dim = 0 : (tensor<4x6xf32>) -> tensor<i32>
  %a = stablehlo.reshape %columns : (tensor<i32>) -> tensor<1xi32>
  %b = stablehlo.reshape %rows : (tensor<i32>) -> tensor<1xi32>
  %two = stablehlo.constant dense<2> : tensor<1xi32>
  %shape = stablehlo.concatenate %a, %b, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %shape3 = stablehlo.concatenate %two, %a, %b, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
  %same = stablehlo.set_dimension_size %x, %columns, dim = 1 : (tensor<4x6xf32>, tensor<i32>) -> tensor<4x6xf32>
  %0 = stablehlo.dynamic_reshape %x, %shape : (tensor<4x6xf32>, tensor<2xi32>) -> tensor<6x4xf32>
  %1 = stablehlo.dynamic_broadcast_in_dim %0, %shape3, dims = [1, 2] : (tensor<6x4xf32>, tensor<3xi32>) -> tensor<2x6x4xf32>
  %2 = stablehlo.dynamic_iota %shape, dim = 1 : (tensor<2xi32>) -> tensor<6x4xi32>
  %c = stablehlo.constant dense<2.0> : tensor<f32>
  %low = stablehlo.constant dense<[1, -1]> : tensor<2xi32>
  %high = stablehlo.constant dense<[0, 2]> : tensor<2xi64>
  %inner = stablehlo.constant dense<[1, 0]> : tensor<2xi32>
  %3 = stablehlo.dynamic_pad %x, %c, %low, %high, %inner : (tensor<4x6xf32>, tensor<f32>, tensor<2xi32>, tensor<2xi64>, tensor<2xi32>) -> tensor<8x7xf32>
  %limit = stablehlo.constant dense<[4, 6]> : tensor<2xi32>
  %step = stablehlo.constant dense<[2, 1]> : tensor<2xi32>
  %4 = stablehlo.real_dynamic_slice %x, %inner, %limit, %step : (tensor<4x6xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<2x6xf32>
  %at = stablehlo.iota dim = 0 : tensor<3xi32>
  %one = stablehlo.constant dense<[1, 6]> : tensor<2xi32>
  %5 = "stablehlo.dynamic_gather"(%x, %at, %one) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>}> : (tensor<4x6xf32>, tensor<3xi32>, tensor<2xi32>) -> tensor<3x6xf32>
  %image = stablehlo.reshape %3 : (tensor<8x7xf32>) -> tensor<1x8x7x1xf32>
  %kernel = stablehlo.constant dense<2.0> : tensor<2x3x1x2xf32>
  %edges = stablehlo.constant dense<[[1, 0], [0, 1]]> : tensor<2x2xi32>
  %6 = "stablehlo.dynamic_conv"(%image, %kernel, %edges) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64}> : (tensor<1x8x7x1xf32>, tensor<2x3x1x2xf32>, tensor<2x2xi32>) -> tensor<1x8x6x2xf32>
  return %same, %1, %2, %3, %4, %5, %6 : tensor<4x6xf32>, tensor<2x6x4xf32>, tensor<6x4xi32>, tensor<8x7xf32>, tensor<2x6xf32>, tensor<3x6xf32>, tensor<1x8x6x2xf32>
}

//--- map.mlir
func.func @main(%x: tensor<4x6xf32> loc("x")) -> tensor<4x6xf32> {
  %0 = "stablehlo.map"(%x) <{dimensions = array<i64: 0, 1>}> ({
  ^bb0(%p: tensor<f32>):
    %1 = stablehlo.reduce(%p init: %p) applies stablehlo.add across dimensions = [] : (tensor<f32>, tensor<f32>) -> tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}

//--- unknown.mlir
func.func @main(%x: tensor<2xi32> loc("x")) -> tensor<4x4xi32> {
  %c = stablehlo.constant dense<1> : tensor<i32>
  %y = stablehlo.constant dense<1> : tensor<2x2xi32>
  %0 = stablehlo.dynamic_pad %y, %c, %x, %x, %x : (tensor<2x2xi32>, tensor<i32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<4x4xi32>
  return %0 : tensor<4x4xi32>
}

//--- shape.mlir
func.func @main(%x: tensor<4x6xi32> loc("x")) -> tensor<6x4xi32> {
  %c = stablehlo.constant dense<[4, 6]> : tensor<2xi32>
  %0 = stablehlo.dynamic_reshape %x, %c : (tensor<4x6xi32>, tensor<2xi32>) -> tensor<6x4xi32>
  return %0 : tensor<6x4xi32>
}

//--- short.mlir
func.func @main(%x: tensor<4x6xi32> loc("x")) -> tensor<4x4xi32> {
  %c = stablehlo.constant dense<[1]> : tensor<1xi32>
  %0 = stablehlo.real_dynamic_slice %x, %c, %c, %c : (tensor<4x6xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<4x4xi32>
  return %0 : tensor<4x4xi32>
}

//--- edges.mlir
func.func @main(%x: tensor<4x6xi32> loc("x")) -> tensor<4x4xi32> {
  %v = stablehlo.constant dense<1> : tensor<i32>
  %c = stablehlo.constant dense<[-9, 1]> : tensor<2xi32>
  %0 = stablehlo.dynamic_pad %x, %v, %c, %c, %c : (tensor<4x6xi32>, tensor<i32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<4x4xi32>
  return %0 : tensor<4x4xi32>
}

//--- resized.mlir
func.func @main(%x: tensor<4x6xi32> loc("x")) -> tensor<4x6xi32> {
  %c = stablehlo.constant dense<5> : tensor<i32>
  %0 = stablehlo.set_dimension_size %x, %c, dim = 1 : (tensor<4x6xi32>, tensor<i32>) -> tensor<4x6xi32>
  return %0 : tensor<4x6xi32>
}
