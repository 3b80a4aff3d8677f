// Values are compared beside their numbers; what the source has goes where the numbers agree.
// RUN: split-file %s %t
// DEFINE: %{import} = llmc compile --compile-to=import -o - --set data.inputs.x=0 --set data.inputs.s=0
// RUN: %{import} %t/pool.mlir | llmc-opt | FileCheck %s --check-prefix=POOL
// RUN: %{import} %t/overlap.mlir | llmc-opt | FileCheck %s --check-prefix=OVERLAP
// RUN: %{import} %t/whole.mlir | llmc-opt | FileCheck %s --check-prefix=WHOLE
// RUN: %{import} %t/other.mlir | llmc-opt | FileCheck %s --check-prefix=OTHER
// RUN: %{import} %t/narrow.mlir | llmc-opt | FileCheck %s --check-prefix=NARROW
// RUN: %{import} %t/scalar.mlir | llmc-opt | FileCheck %s --check-prefix=SCALAR
// RUN: %{import} %t/empty.mlir | llmc-opt | FileCheck %s --check-prefix=EMPTY
// RUN: not %{import} %t/terms.mlir 2>&1 | FileCheck %s --check-prefix=TERMS
// RUN: not %{import} %t/steps.mlir 2>&1 | FileCheck %s --check-prefix=STEPS
// RUN: not %{import} %t/body.mlir 2>&1 | FileCheck %s --check-prefix=BODY

// Two elements, one after another: one comparison, and NaN goes at the next one. No
// padding, no sum of terms; the batch is not touched.
// POOL-LABEL: func.func @loss
// POOL: %[[AT:.*]] = stablehlo.iota dim = 1 : tensor<4x6xi32>
// POOL: %[[NAN:.*]] = stablehlo.compare NE, %arg0, %arg0
// POOL: %[[STAYS:.*]] = stablehlo.compare GE, %{{.*}}, %{{.*}}, FLOAT : (tensor<4x3xf32>, tensor<4x3xf32>)
// POOL-NEXT: %[[FIRST:.*]] = stablehlo.not
// POOL-NEXT: %[[KEPT:.*]] = stablehlo.and %[[STAYS]], %[[FIRST]]
// POOL-NEXT: %[[SELECTED:.*]] = stablehlo.select %[[KEPT]], %{{.*}} : tensor<4x3xi1>, tensor<4x3xi32>
// POOL-DAG: stablehlo.broadcast_in_dim %arg1, dims = [0, 1] : (tensor<4x3xf32>) -> tensor<4x3x2xf32>
// POOL-DAG: stablehlo.broadcast_in_dim %[[SELECTED]], dims = [0, 1] : (tensor<4x3xi32>) -> tensor<4x3x2xi32>
// POOL: %[[HIT:.*]] = stablehlo.compare EQ, %{{.*}}, %[[AT]], SIGNED : (tensor<4x6xi32>, tensor<4x6xi32>)
// POOL-NEXT: stablehlo.add
// POOL-NEXT: stablehlo.select %[[HIT]]
// POOL-NOT: stablehlo.pad
// POOL: return

// An element lies in up to two windows: the earlier one first. Padding is number -1.
// OVERLAP-LABEL: func.func @loss
// OVERLAP: stablehlo.pad %{{.*}}, %{{.*}}, low = [0, 1], high = [0, 0], interior = [0, 0] : (tensor<4x6xi32>, tensor<i32>) -> tensor<4x7xi32>
// OVERLAP: stablehlo.reshape %{{.*}} : (tensor<4x3x2xf32>) -> tensor<4x6xf32>
// OVERLAP: stablehlo.pad %{{.*}}, low = [0, 1], high = [0, -1]
// OVERLAP: stablehlo.compare EQ
// OVERLAP: stablehlo.maximum
// OVERLAP-NEXT: stablehlo.select
// OVERLAP: stablehlo.pad %{{.*}}, low = [0, -1], high = [0, 1]
// OVERLAP: stablehlo.compare EQ
// OVERLAP: stablehlo.maximum
// OVERLAP-NEXT: stablehlo.select
// OVERLAP-NOT: stablehlo.compare EQ

// One window over all: runs of 1, 2, 4, 8, 16, and one term.
// WHOLE-LABEL: func.func @loss
// WHOLE-COUNT-8: stablehlo.compare LE
// WHOLE: stablehlo.compare EQ
// WHOLE-NOT: stablehlo.compare EQ

// What is no comparison of both walks over the window in row-major order.
// OTHER-LABEL: func.func @loss
// OTHER-COUNT-3: stablehlo.compare GE
// OTHER-NOT: stablehlo.compare GE

// Sums of narrow floats are rounded once.
// NARROW-LABEL: func.func @loss
// NARROW: stablehlo.convert %arg1 : (tensor<4x5xbf16>) -> tensor<4x5xf32>
// NARROW-COUNT-2: stablehlo.add {{.*}} : tensor<4x6xf32>
// NARROW: stablehlo.convert {{.*}} : (tensor<4x6xf32>) -> tensor<4x6xbf16>

// SCALAR-LABEL: func.func @loss
// SCALAR: %[[S:.*]] = stablehlo.reshape %arg1
// SCALAR: stablehlo.add %{{.*}}, %[[S]] : tensor<f32>

// Without windows there are the initial values alone.
// EMPTY-LABEL: func.func @loss
// EMPTY: %[[THREE:.*]] = stablehlo.constant dense<3.0
// EMPTY-NEXT: %[[ALL:.*]] = stablehlo.broadcast_in_dim %[[THREE]], dims = []
// EMPTY-NEXT: return %[[ALL]]

// TERMS: {{^}}llmc: error[unsupported]: {{.*}}terms.mlir:3:8: {{.*}}expected an element in at most 1024 windows, and windows of as many elements where 'select' is no comparison of them, got more{{$}}
// STEPS: {{^}}llmc: error[unsupported]: {{.*}}steps.mlir:3:8: {{.*}}expected an element in at most 1024 windows, and windows of as many elements where 'select' is no comparison of them, got more{{$}}
// BODY: {{^}}llmc: error[unsupported]: {{.*}}body.mlir:9:10: 'stablehlo.dot_general' op expected element-wise ops in the body of 'stablehlo.select_and_scatter', got another{{$}}

//--- pool.mlir
func.func @main(%x: tensor<4x6xf32> loc("x"), %s: tensor<4x3xf32> loc("s")) -> tensor<4x6xf32> {
  %init = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.select_and_scatter"(%x, %s, %init) <{window_dimensions = array<i64: 1, 2>, window_strides = array<i64: 1, 2>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %h = stablehlo.compare GE, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %h : tensor<i1>
  }, {
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %v = stablehlo.add %p, %q : tensor<f32>
    stablehlo.return %v : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<4x3xf32>, tensor<f32>) -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}

//--- overlap.mlir
func.func @main(%x: tensor<4x6xf32> loc("x"), %s: tensor<4x3xf32> loc("s")) -> tensor<4x6xf32> {
  %init = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.select_and_scatter"(%x, %s, %init) <{padding = dense<[[0, 0], [1, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: 1, 3>, window_strides = array<i64: 1, 2>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %h = stablehlo.compare GE, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %h : tensor<i1>
  }, {
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %v = stablehlo.maximum %p, %q : tensor<f32>
    stablehlo.return %v : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<4x3xf32>, tensor<f32>) -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}

//--- whole.mlir
func.func @main(%x: tensor<4x31xf32> loc("x"), %s: tensor<4x1xf32> loc("s")) -> tensor<4x31xf32> {
  %init = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.select_and_scatter"(%x, %s, %init) <{window_dimensions = array<i64: 1, 31>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %h = stablehlo.compare GE, %q, %p : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %h : tensor<i1>
  }, {
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %v = stablehlo.add %p, %q : tensor<f32>
    stablehlo.return %v : tensor<f32>
  }) : (tensor<4x31xf32>, tensor<4x1xf32>, tensor<f32>) -> tensor<4x31xf32>
  return %0 : tensor<4x31xf32>
}

//--- other.mlir
func.func @main(%x: tensor<4x6xf32> loc("x"), %s: tensor<4x3xf32> loc("s")) -> tensor<4x6xf32> {
  %init = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.select_and_scatter"(%x, %s, %init) <{window_dimensions = array<i64: 1, 4>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %a = stablehlo.abs %p : tensor<f32>
    %b = stablehlo.abs %q : tensor<f32>
    %h = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %h : tensor<i1>
  }, {
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %v = stablehlo.add %p, %q : tensor<f32>
    stablehlo.return %v : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<4x3xf32>, tensor<f32>) -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}

//--- narrow.mlir
func.func @main(%x: tensor<4x6xbf16> loc("x"), %s: tensor<4x5xbf16> loc("s")) -> tensor<4x6xbf16> {
  %init = stablehlo.constant dense<0.0> : tensor<bf16>
  %0 = "stablehlo.select_and_scatter"(%x, %s, %init) <{window_dimensions = array<i64: 1, 2>}> ({
  ^bb0(%p: tensor<bf16>, %q: tensor<bf16>):
    %h = stablehlo.compare GE, %p, %q : (tensor<bf16>, tensor<bf16>) -> tensor<i1>
    stablehlo.return %h : tensor<i1>
  }, {
  ^bb0(%p: tensor<bf16>, %q: tensor<bf16>):
    %v = stablehlo.add %p, %q : tensor<bf16>
    stablehlo.return %v : tensor<bf16>
  }) : (tensor<4x6xbf16>, tensor<4x5xbf16>, tensor<bf16>) -> tensor<4x6xbf16>
  return %0 : tensor<4x6xbf16>
}

//--- scalar.mlir
func.func @main(%a: tensor<1xf32> loc("x"), %b: tensor<1xf32> loc("s")) -> tensor<f32> {
  %x = stablehlo.reshape %a : (tensor<1xf32>) -> tensor<f32>
  %s = stablehlo.reshape %b : (tensor<1xf32>) -> tensor<f32>
  %init = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.select_and_scatter"(%x, %s, %init) <{window_dimensions = array<i64>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %h = stablehlo.compare GE, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %h : tensor<i1>
  }, {
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %v = stablehlo.add %p, %q : tensor<f32>
    stablehlo.return %v : tensor<f32>
  }) : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

//--- empty.mlir
func.func @main(%x: tensor<4x6xf32> loc("x"), %s: tensor<4x0xf32> loc("s")) -> tensor<4x6xf32> {
  %init = stablehlo.constant dense<3.0> : tensor<f32>
  %0 = "stablehlo.select_and_scatter"(%x, %s, %init) <{window_dimensions = array<i64: 1, 7>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %h = stablehlo.compare GE, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %h : tensor<i1>
  }, {
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %v = stablehlo.add %p, %q : tensor<f32>
    stablehlo.return %v : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<4x0xf32>, tensor<f32>) -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}

//--- terms.mlir
func.func @main(%x: tensor<4000xf32> loc("x"), %s: tensor<2000xf32> loc("s")) -> tensor<4000xf32> {
  %init = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.select_and_scatter"(%x, %s, %init) <{window_dimensions = array<i64: 2001>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %h = stablehlo.compare GE, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %h : tensor<i1>
  }, {
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %v = stablehlo.add %p, %q : tensor<f32>
    stablehlo.return %v : tensor<f32>
  }) : (tensor<4000xf32>, tensor<2000xf32>, tensor<f32>) -> tensor<4000xf32>
  return %0 : tensor<4000xf32>
}

//--- steps.mlir
func.func @main(%x: tensor<2000xf32> loc("x"), %s: tensor<1xf32> loc("s")) -> tensor<2000xf32> {
  %init = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.select_and_scatter"(%x, %s, %init) <{window_dimensions = array<i64: 2000>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %a = stablehlo.abs %p : tensor<f32>
    %b = stablehlo.abs %q : tensor<f32>
    %h = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %h : tensor<i1>
  }, {
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %v = stablehlo.add %p, %q : tensor<f32>
    stablehlo.return %v : tensor<f32>
  }) : (tensor<2000xf32>, tensor<1xf32>, tensor<f32>) -> tensor<2000xf32>
  return %0 : tensor<2000xf32>
}

//--- body.mlir
func.func @main(%x: tensor<4x6xf32> loc("x"), %s: tensor<4x5xf32> loc("s")) -> tensor<4x6xf32> {
  %init = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.select_and_scatter"(%x, %s, %init) <{window_dimensions = array<i64: 1, 2>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %h = stablehlo.compare GE, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %h : tensor<i1>
  }, {
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %w = stablehlo.dot_general %p, %q, contracting_dims = [] x [] : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %v = stablehlo.add %p, %w : tensor<f32>
    stablehlo.return %v : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<4x5xf32>, tensor<f32>) -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}
