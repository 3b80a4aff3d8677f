// Complex values are their parts: what an op does to these it says itself.
// RUN: split-file %s %t
// DEFINE: %{import} = llmc compile --compile-to=import -o - --set data.inputs.x=0 --set data.inputs.y=0
// RUN: %{import} %t/parts.mlir | FileCheck %s --check-prefix=PARTS --implicit-check-not="complex<"
// RUN: %{import} %t/moves.mlir | FileCheck %s --check-prefix=MOVES --implicit-check-not="complex<"
// RUN: %{import} %t/products.mlir | FileCheck %s --check-prefix=PRODUCTS --implicit-check-not="complex<"
// RUN: %{import} %t/reductions.mlir | FileCheck %s --check-prefix=REDUCTIONS --implicit-check-not="complex<"
// RUN: %{import} %t/regions.mlir | FileCheck %s --check-prefix=REGIONS --implicit-check-not="complex<"
// RUN: %{import} %t/sort.mlir | FileCheck %s --check-prefix=SORT --implicit-check-not="complex<"
// RUN: not %{import} %t/unknown.mlir 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not %{import} %t/map.mlir 2>&1 | FileCheck %s --check-prefix=MAP

// UNKNOWN: {{^}}llmc: error[unsupported]: {{.*}}unknown.mlir:3:8: 'stablehlo.custom_call' op expected a custom call that annotates a value, got 'solve', which llmc does not have for complex numbers (a matrix X + iY is the real one of the blocks {{\[\[}}X, -Y], [Y, X]]){{$}}
// MAP: {{^}}llmc: error[unsupported]: {{.*}}map.mlir:3:8: 'stablehlo.map' op expected real numbers, or an op that says what it does to the parts of complex ones, got an op that does not (compute with 'jnp.real(x)' and 'jnp.imag(x)'){{$}}

//--- parts.mlir
// PARTS: func.func public @{{.*}}(%[[X:.*]]: tensor<4xf32> {{.*}}, %[[Y:.*]]: tensor<4xf32>
// PARTS-DAG: %[[TWO:.*]] = stablehlo.constant dense<[1.000000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00]>
// PARTS-DAG: %[[ONE:.*]] = stablehlo.constant dense<[-1.000000e+00, -2.000000e+00, 5.000000e-01, 0.000000e+00]>
// PARTS: %[[REAL:.*]] = stablehlo.add %[[X]], %[[TWO]]
// PARTS: %[[IMAG:.*]] = stablehlo.add %[[Y]], %[[ONE]]
// PARTS: %[[LEFT:.*]] = stablehlo.compare EQ, %[[REAL]], %[[X]]
// PARTS: %[[RIGHT:.*]] = stablehlo.compare EQ, %[[IMAG]], %[[Y]]
// PARTS: %[[BOTH:.*]] = stablehlo.and %[[LEFT]], %[[RIGHT]]
// PARTS: %[[NOT:.*]] = stablehlo.not %[[BOTH]]
// PARTS: %[[WIDE:.*]] = stablehlo.convert %[[IMAG]] : (tensor<4xf32>) -> tensor<4xf64>
// PARTS: return %[[REAL]], %[[NOT]], %[[WIDE]]
func.func public @main(%x: tensor<4xf32> loc("x"), %y: tensor<4xf32> loc("y")) -> (tensor<4xf32>, tensor<4xi1>, tensor<4xf64>) {
  %c = stablehlo.constant dense<[(1.0, -1.0), (2.0, -2.0), (3.0, 0.5), (4.0, 0.0)]> : tensor<4xcomplex<f32>>
  %0 = stablehlo.complex %x, %y : tensor<4xcomplex<f32>>
  %1 = stablehlo.add %0, %c : tensor<4xcomplex<f32>>
  %2 = stablehlo.real %1 : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  %3 = stablehlo.compare NE, %1, %0, FLOAT : (tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>) -> tensor<4xi1>
  %4 = stablehlo.convert %1 : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f64>>
  %5 = stablehlo.imag %4 : (tensor<4xcomplex<f64>>) -> tensor<4xf64>
  return %2, %3, %5 : tensor<4xf32>, tensor<4xi1>, tensor<4xf64>
}

//--- moves.mlir
// A move is one of each part; what none reads is not there.
// MOVES: func.func public @{{.*}}(%[[X:.*]]: tensor<4x2xf32> {{.*}}, %[[Y:.*]]: tensor<4x2xf32>
// MOVES: %[[FIRST:.*]] = stablehlo.transpose %[[X]], dims = [1, 0]
// MOVES-NEXT: %[[SECOND:.*]] = stablehlo.transpose %[[Y]], dims = [1, 0]
// MOVES-NEXT: %[[A:.*]] = stablehlo.slice %[[FIRST]] [0:1, 0:4]
// MOVES-NEXT: %[[B:.*]] = stablehlo.slice %[[SECOND]] [0:1, 0:4]
// MOVES-NEXT: return %[[A]], %[[B]]
func.func public @main(%x: tensor<4x2xf32> loc("x"), %y: tensor<4x2xf32> loc("y")) -> (tensor<1x4xf32>, tensor<1x4xf32>) {
  %0 = stablehlo.complex %x, %y : tensor<4x2xcomplex<f32>>
  %1 = call @turn(%0) : (tensor<4x2xcomplex<f32>>) -> tensor<2x4xcomplex<f32>>
  %2 = stablehlo.slice %1 [0:1, 0:4] : (tensor<2x4xcomplex<f32>>) -> tensor<1x4xcomplex<f32>>
  %3 = stablehlo.real %2 : (tensor<1x4xcomplex<f32>>) -> tensor<1x4xf32>
  %4 = stablehlo.imag %2 : (tensor<1x4xcomplex<f32>>) -> tensor<1x4xf32>
  return %3, %4 : tensor<1x4xf32>, tensor<1x4xf32>
}
func.func private @turn(%z: tensor<4x2xcomplex<f32>>) -> tensor<2x4xcomplex<f32>> {
  %0 = stablehlo.transpose %z, dims = [1, 0] : (tensor<4x2xcomplex<f32>>) -> tensor<2x4xcomplex<f32>>
  return %0 : tensor<2x4xcomplex<f32>>
}

//--- products.mlir
// Four products of parts, and two where one side is real.
// PRODUCTS: func.func public @{{.*}}(%[[X:.*]]: tensor<4x4xf32> {{.*}}, %[[Y:.*]]: tensor<4x4xf32>
// PRODUCTS: %[[A:.*]] = stablehlo.dot_general %[[X]], %[[X]], contracting_dims = [1] x [0], precision = [HIGHEST, HIGHEST]
// PRODUCTS: %[[B:.*]] = stablehlo.dot_general %[[Y]], %[[Y]]
// PRODUCTS: %[[C:.*]] = stablehlo.dot_general %[[X]], %[[Y]]
// PRODUCTS: %[[D:.*]] = stablehlo.dot_general %[[Y]], %[[X]]
// PRODUCTS: %[[REAL:.*]] = stablehlo.subtract %[[A]], %[[B]]
// PRODUCTS: %[[IMAG:.*]] = stablehlo.add %[[C]], %[[D]]
// PRODUCTS: %[[E:.*]] = stablehlo.dot_general %[[REAL]], %[[X]]
// PRODUCTS-NEXT: %[[F:.*]] = stablehlo.dot_general %[[IMAG]], %[[X]]
// PRODUCTS-NEXT: return %[[E]], %[[F]]
func.func public @main(%x: tensor<4x4xf32> loc("x"), %y: tensor<4x4xf32> loc("y")) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %0 = stablehlo.complex %x, %y : tensor<4x4xcomplex<f32>>
  %1 = stablehlo.dot_general %0, %0, contracting_dims = [1] x [0], precision = [HIGHEST, HIGHEST] : (tensor<4x4xcomplex<f32>>, tensor<4x4xcomplex<f32>>) -> tensor<4x4xcomplex<f32>>
  %2 = stablehlo.convert %x : (tensor<4x4xf32>) -> tensor<4x4xcomplex<f32>>
  %3 = stablehlo.dot_general %1, %2, contracting_dims = [1] x [0] : (tensor<4x4xcomplex<f32>>, tensor<4x4xcomplex<f32>>) -> tensor<4x4xcomplex<f32>>
  %4 = stablehlo.real %3 : (tensor<4x4xcomplex<f32>>) -> tensor<4x4xf32>
  %5 = stablehlo.imag %3 : (tensor<4x4xcomplex<f32>>) -> tensor<4x4xf32>
  return %4, %5 : tensor<4x4xf32>, tensor<4x4xf32>
}

//--- reductions.mlir
// Sums are those of the parts, products of halves.
// REDUCTIONS: func.func public @{{.*}}(%[[X:.*]]: tensor<4xf32> {{.*}}, %[[Y:.*]]: tensor<4xf32>
// REDUCTIONS: %[[REAL:.*]] = stablehlo.reduce(%[[X]] init: %{{.*}}) applies stablehlo.add across dimensions = [0]
// REDUCTIONS: %[[IMAG:.*]] = stablehlo.reduce(%[[Y]] init: %{{.*}}) applies stablehlo.add across dimensions = [0]
// REDUCTIONS-COUNT-3: stablehlo.subtract %{{.*}} : tensor<{{(2x|1x)?}}f32>
// REDUCTIONS: return %[[REAL]], %[[IMAG]],
func.func public @main(%x: tensor<4xf32> loc("x"), %y: tensor<4xf32> loc("y")) -> (tensor<f32>, tensor<f32>, tensor<f32>) {
  %zero = stablehlo.constant dense<(0.0, 0.0)> : tensor<complex<f32>>
  %one = stablehlo.constant dense<(2.0, 1.0)> : tensor<complex<f32>>
  %0 = stablehlo.complex %x, %y : tensor<4xcomplex<f32>>
  %1 = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<4xcomplex<f32>>, tensor<complex<f32>>) -> tensor<complex<f32>>
  %2 = stablehlo.reduce(%0 init: %one) applies stablehlo.multiply across dimensions = [0] : (tensor<4xcomplex<f32>>, tensor<complex<f32>>) -> tensor<complex<f32>>
  %3 = stablehlo.real %1 : (tensor<complex<f32>>) -> tensor<f32>
  %4 = stablehlo.imag %1 : (tensor<complex<f32>>) -> tensor<f32>
  %5 = stablehlo.real %2 : (tensor<complex<f32>>) -> tensor<f32>
  return %3, %4, %5 : tensor<f32>, tensor<f32>, tensor<f32>
}

//--- regions.mlir
// A loop carries both parts, and a branch returns both.
// REGIONS: func.func public @{{.*}}(%[[X:.*]]: tensor<4xf32> {{.*}}, %[[Y:.*]]: tensor<4xf32>
// REGIONS: %[[A:.*]] = stablehlo.multiply %[[X]], %[[X]]
// REGIONS: %[[B:.*]] = stablehlo.multiply %[[Y]], %[[Y]]
// REGIONS: %[[REAL:.*]] = stablehlo.subtract %[[A]], %[[B]]
// REGIONS-COUNT-2: stablehlo.subtract
// REGIONS-COUNT-2: stablehlo.select
func.func public @main(%x: tensor<4xf32> loc("x"), %y: tensor<4xf32> loc("y")) -> (tensor<4xf32>, tensor<4xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %0 = stablehlo.complex %x, %y : tensor<4xcomplex<f32>>
  %1:2 = stablehlo.while(%i = %zero, %z = %0) : tensor<i32>, tensor<4xcomplex<f32>>
  cond {
    %2 = stablehlo.compare LT, %i, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %2 : tensor<i1>
  } do {
    %2 = stablehlo.add %i, %one : tensor<i32>
    %3 = stablehlo.multiply %z, %z : tensor<4xcomplex<f32>>
    stablehlo.return %2, %3 : tensor<i32>, tensor<4xcomplex<f32>>
  }
  %first = stablehlo.slice %x [0:1] : (tensor<4xf32>) -> tensor<1xf32>
  %scalar = stablehlo.reshape %first : (tensor<1xf32>) -> tensor<f32>
  %4 = stablehlo.compare LT, %scalar, %scalar : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %5 = "stablehlo.if"(%4) ({
    stablehlo.return %1#1 : tensor<4xcomplex<f32>>
  }, {
    %6 = stablehlo.negate %0 : tensor<4xcomplex<f32>>
    stablehlo.return %6 : tensor<4xcomplex<f32>>
  }) : (tensor<i1>) -> tensor<4xcomplex<f32>>
  %7 = stablehlo.real %5 : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  %8 = stablehlo.imag %5 : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  return %7, %8 : tensor<4xf32>, tensor<4xf32>
}

//--- sort.mlir
// An order by the real parts and then by the imaginary ones is one by two keys.
// SORT: func.func public @{{.*}}(%[[X:.*]]: tensor<4xf32> {{.*}}, %[[Y:.*]]: tensor<4xf32>
// SORT: nn.argsort{{.*}}tensor<4xf32>, tensor<4xf32>
func.func public @main(%x: tensor<4xf32> loc("x"), %y: tensor<4xf32> loc("y")) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = stablehlo.complex %x, %y : tensor<4xcomplex<f32>>
  %1:2 = "stablehlo.sort"(%x, %0) <{dimension = 0 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<complex<f32>>, %d: tensor<complex<f32>>):
    %2 = stablehlo.real %c : (tensor<complex<f32>>) -> tensor<f32>
    %3 = stablehlo.real %d : (tensor<complex<f32>>) -> tensor<f32>
    %4 = stablehlo.imag %c : (tensor<complex<f32>>) -> tensor<f32>
    %5 = stablehlo.imag %d : (tensor<complex<f32>>) -> tensor<f32>
    %6 = stablehlo.compare LT, %4, %5, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %7 = stablehlo.compare LT, %2, %3, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %8 = stablehlo.compare EQ, %2, %3, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %9 = stablehlo.and %8, %6 : tensor<i1>
    %10 = stablehlo.or %7, %9 : tensor<i1>
    stablehlo.return %10 : tensor<i1>
  }) : (tensor<4xf32>, tensor<4xcomplex<f32>>) -> (tensor<4xf32>, tensor<4xcomplex<f32>>)
  %11 = stablehlo.imag %1#1 : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  return %1#0, %11 : tensor<4xf32>, tensor<4xf32>
}

//--- unknown.mlir
func.func public @main(%x: tensor<4x4xf32> loc("x"), %y: tensor<4x4xf32> loc("y")) -> tensor<4x4xf32> {
  %0 = stablehlo.complex %x, %y : tensor<4x4xcomplex<f32>>
  %1 = stablehlo.custom_call @solve(%0) : (tensor<4x4xcomplex<f32>>) -> tensor<4x4xcomplex<f32>>
  %2 = stablehlo.real %1 : (tensor<4x4xcomplex<f32>>) -> tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}

//--- map.mlir
func.func public @main(%x: tensor<4xf32> loc("x"), %y: tensor<4xf32> loc("y")) -> tensor<4xf32> {
  %0 = stablehlo.complex %x, %y : tensor<4xcomplex<f32>>
  %1 = "stablehlo.map"(%0) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<complex<f32>>):
    %3 = stablehlo.negate %a : tensor<complex<f32>>
    stablehlo.return %3 : tensor<complex<f32>>
  }) : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
  %2 = stablehlo.real %1 : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}
