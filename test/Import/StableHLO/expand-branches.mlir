// RUN: split-file %s %t
// DEFINE: %{import} = llmc compile --compile-to=import -o - --set data.inputs.x=0
// RUN: %{import} %t/known.mlir | FileCheck %s --check-prefix=KNOWN
// RUN: not %{import} %t/index.mlir 2>&1 | FileCheck %s --check-prefix=INDEX
// RUN: not %{import} %t/predicate.mlir 2>&1 | FileCheck %s --check-prefix=PREDICATE

// The branch with the number of the index, the last one for numbers out of
// range; a branch may return what stands outside, and hold another one.
// KNOWN: func.func public @{{.*}}(%[[X:.*]]: tensor<4xf32>
// KNOWN-NEXT: %[[A:.*]] = stablehlo.tanh %[[X]] : tensor<4xf32> loc(#[[TANH:.*]])
// KNOWN-NEXT: %[[B:.*]] = stablehlo.negate %[[A]]
// KNOWN-NEXT: %[[C:.*]] = stablehlo.abs %[[B]]
// KNOWN-NEXT: %[[D:.*]] = stablehlo.abs %[[C]]
// KNOWN-NEXT: %[[E:.*]] = stablehlo.cosine %[[D]]
// KNOWN-NEXT: %[[F:.*]] = stablehlo.sine %[[E]]
// KNOWN-NEXT: return %[[F]], %[[X]]
// KNOWN: #[[TANH]] = loc("first"

// INDEX: {{^}}llmc: error[unsupported]: {{.*}}index.mlir:4:8: 'stablehlo.case' op expected a branch that is known before the run, got an index that depends on argument 0 ('x') (compute all branches and choose by jnp.where){{$}}
// PREDICATE: {{^}}llmc: error[unsupported]: {{.*}}predicate.mlir:4:8: 'stablehlo.if' op expected a branch that is known before the run, got a predicate that depends on argument 0 ('x') (compute all branches and choose by jnp.where){{$}}

//--- known.mlir
func.func public @main(%x: tensor<4xf32> loc("x")) -> (tensor<4xf32>, tensor<4xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %less = stablehlo.constant dense<-1> : tensor<i32>
  %big = stablehlo.constant dense<3> : tensor<i32>
  %0:2 = "stablehlo.case"(%zero) ({
    %8 = stablehlo.tanh %x : tensor<4xf32> loc("first")
    stablehlo.return %8, %x : tensor<4xf32>, tensor<4xf32>
  }, {
    stablehlo.return %x, %x : tensor<4xf32>, tensor<4xf32>
  }) : (tensor<i32>) -> (tensor<4xf32>, tensor<4xf32>)
  %1 = "stablehlo.case"(%one) ({
    stablehlo.return %x : tensor<4xf32>
  }, {
    %8 = stablehlo.negate %0#0 : tensor<4xf32>
    stablehlo.return %8 : tensor<4xf32>
  }, {
    stablehlo.return %x : tensor<4xf32>
  }) : (tensor<i32>) -> tensor<4xf32>
  %2 = "stablehlo.case"(%big) ({
    stablehlo.return %x : tensor<4xf32>
  }, {
    stablehlo.return %x : tensor<4xf32>
  }, {
    %8 = stablehlo.abs %1 : tensor<4xf32>
    stablehlo.return %8 : tensor<4xf32>
  }) : (tensor<i32>) -> tensor<4xf32>
  %3 = "stablehlo.case"(%less) ({
    stablehlo.return %x : tensor<4xf32>
  }, {
    %8 = stablehlo.abs %2 : tensor<4xf32>
    stablehlo.return %8 : tensor<4xf32>
  }) : (tensor<i32>) -> tensor<4xf32>
  %4 = stablehlo.compare LT, %zero, %one, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %5 = "stablehlo.if"(%4) ({
    %8 = "stablehlo.if"(%4) ({
      %9 = stablehlo.cosine %3 : tensor<4xf32>
      stablehlo.return %9 : tensor<4xf32>
    }, {
      stablehlo.return %3 : tensor<4xf32>
    }) : (tensor<i1>) -> tensor<4xf32>
    stablehlo.return %8 : tensor<4xf32>
  }, {
    stablehlo.return %3 : tensor<4xf32>
  }) : (tensor<i1>) -> tensor<4xf32>
  %6 = stablehlo.not %4 : tensor<i1>
  %7 = "stablehlo.if"(%6) ({
    stablehlo.return %5 : tensor<4xf32>
  }, {
    %8 = stablehlo.sine %5 : tensor<4xf32>
    stablehlo.return %8 : tensor<4xf32>
  }) : (tensor<i1>) -> tensor<4xf32>
  return %7, %0#1 : tensor<4xf32>, tensor<4xf32>
}

//--- index.mlir
func.func public @main(%x: tensor<1xi32> loc("x")) -> tensor<i32> {
  %0 = stablehlo.reshape %x : (tensor<1xi32>) -> tensor<i32>
  %c = stablehlo.constant dense<1> : tensor<i32>
  %1 = "stablehlo.case"(%0) ({
    stablehlo.return %c : tensor<i32>
  }) : (tensor<i32>) -> tensor<i32>
  return %1 : tensor<i32>
}

//--- predicate.mlir
func.func public @main(%x: tensor<1xi32> loc("x")) -> tensor<i32> {
  %0 = stablehlo.reshape %x : (tensor<1xi32>) -> tensor<i32>
  %p = stablehlo.convert %0 : (tensor<i32>) -> tensor<i1>
  %1 = "stablehlo.if"(%p) ({
    stablehlo.return %0 : tensor<i32>
  }, {
    stablehlo.return %0 : tensor<i32>
  }) : (tensor<i1>) -> tensor<i32>
  return %1 : tensor<i32>
}
