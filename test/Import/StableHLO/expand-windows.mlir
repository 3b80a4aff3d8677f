// Windows become slices that are combined; nothing of them is left.
// RUN: split-file %s %t
// DEFINE: %{import} = llmc compile --compile-to=import -o - --set data.inputs.x=0 --set data.inputs.w=0
// RUN: %{import} %t/pool.mlir | llmc-opt | FileCheck %s --check-prefix=POOL
// RUN: %{import} %t/cumulative.mlir | llmc-opt | FileCheck %s --check-prefix=CUMULATIVE
// RUN: %{import} %t/most.mlir | llmc-opt | FileCheck %s --check-prefix=MOST
// RUN: %{import} %t/long.mlir | llmc-opt | FileCheck %s --check-prefix=LONG
// RUN: %{import} %t/start.mlir | llmc-opt | FileCheck %s --check-prefix=START
// RUN: %{import} %t/empty.mlir | llmc-opt | FileCheck %s --check-prefix=EMPTY
// RUN: not %{import} %t/body.mlir 2>&1 | FileCheck %s --check-prefix=BODY
// RUN: %{import} %t/several.mlir | llmc-opt | FileCheck %s --check-prefix=SEVERAL
// RUN: %{import} %t/together.mlir | llmc-opt | FileCheck %s --check-prefix=TOGETHER

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
// EMPTY: return %[[NONE]]

// Other bodies are written on the slices, the initial values first. What is not
// padded is not; constants and what stands outside are repeated.
// SEVERAL-LABEL: func.func @loss
// SEVERAL-DAG: %[[LOW:.*]] = stablehlo.constant dense<0xFF800000> : tensor<f32>
// SEVERAL-DAG: %[[NONE:.*]] = stablehlo.constant dense<-1> : tensor<i32>
// SEVERAL: %[[X0:.*]] = stablehlo.slice %arg0 [0:2, 0:5:2]
// SEVERAL-NEXT: %[[I0:.*]] = stablehlo.slice %[[I:.*]] [0:2, 0:5:2]
// SEVERAL-NEXT: %[[X1:.*]] = stablehlo.slice %arg0 [0:2, 1:6:2]
// SEVERAL-NEXT: %[[I1:.*]] = stablehlo.slice %[[I]] [0:2, 1:6:2]
// SEVERAL-NEXT: %[[STAYS:.*]] = stablehlo.compare GE, %[[X0]], %[[X1]]
// SEVERAL-NEXT: %[[X:.*]] = stablehlo.select %[[STAYS]], %[[X0]], %[[X1]]
// SEVERAL-NEXT: %[[AT:.*]] = stablehlo.select %[[STAYS]], %[[I0]], %[[I1]]
// SEVERAL-NEXT: %[[XS:.*]] = stablehlo.broadcast_in_dim %[[LOW]], dims = []
// SEVERAL-NEXT: %[[IS:.*]] = stablehlo.broadcast_in_dim %[[NONE]], dims = []
// SEVERAL-NEXT: stablehlo.compare GE, %[[XS]], %[[X]]
// SEVERAL-NOT: stablehlo.pad

// Cumulative windows in pairs, from the end on: the later part comes second.
// TOGETHER-LABEL: func.func @loss
// TOGETHER: %[[X:.*]] = stablehlo.reverse %arg0, dims = [1]
// TOGETHER-NEXT: %[[LATER:.*]] = stablehlo.slice %[[X]] [0:2, 0:3:2]
// TOGETHER-NEXT: %[[EARLIER:.*]] = stablehlo.slice %[[X]] [0:2, 1:4:2]
// TOGETHER-NEXT: %[[PART:.*]] = stablehlo.subtract %[[EARLIER]], %[[LATER]]
// TOGETHER-NEXT: stablehlo.abs %[[PART]]
// TOGETHER-NOT: stablehlo.pad

// BODY: {{^}}llmc: error[unsupported]: {{.*}}body.mlir:5:10: 'stablehlo.dot_general' op expected element-wise ops in the body of 'stablehlo.reduce_window', got another{{$}}

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
func.func @main(%x: tensor<2x8xf32> loc("x"), %w: tensor<1xf32> loc("w")) -> tensor<2x0xf32> {
  %init = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %init) <{window_dimensions = array<i64: 1, 9>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %2 = stablehlo.add %p, %q : tensor<f32>
    stablehlo.return %2 : tensor<f32>
  }) : (tensor<2x8xf32>, tensor<f32>) -> tensor<2x0xf32>
  return %0 : tensor<2x0xf32>
}

//--- several.mlir
func.func @main(%x: tensor<2x6xf32> loc("x"), %w: tensor<1xf32> loc("w")) -> (tensor<2x3xf32>, tensor<2x3xi32>) {
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %none = stablehlo.constant dense<-1> : tensor<i32>
  %at = stablehlo.iota dim = 1 : tensor<2x6xi32>
  %0:2 = "stablehlo.reduce_window"(%x, %at, %low, %none) <{window_dimensions = array<i64: 1, 2>, window_strides = array<i64: 1, 2>}> ({
  ^bb0(%p: tensor<f32>, %i: tensor<i32>, %q: tensor<f32>, %j: tensor<i32>):
    %1 = stablehlo.compare GE, %p, %q, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %2 = stablehlo.select %1, %p, %q : tensor<i1>, tensor<f32>
    %3 = stablehlo.select %1, %i, %j : tensor<i1>, tensor<i32>
    stablehlo.return %2, %3 : tensor<f32>, tensor<i32>
  }) : (tensor<2x6xf32>, tensor<2x6xi32>, tensor<f32>, tensor<i32>) -> (tensor<2x3xf32>, tensor<2x3xi32>)
  return %0#0, %0#1 : tensor<2x3xf32>, tensor<2x3xi32>
}

//--- together.mlir
func.func @main(%x: tensor<2x4xf32> loc("x"), %w: tensor<1xf32> loc("w")) -> tensor<2x4xf32> {
  %init = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %init) <{padding = dense<[[0, 0], [0, 3]]> : tensor<2x2xi64>, window_dimensions = array<i64: 1, 4>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %1 = stablehlo.subtract %p, %q : tensor<f32>
    %2 = stablehlo.abs %1 : tensor<f32>
    stablehlo.return %2 : tensor<f32>
  }) : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

//--- body.mlir
func.func @main(%x: tensor<2x8xf32> loc("x"), %w: tensor<1xf32> loc("w")) -> tensor<2x8xf32> {
  %init = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %init) <{window_dimensions = array<i64: 1, 1>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %1 = stablehlo.dot_general %p, %q, contracting_dims = [] x [] : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %2 = stablehlo.add %p, %1 : tensor<f32>
    stablehlo.return %2 : tensor<f32>
  }) : (tensor<2x8xf32>, tensor<f32>) -> tensor<2x8xf32>
  return %0 : tensor<2x8xf32>
}
