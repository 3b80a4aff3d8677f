// RUN: split-file %s %t
// DEFINE: %{import} = llmc compile --compile-to=import -o - --set data.inputs.x=0
// RUN: %{import} %t/depends.mlir | FileCheck %s --check-prefix=DEPENDS
// RUN: %{import} %t/inside.mlir | FileCheck %s --check-prefix=INSIDE
// RUN: %{import} %t/float.mlir | FileCheck %s --check-prefix=FLOAT
// RUN: %{import} %t/captured.mlir --set data.inputs.w=0 | FileCheck %s --check-prefix=CAPTURED
// RUN: %{import} %t/counted.mlir --set data.inputs.w=0 | FileCheck %s --check-prefix=COUNTED
// RUN: not %{import} %t/nested.mlir 2>&1 | FileCheck %s --check-prefix=NESTED

// A loop whose trips the run decides has its condition as one more carried
// value: before the loop, and of what the next trip begins with.
// DEPENDS: %[[N:.*]] = stablehlo.reduce
// DEPENDS: %[[BEFORE:.*]] = stablehlo.compare LT, %[[N]], %
// DEPENDS: %[[ON:.*]] = dist.enter carry %[[BEFORE]] of <"loop0", conditional = true> number(0) : tensor<i1> -> tensor<i1>
// DEPENDS: %[[I:.*]] = dist.enter carry %[[N]] of <"loop0", conditional = true> number(1) : tensor<i32> -> tensor<i32>
// DEPENDS: %[[NEXT:.*]] = stablehlo.add %[[I]], %
// DEPENDS: %[[AGAIN:.*]] = stablehlo.compare LT, %[[NEXT]], %
// DEPENDS: dist.next %[[ON]], %[[AGAIN]] : tensor<i1>
// DEPENDS: %[[LAST:.*]] = dist.next %[[I]], %[[NEXT]] : tensor<i32>
// DEPENDS: dist.leave last %[[LAST]] of <"loop0", conditional = true>

// One in each trip of a counted loop, which is unrolled.
// INSIDE: <"loop0", conditional = true> number(0)
// INSIDE: <"loop7", conditional = true> number(0)
// INSIDE-NOT: <"loop8"

// Trips whose condition is known stand before the loop.
// FLOAT: %[[TWO:.*]] = stablehlo.multiply
// FLOAT: dist.enter carry %[[TWO]] of <"loop0", conditional = true> number(1)

// What both regions read from around the loop enters it once, constants apart;
// what no trip changes is not carried.
// CAPTURED: dist.enter same %{{.*}} of <"loop0", conditional = true> : tensor<4xf32> -> tensor<4xf32>
// CAPTURED: dist.enter same %{{.*}} of <"loop0", conditional = true> : tensor<4xf32> -> tensor<4xf32>
// CAPTURED: dist.enter carry %{{.*}} of <"loop0", conditional = true> number(2) : tensor<4xf32> -> tensor<4xf32>
// CAPTURED-NOT: dist.enter

// NESTED: {{^}}llmc: error[unsupported]: {{.*}}nested.mlir:{{.*}}: 'stablehlo.while' op expected a loop of known trips, got a condition that depends on {{.*}}, and it stands in a loop that stays one (give lax.scan a length, or lax.fori_loop bounds, that are numbers, or lax.while_loop a bound: 'i < N & ...'){{$}}

// A counted loop in it is unrolled, also where it would stay one elsewhere.
// COUNTED: <"loop0", conditional = true> number(0)
// COUNTED-COUNT-5: stablehlo.dot_general
// COUNTED-NOT: stablehlo.dot_general
// COUNTED-NOT: <"loop1"

//--- counted.mlir
func.func public @main(%w: tensor<4x4xf32> loc("w"), %x: tensor<4x4xf32> loc("x")) -> tensor<4x4xf32> {
  %0 = stablehlo.while(%c = %x) : tensor<4x4xf32>
  cond {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %n = stablehlo.reduce(%c init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x4xf32>, tensor<f32>) -> tensor<f32>
    %1 = stablehlo.compare LT, %n, %zero, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %first = stablehlo.constant dense<0> : tensor<i32>
    %1:2 = stablehlo.while(%i = %first, %d = %c) : tensor<i32>, tensor<4x4xf32>
    cond {
      %five = stablehlo.constant dense<5> : tensor<i32>
      %2 = stablehlo.compare LT, %i, %five, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %2 : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %2 = stablehlo.add %i, %one : tensor<i32>
      %3 = stablehlo.dot_general %d, %w, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
      stablehlo.return %2, %3 : tensor<i32>, tensor<4x4xf32>
    }
    stablehlo.return %1#1 : tensor<4x4xf32>
  }
  return %0 : tensor<4x4xf32>
}

//--- depends.mlir
func.func public @main(%x: tensor<4xi32> loc("x")) -> tensor<i32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %n = stablehlo.reduce(%x init: %zero) applies stablehlo.maximum across dimensions = [0] : (tensor<4xi32>, tensor<i32>) -> tensor<i32>
  %0 = stablehlo.while(%i = %n) : tensor<i32>
  cond {
    %c = stablehlo.constant dense<3> : tensor<i32>
    %1 = stablehlo.compare LT, %i, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %1 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %1 : tensor<i32>
  }
  return %0 : tensor<i32>
}

//--- inside.mlir
func.func public @main(%x: tensor<4x4xf32> loc("x")) -> tensor<4x4xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %c = %x) : tensor<i32>, tensor<4x4xf32>
  cond {
    %end = stablehlo.constant dense<8> : tensor<i32>
    %p = stablehlo.compare LT, %i, %end, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %1 = stablehlo.while(%d = %c) : tensor<4x4xf32>
    cond {
      %first = stablehlo.slice %d [0:1, 0:1] : (tensor<4x4xf32>) -> tensor<1x1xf32>
      %scalar = stablehlo.reshape %first : (tensor<1x1xf32>) -> tensor<f32>
      %tolerance = stablehlo.constant dense<1.0> : tensor<f32>
      %p = stablehlo.compare GT, %scalar, %tolerance, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %y = stablehlo.dot_general %d, %d, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
      stablehlo.return %y : tensor<4x4xf32>
    }
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %j, %1 : tensor<i32>, tensor<4x4xf32>
  }
  return %0#1 : tensor<4x4xf32>
}

//--- float.mlir
func.func public @main(%x: tensor<4xf32> loc("x")) -> tensor<f32> {
  %c = stablehlo.constant dense<1.0> : tensor<f32>
  %0 = stablehlo.while(%y = %c) : tensor<f32>
  cond {
    %1 = stablehlo.constant dense<9.0> : tensor<f32>
    %2 = stablehlo.compare LT, %y, %1, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %2 : tensor<i1>
  } do {
    %1 = stablehlo.constant dense<2.0> : tensor<f32>
    %2 = stablehlo.multiply %y, %1 : tensor<f32>
    stablehlo.return %2 : tensor<f32>
  }
  return %0 : tensor<f32>
}

//--- captured.mlir
func.func public @main(%x: tensor<4xf32> loc("x"), %w: tensor<4xf32> loc("w")) -> (tensor<4xf32>, tensor<4xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %s = stablehlo.add %w, %w : tensor<4xf32>
  %0:2 = stablehlo.while(%v = %w, %y = %x) : tensor<4xf32>, tensor<4xf32>
  cond {
    %1 = stablehlo.multiply %y, %s : tensor<4xf32>
    %2 = stablehlo.reduce(%1 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
    %3 = stablehlo.compare LT, %2, %zero, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %3 : tensor<i1>
  } do {
    %1 = stablehlo.multiply %y, %s : tensor<4xf32>
    %2 = stablehlo.add %1, %v : tensor<4xf32>
    stablehlo.return %v, %2 : tensor<4xf32>, tensor<4xf32>
  }
  return %0#0, %0#1 : tensor<4xf32>, tensor<4xf32>
}

//--- nested.mlir
func.func public @main(%x: tensor<4xf32> loc("x")) -> tensor<4xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %half = stablehlo.constant dense<0.5> : tensor<4xf32>
  %0 = stablehlo.while(%y = %x) : tensor<4xf32>
  cond {
    %1 = stablehlo.reduce(%y init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
    %2 = stablehlo.compare GT, %1, %zero, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %2 : tensor<i1>
  } do {
    %1 = stablehlo.while(%z = %y) : tensor<4xf32>
    cond {
      %2 = stablehlo.reduce(%z init: %zero) applies stablehlo.maximum across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
      %3 = stablehlo.compare GT, %2, %zero, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %3 : tensor<i1>
    } do {
      %2 = stablehlo.subtract %z, %half : tensor<4xf32>
      stablehlo.return %2 : tensor<4xf32>
    }
    stablehlo.return %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}
