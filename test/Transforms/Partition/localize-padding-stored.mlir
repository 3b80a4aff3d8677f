// RUN: llmc-opt %s --split-input-file --llmc-localize --canonicalize --cse | FileCheck %s

// An input that is returned as a gradient gets zeros in its padding; a state has
// them.
#w = #dist.layout<@mesh, [{"t"}:12]>
#s = #dist.layout<@mesh, []>
dist.mesh @mesh = <"t"=4>
dist.state @w : tensor<10xf32> {role = parameter, source = #dist.draw<zeros>}
dist.state @v : tensor<10xf32> {role = parameter, source = #dist.draw<zeros>}
// CHECK-LABEL: func.func @returned
// CHECK: %[[IS:.*]] = stablehlo.compare LT
// CHECK-NEXT: %[[X:.*]] = stablehlo.select %[[IS]], %arg0, %{{.*}} : tensor<3xi1>, tensor<3xf32>
// CHECK-NEXT: return %{{.*}}, %{{.*}}, %[[X]], %arg1
func.func @returned(%x: tensor<10xf32, #w> {dist.port = #dist.port<input "x">}, %v: tensor<10xf32, #w> {dist.port = #dist.port<parameter @v>}) -> (tensor<f32, #s> {dist.port = #dist.port<loss_sum>}, tensor<f32, #s> {dist.port = #dist.port<count>}, tensor<10xf32, #w> {dist.port = #dist.port<gradient @w>}, tensor<10xf32, #w> {dist.port = #dist.port<gradient @v>}) {
  %c = stablehlo.constant dense<1.0> : tensor<f32, #s>
  return %c, %c, %x, %v : tensor<f32, #s>, tensor<f32, #s>, tensor<10xf32, #w>, tensor<10xf32, #w>
}
func.func @update(%w: tensor<10xf32, #w> {dist.port = #dist.port<parameter @w>}) {
  return
}
dist.step @train microbatch(@returned) update(@update) microbatches(2) schedule(<1f1b>)

// -----

// A join holds zeros where all that it joins does: two states stay, a state and
// an input are cut, each at its stage, in front of the join.
#w0 = #dist.layout<@mesh, [{"t"}:12], at = {"pipe" = [0]}>
#w1 = #dist.layout<@mesh, [{"t"}:12], at = {"pipe" = [1]}>
#w = #dist.layout<@mesh, [{"t"}:12], partial = [sum{"pipe"}], at = {"pipe" = [0, 1]}>
#both = #dist.layout<@mesh, [{"t"}:12], at = {"pipe" = [0, 1]}>
#s = #dist.layout<@mesh, [], at = {"pipe" = [1]}>
dist.mesh @mesh = <"pipe"=2, "t"=4> pipeline "pipe"
dist.state @v : tensor<10xf32> {role = parameter, source = #dist.draw<zeros>}
dist.state @w : tensor<10xf32> {role = parameter, source = #dist.draw<zeros>}
dist.state @u : tensor<10xf32> {role = parameter, source = #dist.draw<zeros>}
// CHECK-LABEL: func.func @joined
// CHECK-DAG: %[[A:.*]] = stablehlo.negate %arg1 {dist.block = 0
// CHECK-DAG: %[[B:.*]] = stablehlo.negate %arg2 {dist.block = 1
// CHECK-DAG: %[[Y:.*]] = stablehlo.negate %arg0 {dist.block = 1
// CHECK: %[[J:.*]] = dist.join %[[A]], %[[B]] over "pipe"
// CHECK-DAG: %[[AC:.*]] = stablehlo.select %{{.*}}, %[[A]], %{{.*}} {dist.block = 0
// CHECK-DAG: %[[YC:.*]] = stablehlo.select %{{.*}}, %[[Y]], %{{.*}} {dist.block = 1
// CHECK: %[[K:.*]] = dist.join %[[AC]], %[[YC]] over "pipe"
// CHECK-NEXT: return %{{.*}}, %{{.*}}, %[[J]], %[[K]]
func.func @joined(%x: tensor<10xf32, #w1> {dist.port = #dist.port<input "x">}, %v: tensor<10xf32, #w0> {dist.port = #dist.port<parameter @v>}, %w: tensor<10xf32, #w1> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32, #s> {dist.port = #dist.port<loss_sum>}, tensor<f32, #s> {dist.port = #dist.port<count>}, tensor<10xf32, #w> {dist.port = #dist.port<gradient @u>}, tensor<10xf32, #w> {dist.port = #dist.port<gradient @w>}) {
  %c = stablehlo.constant {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} dense<1.0> : tensor<f32, #s>
  %a = stablehlo.negate %v {dist.block = 0 : i64, dist.phase = #dist.phase<backward>} : tensor<10xf32, #w0>
  %b = stablehlo.negate %w {dist.block = 1 : i64, dist.phase = #dist.phase<backward>} : tensor<10xf32, #w1>
  %y = stablehlo.negate %x {dist.block = 1 : i64, dist.phase = #dist.phase<backward>} : tensor<10xf32, #w1>
  %0 = dist.join %a, %b over "pipe" : (tensor<10xf32, #w0>, tensor<10xf32, #w1>) -> tensor<10xf32, #w>
  %1 = dist.join %a, %y over "pipe" : (tensor<10xf32, #w0>, tensor<10xf32, #w1>) -> tensor<10xf32, #w>
  return %c, %c, %0, %1 : tensor<f32, #s>, tensor<f32, #s>, tensor<10xf32, #w>, tensor<10xf32, #w>
}
func.func @update(%u: tensor<10xf32, #both> {dist.port = #dist.port<parameter @u>}) {
  return
}
dist.step @train microbatch(@joined) update(@update) microbatches(2) schedule(<1f1b>) chunks([0, 1])

// -----

// What an op makes of constants is found by computing a slice of it, up to 2^20
// elements: the greatest of that many zeros is zero, of one more nobody knows.
// A sum is not exact: it is cut, and so is what is made of it.
#w = #dist.layout<@mesh, [{"t"}:12]>
#m = #dist.layout<@mesh, [{"t"}:12, {}]>
#s = #dist.layout<@mesh, []>
dist.mesh @mesh = <"t"=4>
dist.state @a : tensor<10xf32> {role = parameter, source = #dist.draw<zeros>}
dist.state @b : tensor<10xf32> {role = parameter, source = #dist.draw<zeros>}
dist.state @c : tensor<10xf32> {role = parameter, source = #dist.draw<zeros>}
dist.state @d : tensor<10xf32> {role = parameter, source = #dist.draw<zeros>}
// CHECK-LABEL: func.func @large
// CHECK: %[[A:.*]] = stablehlo.reduce({{.*}}tensor<3x1048576xf32>
// CHECK-NEXT: %[[B:.*]] = stablehlo.reduce({{.*}}tensor<3x1048577xf32>
// CHECK-NEXT: %[[C:.*]] = stablehlo.reduce({{.*}}tensor<3x3xf32>
// CHECK: %[[D:.*]] = stablehlo.subtract
// CHECK-NOT: stablehlo.select %{{.*}}, %[[A]],
// CHECK: %[[BC:.*]] = stablehlo.select %{{.*}}, %[[B]],
// CHECK-NEXT: %[[CC:.*]] = stablehlo.select %{{.*}}, %[[C]],
// CHECK-NEXT: %[[DC:.*]] = stablehlo.select %{{.*}}, %[[D]],
// CHECK-NEXT: return %{{.*}}, %{{.*}}, %[[A]], %[[BC]], %[[CC]], %[[DC]]
func.func @large() -> (tensor<f32, #s> {dist.port = #dist.port<loss_sum>}, tensor<f32, #s> {dist.port = #dist.port<count>}, tensor<10xf32, #w> {dist.port = #dist.port<gradient @a>}, tensor<10xf32, #w> {dist.port = #dist.port<gradient @b>}, tensor<10xf32, #w> {dist.port = #dist.port<gradient @c>}, tensor<10xf32, #w> {dist.port = #dist.port<gradient @d>}) {
  %one = stablehlo.constant dense<1.0> : tensor<f32, #s>
  %zero = stablehlo.constant dense<0.0> : tensor<f32, #s>
  %most = stablehlo.constant dense<0.0> : tensor<10x1048576xf32, #m>
  %more = stablehlo.constant dense<0.0> : tensor<10x1048577xf32, #m>
  %few = stablehlo.constant dense<0.0> : tensor<10x3xf32, #m>
  %a = stablehlo.reduce(%most init: %zero) applies stablehlo.maximum across dimensions = [1] : (tensor<10x1048576xf32, #m>, tensor<f32, #s>) -> tensor<10xf32, #w>
  %b = stablehlo.reduce(%more init: %zero) applies stablehlo.maximum across dimensions = [1] : (tensor<10x1048577xf32, #m>, tensor<f32, #s>) -> tensor<10xf32, #w>
  %c = stablehlo.reduce(%few init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<10x3xf32, #m>, tensor<f32, #s>) -> tensor<10xf32, #w>
  %d = stablehlo.cosine %c : tensor<10xf32, #w>
  %e = stablehlo.subtract %d, %d : tensor<10xf32, #w>
  return %one, %one, %a, %b, %c, %e : tensor<f32, #s>, tensor<f32, #s>, tensor<10xf32, #w>, tensor<10xf32, #w>, tensor<10xf32, #w>, tensor<10xf32, #w>
}
func.func @update(%a: tensor<10xf32, #w> {dist.port = #dist.port<parameter @a>}, %b: tensor<10xf32, #w> {dist.port = #dist.port<parameter @b>}, %c: tensor<10xf32, #w> {dist.port = #dist.port<parameter @c>}, %d: tensor<10xf32, #w> {dist.port = #dist.port<parameter @d>}) {
  return
}
dist.step @train microbatch(@large) update(@update) microbatches(2) schedule(<1f1b>) chunks([0])

// -----

// Two padded dims become one: it holds what the operand holds outside of both.
#m = #dist.layout<@mesh, [{"d"}:6, {"t"}:4]>
#l = #dist.layout<@mesh, [{"d", "t"}:[5:6, 3:4]]>
#s = #dist.layout<@mesh, []>
dist.mesh @mesh = <"d"=6, "t"=2>
dist.state @w : tensor<5x3xf32> {role = parameter, source = #dist.draw<zeros>}
dist.state @a : tensor<15xf32> {role = parameter, source = #dist.draw<zeros>}
dist.state @b : tensor<15xf32> {role = parameter, source = #dist.draw<zeros>}
// CHECK-LABEL: func.func @flat
func.func @flat(%x: tensor<5x3xf32, #m> {dist.port = #dist.port<input "x">}, %w: tensor<5x3xf32, #m> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32, #s> {dist.port = #dist.port<loss_sum>}, tensor<f32, #s> {dist.port = #dist.port<count>}, tensor<15xf32, #l> {dist.port = #dist.port<gradient @a>}, tensor<15xf32, #l> {dist.port = #dist.port<gradient @b>}) {
  %one = stablehlo.constant dense<1.0> : tensor<f32, #s>
  // CHECK: %[[A:.*]] = stablehlo.reshape %arg1
  // CHECK-NEXT: %[[B:.*]] = stablehlo.reshape %arg0
  // CHECK-NOT: stablehlo.select %{{.*}}, %[[A]]
  // CHECK: %[[C:.*]] = stablehlo.select %{{.*}}, %[[B]]
  // CHECK-NEXT: return %{{.*}}, %{{.*}}, %[[A]], %[[C]]
  %a = stablehlo.reshape %w : (tensor<5x3xf32, #m>) -> tensor<15xf32, #l>
  %b = stablehlo.reshape %x : (tensor<5x3xf32, #m>) -> tensor<15xf32, #l>
  return %one, %one, %a, %b : tensor<f32, #s>, tensor<f32, #s>, tensor<15xf32, #l>, tensor<15xf32, #l>
}
func.func @update(%a: tensor<15xf32, #l> {dist.port = #dist.port<parameter @a>}, %b: tensor<15xf32, #l> {dist.port = #dist.port<parameter @b>}) {
  return
}
dist.step @train microbatch(@flat) update(@update) microbatches(2) schedule(<1f1b>) chunks([0])
