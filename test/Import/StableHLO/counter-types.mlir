// DEFINE: %{import} = llmc compile --compile-to=import -o - --set data.inputs.x=0
// RUN: sed 's/FIRST/4/; s/STEP/1/; s/COMPARE/LT, %%i, %%sum/; s/END/6/' %s > %t.sum.mlir
// RUN: %{import} %t.sum.mlir | FileCheck %s --check-prefix=SUM
// RUN: sed 's/FIRST/100/; s/STEP/1/; s/COMPARE/LE, %%i, %%end/; s/END/127/' %s > %t.over.mlir
// RUN: not %{import} %t.over.mlir 2>&1 | FileCheck %s --check-prefix=OVER
// RUN: sed 's/FIRST/0/; s/STEP/3/; s/COMPARE/NE, %%i, %%end/; s/END/10/' %s > %t.past.mlir
// RUN: %{import} %t.past.mlir | FileCheck %s --check-prefix=PAST

// Up to a sum of numbers.
// SUM: dist.enter carry {{.*}} trips = 8>
// SUM: stablehlo.constant dense<12> : tensor<i8>

// A counter that leaves its type counts no trips: this one goes on for ever.
// OVER: {{^}}llmc: error[unsupported]: {{.*}} expected a loop that unrolls to at most 65536 ops, got more

// What steps over the end comes to it after it has left its type: 174 trips of
// copies, each as the type counts.
// PAST-COUNT-174: stablehlo.dot_general
// PAST-NOT: stablehlo.dot_general

func.func public @main(%x: tensor<4x4xf32> loc("x")) -> (tensor<4x4xf32>, tensor<i8>) {
  %first = stablehlo.constant dense<FIRST> : tensor<i8>
  %end = stablehlo.constant dense<END> : tensor<i8>
  %0:2 = stablehlo.while(%i = %first, %c = %x) : tensor<i8>, tensor<4x4xf32>
  cond {
    %sum = stablehlo.add %end, %end : tensor<i8>
    %p = stablehlo.compare COMPARE, SIGNED : (tensor<i8>, tensor<i8>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %step = stablehlo.constant dense<STEP> : tensor<i8>
    %y = stablehlo.dot_general %c, %c, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %j = stablehlo.add %step, %i : tensor<i8>
    stablehlo.return %j, %y : tensor<i8>, tensor<4x4xf32>
  }
  return %0#1, %0#0 : tensor<4x4xf32>, tensor<i8>
}
