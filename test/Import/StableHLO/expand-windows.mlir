// Convolutions become one contraction of patches, windows slices that are
// combined; nothing of them is left.
// RUN: split-file %s %t
// DEFINE: %{import} = llmc compile --compile-to=import -o - --set data.inputs.x=0 --set data.inputs.w=0
// RUN: %{import} %t/patches.mlir | llmc-opt | FileCheck %s --check-prefix=PATCHES
// RUN: %{import} %t/orders.mlir | llmc-opt | FileCheck %s --check-prefix=ORDERS
// RUN: %{import} %t/unit.mlir | llmc-opt | FileCheck %s --check-prefix=UNIT
// RUN: %{import} %t/groups.mlir | llmc-opt | FileCheck %s --check-prefix=GROUPS
// RUN: %{import} %t/depthwise.mlir | llmc-opt | FileCheck %s --check-prefix=DEPTHWISE
// RUN: %{import} %t/reversed.mlir | llmc-opt | FileCheck %s --check-prefix=REVERSED
// RUN: %{import} %t/pool.mlir | llmc-opt | FileCheck %s --check-prefix=POOL
// RUN: %{import} %t/cumulative.mlir | llmc-opt | FileCheck %s --check-prefix=CUMULATIVE
// RUN: %{import} %t/most.mlir | llmc-opt | FileCheck %s --check-prefix=MOST
// RUN: %{import} %t/long.mlir | llmc-opt | FileCheck %s --check-prefix=LONG
// RUN: %{import} %t/start.mlir | llmc-opt | FileCheck %s --check-prefix=START
// RUN: %{import} %t/empty.mlir | llmc-opt | FileCheck %s --check-prefix=EMPTY
// RUN: not %{import} %t/body.mlir 2>&1 | FileCheck %s --check-prefix=BODY
// RUN: not %{import} %t/arguments.mlir 2>&1 | FileCheck %s --check-prefix=ARGUMENTS
// RUN: not %{import} %t/slices.mlir 2>&1 | FileCheck %s --check-prefix=SLICES
// RUN: not %{import} %t/terms.mlir 2>&1 | FileCheck %s --check-prefix=TERMS

// Padding; two slices for the rows (fewer places than kernel rows), three for the
// columns; the kernel as it is; the precision.
// PATCHES-NOT: stablehlo.convolution
// PATCHES: stablehlo.pad %{{.*}}, low = [0, 1, 0, 0], high = [0, 0, 1, 0], interior = [0, 1, 0, 0]
// PATCHES-SAME: -> tensor<2x8x9x6xf32>
// PATCHES: stablehlo.slice %{{.*}} [0:2, 0:5:2, 0:9, 0:6]
// PATCHES: stablehlo.reshape %{{.*}} -> tensor<2x1x3x9x6xf32>
// PATCHES: stablehlo.slice %{{.*}} [0:2, 2:7:2, 0:9, 0:6]
// PATCHES: stablehlo.concatenate {{.*}} dim = 1 : {{.*}} -> tensor<2x2x3x9x6xf32>
// PATCHES: stablehlo.transpose %{{.*}}, dims = [0, 1, 3, 2, 4] : {{.*}} -> tensor<2x2x9x3x6xf32>
// PATCHES: stablehlo.slice %{{.*}} [0:2, 0:2, 0:7:3, 0:3, 0:6]
// PATCHES: stablehlo.slice %{{.*}} [0:2, 0:2, 1:8:3, 0:3, 0:6]
// PATCHES: stablehlo.slice %{{.*}} [0:2, 0:2, 2:9:3, 0:3, 0:6]
// PATCHES: %[[COLUMNS:.*]] = stablehlo.concatenate {{.*}} dim = 4 : {{.*}} -> tensor<2x2x3x3x3x6xf32>
// PATCHES: stablehlo.dot_general %[[COLUMNS]], %{{arg.*}}, contracting_dims = [3, 4, 5] x [0, 1, 2], precision = [HIGH, HIGHEST] : (tensor<2x2x3x3x3x6xf32>, tensor<3x3x6x4xf32>) -> tensor<2x2x3x4xf32>
// PATCHES-NEXT: return

// The result is rearranged, not the kernel: its input features stand first.
// ORDERS-NOT: stablehlo.convolution
// ORDERS: stablehlo.transpose %{{arg.*}}, dims = [0, 2, 1] : (tensor<2x6x9xbf16>) -> tensor<2x9x6xbf16>
// ORDERS: %[[COLUMNS:.*]] = stablehlo.concatenate {{.*}} dim = 3 : {{.*}} -> tensor<2x7x6x3xbf16>
// ORDERS: %[[PRODUCT:.*]] = stablehlo.dot_general %[[COLUMNS]], %{{arg.*}}, contracting_dims = [2, 3] x [1, 2] : (tensor<2x7x6x3xbf16>, tensor<4x6x3xbf16>) -> tensor<2x7x4xf32>
// ORDERS-NEXT: stablehlo.transpose %[[PRODUCT]], dims = [0, 2, 1] : (tensor<2x7x4xf32>) -> tensor<2x4x7xf32>

// UNIT-LABEL: func.func @loss
// UNIT-NOT: stablehlo.slice
// UNIT: %[[KERNEL:.*]] = stablehlo.reshape %{{arg.*}} : (tensor<1x1x6x4xf32>) -> tensor<6x4xf32>
// UNIT-NEXT: stablehlo.dot_general %{{arg.*}}, %[[KERNEL]], contracting_dims = [3] x [0]
// UNIT-NEXT: return

// Two groups of features; the same of the batch.
// GROUPS-LABEL: func.func @loss
// GROUPS: stablehlo.reshape %{{arg.*}} : (tensor<3x2x12xf32>) -> tensor<3x2x2x6xf32>
// GROUPS: stablehlo.reshape %{{arg.*}} : (tensor<4x9x4xf32>) -> tensor<4x9x2x2xf32>
// GROUPS: stablehlo.dot_general {{.*}}, batching_dims = [2] x [2], contracting_dims = [3, 4] x [0, 1] : (tensor<4x7x2x3x2xf32>, tensor<3x2x2x6xf32>) -> tensor<2x4x7x6xf32>
// GROUPS-NEXT: stablehlo.transpose %{{.*}}, dims = [1, 2, 0, 3] : {{.*}} -> tensor<4x7x2x6xf32>
// GROUPS-NEXT: stablehlo.reshape {{.*}} -> tensor<4x7x12xf32>
// GROUPS: stablehlo.reshape %{{arg.*}} : (tensor<4x9x4xf32>) -> tensor<2x2x9x4xf32>
// GROUPS: stablehlo.dot_general {{.*}}, batching_dims = [0] x [1], contracting_dims = [3] x [0] : (tensor<2x2x9x4xf32>, tensor<4x2x5xf32>) -> tensor<2x2x9x5xf32>

// DEPTHWISE-LABEL: func.func @loss
// DEPTHWISE-NOT: stablehlo.dot_general
// DEPTHWISE: stablehlo.convert %{{arg.*}} : (tensor<4x9x3xbf16>) -> tensor<4x9x3xf32>
// DEPTHWISE: stablehlo.broadcast_in_dim {{.*}}, dims = [0, 1, 2] : (tensor<4x9x3xf32>) -> tensor<4x9x3x2xf32>
// DEPTHWISE: stablehlo.reshape {{.*}} -> tensor<4x9x6xf32>
// DEPTHWISE: stablehlo.slice {{.*}} [0:4, 0:7:2, 0:6]
// DEPTHWISE: stablehlo.multiply {{.*}} : tensor<4x4x6xf32>
// DEPTHWISE: stablehlo.slice {{.*}} [0:4, 2:9:2, 0:6]
// DEPTHWISE: stablehlo.multiply {{.*}} : tensor<4x4x6xf32>
// DEPTHWISE: stablehlo.add {{.*}} : tensor<4x4x6xf32>
// DEPTHWISE: stablehlo.convert {{.*}} -> tensor<4x4x6xbf16>

// Only what has a size is reversed.
// REVERSED: stablehlo.reverse %{{arg.*}}, dims = [0] : tensor<3x1x6x4xf32>

// One dimension after another, the last one first; the first of equal elements is
// kept, and so is NaN.
// POOL-LABEL: func.func @loss
// POOL: stablehlo.pad %arg0, %{{.*}}, low = [0, 1, 0], high = [0, 0, -1], interior = [0, 0, 0]
// POOL: %[[FIRST:.*]] = stablehlo.slice %[[PADDED:.*]] [0:2, 0:8, 0:5:2] :
// POOL-NEXT: %[[SECOND:.*]] = stablehlo.slice %[[PADDED]] [0:2, 0:8, 1:6:2] :
// POOL-NEXT: %[[WINS:.*]] = stablehlo.compare GE, %[[FIRST]], %[[SECOND]], FLOAT
// POOL-NEXT: %[[NAN:.*]] = stablehlo.compare NE, %[[FIRST]], %[[FIRST]], FLOAT
// POOL-NEXT: %[[KEPT:.*]] = stablehlo.or %[[WINS]], %[[NAN]]
// POOL-NEXT: %[[ROWS:.*]] = stablehlo.select %[[KEPT]], %[[FIRST]], %[[SECOND]]
// POOL-NEXT: stablehlo.slice %[[ROWS]] [0:2, 0:7:3, 0:3]
// POOL-NEXT: stablehlo.slice %[[ROWS]] [0:2, 1:8:3, 0:3]
// POOL-NOT: stablehlo.slice
// POOL: return %{{.*}} : tensor<2x3x3xf32>

// Eight elements in three steps, downward by padding at the other edge.
// CUMULATIVE-LABEL: func.func @loss
// CUMULATIVE: stablehlo.pad %arg0, %{{.*}}, low = [0, 1], high = [0, -1]
// CUMULATIVE-NEXT: stablehlo.add
// CUMULATIVE-NEXT: stablehlo.pad %{{.*}}, low = [0, 2], high = [0, -2]
// CUMULATIVE-NEXT: stablehlo.add
// CUMULATIVE-NEXT: stablehlo.pad %{{.*}}, low = [0, 4], high = [0, -4]
// CUMULATIVE-NEXT: stablehlo.add
// CUMULATIVE-NEXT: stablehlo.pad %{{.*}}, low = [0, -1], high = [0, 1]
// CUMULATIVE-NOT: stablehlo.slice

// Pairs of pairs, as jax.lax.cummax is derived.
// MOST-LABEL: func.func @loss
// MOST: stablehlo.slice %arg0 [0:2, 0:3:2]
// MOST-NEXT: stablehlo.slice %arg0 [0:2, 1:4:2]
// MOST-NEXT: stablehlo.maximum {{.*}} : tensor<2x2xf32>
// MOST: stablehlo.maximum {{.*}} : tensor<2x1xf32>
// MOST: stablehlo.concatenate {{.*}} dim = 2 : (tensor<2x2x1xf32>, tensor<2x2x1xf32>) -> tensor<2x2x2xf32>
// MOST-NEXT: stablehlo.reshape {{.*}} -> tensor<2x4xf32>
// MOST-NOT: stablehlo.compare

// Eleven elements: runs of 1, 2 and 8. A window over all of a dimension is a
// reduction.
// LONG-LABEL: func.func @loss
// LONG: stablehlo.slice %arg0 [0:2, 0:3]
// LONG-NEXT: stablehlo.slice %arg0 [0:2, 0:12]
// LONG-NEXT: stablehlo.slice %arg0 [0:2, 1:13]
// LONG-NEXT: %[[TWO:.*]] = stablehlo.add {{.*}} : tensor<2x12xf32>
// LONG-NEXT: stablehlo.slice %[[TWO]] [0:2, 1:4]
// LONG-NEXT: stablehlo.add {{.*}} : tensor<2x3xf32>
// LONG-NEXT: stablehlo.slice %[[TWO]] [0:2, 0:10]
// LONG-NEXT: stablehlo.slice %[[TWO]] [0:2, 2:12]
// LONG-NEXT: %[[FOUR:.*]] = stablehlo.add {{.*}} : tensor<2x10xf32>
// LONG-NEXT: stablehlo.slice %[[FOUR]] [0:2, 0:6]
// LONG-NEXT: stablehlo.slice %[[FOUR]] [0:2, 4:10]
// LONG-NEXT: %[[EIGHT:.*]] = stablehlo.add {{.*}} : tensor<2x6xf32>
// LONG-NEXT: stablehlo.slice %[[EIGHT]] [0:2, 3:6]
// LONG-NEXT: stablehlo.add {{.*}} : tensor<2x3xf32>
// LONG: stablehlo.reduce(%arg0 init: %{{.*}}) applies stablehlo.multiply across dimensions = [1]

// An initial value that is not neutral is padding, and starts each window.
// START-LABEL: func.func @loss
// START: %[[THREE:.*]] = stablehlo.constant dense<3.0
// START: stablehlo.pad %arg0, %[[THREE]], low = [0, 7], high = [0, 0]
// START: %[[REPEATED:.*]] = stablehlo.broadcast_in_dim %[[THREE]], dims = []
// START-NEXT: stablehlo.add %[[REPEATED]], %{{.*}}

// EMPTY-LABEL: func.func @loss
// EMPTY: %[[NONE:.*]] = stablehlo.constant dense<0.0{{.*}}> : tensor<2x0xf32>
// EMPTY: %[[ZERO:.*]] = stablehlo.constant dense<0.0{{.*}}> : tensor<2x5x4xf32>
// EMPTY: return %[[NONE]], %[[ZERO]]

// BODY: {{^}}llmc: error[unsupported]: {{.*}}body.mlir:3:8: {{.*}}expected a window that one add, multiply, maximum, minimum, and, or or xor combines for each input, got a body of stablehlo.abs stablehlo.add stablehlo.return{{$}}
// ARGUMENTS: {{^}}llmc: error[unsupported]: {{.*}}arguments.mlir:3:8: {{.*}}expected a window that one add, multiply, maximum, minimum, and, or or xor combines for each input, got a body of stablehlo.add stablehlo.return{{$}}
// SLICES: {{^}}llmc: error[unsupported]: {{.*}}slices.mlir:2:8: {{.*}}expected a convolution of at most 256 slices, got a kernel of size 300 in spatial dim 0 of 'tensor<300x6x4xf32>'{{$}}
// TERMS: {{^}}llmc: error[unsupported]: {{.*}}terms.mlir:2:8: {{.*}}expected a convolution of at most 256 slices, got a kernel of size 17 in spatial dim 1 of 'tensor<16x17x1x6xf32>'{{$}}

//--- patches.mlir
func.func @main(%x: tensor<2x4x8x6xf32> loc("x"), %w: tensor<3x3x6x4xf32> loc("w")) -> tensor<2x2x3x4xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 3], pad = [[1, 0], [0, 1]], lhs_dilate = [2, 1], rhs_dilate = [2, 1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision HIGH>, #stablehlo<precision HIGHEST>]} : (tensor<2x4x8x6xf32>, tensor<3x3x6x4xf32>) -> tensor<2x2x3x4xf32>
  return %0 : tensor<2x2x3x4xf32>
}

//--- orders.mlir
func.func @main(%x: tensor<2x6x9xbf16> loc("x"), %w: tensor<4x6x3xbf16> loc("w")) -> tensor<2x4x7xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x6x9xbf16>, tensor<4x6x3xbf16>) -> tensor<2x4x7xf32>
  return %0 : tensor<2x4x7xf32>
}

//--- unit.mlir
func.func @main(%x: tensor<2x4x8x6xf32> loc("x"), %w: tensor<1x1x6x4xf32> loc("w")) -> tensor<2x4x8x4xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], reverse = [true, true]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x4x8x6xf32>, tensor<1x1x6x4xf32>) -> tensor<2x4x8x4xf32>
  return %0 : tensor<2x4x8x4xf32>
}

//--- groups.mlir
func.func @main(%x: tensor<4x9x4xf32> loc("x"), %w: tensor<3x2x12xf32> loc("w")) -> (tensor<4x7x12xf32>, tensor<2x9x10xf32>) {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 2 : i64} : (tensor<4x9x4xf32>, tensor<3x2x12xf32>) -> tensor<4x7x12xf32>
  %1 = stablehlo.constant dense<2.0> : tensor<1x4x10xf32>
  %2 = stablehlo.convolution(%x, %1) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 2 : i64, feature_group_count = 1 : i64} : (tensor<4x9x4xf32>, tensor<1x4x10xf32>) -> tensor<2x9x10xf32>
  return %0, %2 : tensor<4x7x12xf32>, tensor<2x9x10xf32>
}

//--- depthwise.mlir
func.func @main(%x: tensor<4x9x3xbf16> loc("x"), %w: tensor<2x1x6xbf16> loc("w")) -> tensor<4x4x6xbf16> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [2], rhs_dilate = [2]} {batch_group_count = 1 : i64, feature_group_count = 3 : i64} : (tensor<4x9x3xbf16>, tensor<2x1x6xbf16>) -> tensor<4x4x6xbf16>
  return %0 : tensor<4x4x6xbf16>
}

//--- reversed.mlir
func.func @main(%x: tensor<2x4x8x6xf32> loc("x"), %w: tensor<3x1x6x4xf32> loc("w")) -> tensor<2x2x8x4xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {reverse = [true, true]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x4x8x6xf32>, tensor<3x1x6x4xf32>) -> tensor<2x2x8x4xf32>
  return %0 : tensor<2x2x8x4xf32>
}

//--- pool.mlir
func.func @main(%x: tensor<2x7x7xf32> loc("x"), %w: tensor<1xf32> loc("w")) -> tensor<2x3x3xf32> {
  %init = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %init) <{padding = dense<[[0, 0], [1, 0], [0, -1]]> : tensor<3x2xi64>, window_dimensions = array<i64: 1, 2, 2>, window_strides = array<i64: 1, 3, 2>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %1 = stablehlo.maximum %q, %p : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<2x7x7xf32>, tensor<f32>) -> tensor<2x3x3xf32>
  return %0 : tensor<2x3x3xf32>
}

//--- cumulative.mlir
func.func @main(%x: tensor<2x8xf32> loc("x"), %w: tensor<1xf32> loc("w")) -> (tensor<2x8xf32>, tensor<2x8xf32>) {
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %init = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<f32>) -> tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %init) <{padding = dense<[[0, 0], [7, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: 1, 8>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %2 = stablehlo.add %p, %q : tensor<f32>
    stablehlo.return %2 : tensor<f32>
  }) : (tensor<2x8xf32>, tensor<f32>) -> tensor<2x8xf32>
  %1 = "stablehlo.reduce_window"(%x, %init) <{padding = dense<[[0, 0], [0, 7]]> : tensor<2x2xi64>, window_dimensions = array<i64: 1, 8>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %2 = stablehlo.add %p, %q : tensor<f32>
    stablehlo.return %2 : tensor<f32>
  }) : (tensor<2x8xf32>, tensor<f32>) -> tensor<2x8xf32>
  return %0, %1 : tensor<2x8xf32>, tensor<2x8xf32>
}

//--- most.mlir
func.func @main(%x: tensor<2x4xf32> loc("x"), %w: tensor<1xf32> loc("w")) -> tensor<2x4xf32> {
  %init = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %init) <{padding = dense<[[0, 0], [3, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: 1, 4>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %1 = stablehlo.maximum %p, %q : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

//--- long.mlir
func.func @main(%x: tensor<2x13xf32> loc("x"), %w: tensor<1xf32> loc("w")) -> (tensor<2x3xf32>, tensor<2x1xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %zero) <{window_dimensions = array<i64: 1, 11>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %2 = stablehlo.add %p, %q : tensor<f32>
    stablehlo.return %2 : tensor<f32>
  }) : (tensor<2x13xf32>, tensor<f32>) -> tensor<2x3xf32>
  %1 = "stablehlo.reduce_window"(%x, %one) <{window_dimensions = array<i64: 1, 13>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %2 = stablehlo.multiply %p, %q : tensor<f32>
    stablehlo.return %2 : tensor<f32>
  }) : (tensor<2x13xf32>, tensor<f32>) -> tensor<2x1xf32>
  return %0, %1 : tensor<2x3xf32>, tensor<2x1xf32>
}

//--- start.mlir
func.func @main(%x: tensor<2x8xf32> loc("x"), %w: tensor<1xf32> loc("w")) -> tensor<2x8xf32> {
  %init = stablehlo.constant dense<3.0> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %init) <{padding = dense<[[0, 0], [7, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: 1, 8>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %2 = stablehlo.add %p, %q : tensor<f32>
    stablehlo.return %2 : tensor<f32>
  }) : (tensor<2x8xf32>, tensor<f32>) -> tensor<2x8xf32>
  return %0 : tensor<2x8xf32>
}

//--- empty.mlir
func.func @main(%x: tensor<2x8xf32> loc("x"), %w: tensor<1xf32> loc("w")) -> (tensor<2x0xf32>, tensor<2x5x4xf32>) {
  %init = stablehlo.constant dense<0.0> : tensor<f32>
  %y = stablehlo.constant dense<> : tensor<2x7x0xf32>
  %kernel = stablehlo.constant dense<> : tensor<3x0x4xf32>
  %0 = "stablehlo.reduce_window"(%x, %init) <{window_dimensions = array<i64: 1, 9>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %2 = stablehlo.add %p, %q : tensor<f32>
    stablehlo.return %2 : tensor<f32>
  }) : (tensor<2x8xf32>, tensor<f32>) -> tensor<2x0xf32>
  %1 = stablehlo.convolution(%y, %kernel) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x7x0xf32>, tensor<3x0x4xf32>) -> tensor<2x5x4xf32>
  return %0, %1 : tensor<2x0xf32>, tensor<2x5x4xf32>
}

//--- body.mlir
func.func @main(%x: tensor<2x8xf32> loc("x"), %w: tensor<1xf32> loc("w")) -> tensor<2x8xf32> {
  %init = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %init) <{window_dimensions = array<i64: 1, 1>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %1 = stablehlo.abs %q : tensor<f32>
    %2 = stablehlo.add %p, %1 : tensor<f32>
    stablehlo.return %2 : tensor<f32>
  }) : (tensor<2x8xf32>, tensor<f32>) -> tensor<2x8xf32>
  return %0 : tensor<2x8xf32>
}

//--- arguments.mlir
func.func @main(%x: tensor<2x8xf32> loc("x"), %w: tensor<1xf32> loc("w")) -> tensor<2x8xf32> {
  %init = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %init) <{window_dimensions = array<i64: 1, 1>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %2 = stablehlo.add %p, %p : tensor<f32>
    stablehlo.return %2 : tensor<f32>
  }) : (tensor<2x8xf32>, tensor<f32>) -> tensor<2x8xf32>
  return %0 : tensor<2x8xf32>
}

//--- slices.mlir
func.func @main(%x: tensor<2x600x6xf32> loc("x"), %w: tensor<300x6x4xf32> loc("w")) -> tensor<2x301x4xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x600x6xf32>, tensor<300x6x4xf32>) -> tensor<2x301x4xf32>
  return %0 : tensor<2x301x4xf32>
}

//--- terms.mlir
func.func @main(%x: tensor<2x20x20x6xf32> loc("x"), %w: tensor<16x17x1x6xf32> loc("w")) -> tensor<2x5x4x6xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 6 : i64} : (tensor<2x20x20x6xf32>, tensor<16x17x1x6xf32>) -> tensor<2x5x4x6xf32>
  return %0 : tensor<2x5x4x6xf32>
}
