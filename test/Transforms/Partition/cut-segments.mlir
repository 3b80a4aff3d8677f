// RUN: llmc-opt %s --split-input-file --verify-diagnostics --llmc-cut-segments | FileCheck %s
// RUN: not llmc-opt %s --split-input-file --llmc-cut-segments --remarks-filter=segments --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// REMARK: remark: {{.*}}Remark="all stages take part in dist.all_reduce: 36 B are zero on each of the others
// REMARK-NOT: remark:

// Two chunks: forward of both, then backward of the second. What crosses is
// what a segment yields, and a constant is cloned to each of its users.
dist.mesh @mesh = <"data"=1>
// CHECK-LABEL: func.func @f
func.func @f(%x: tensor<4xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  %two = stablehlo.constant {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} dense<2.0> : tensor<4xf32>
  // CHECK: %[[A:.*]] = dist.segment chunk(0) phase(forward) -> tensor<4xf32> {
  // CHECK: stablehlo.constant
  // CHECK: %[[T:.*]] = stablehlo.multiply
  // CHECK: dist.yield %[[T]] : tensor<4xf32>
  %0 = stablehlo.multiply %x, %two {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : tensor<4xf32>
  // CHECK: %[[B:.*]] = dist.segment chunk(1) phase(forward) -> tensor<4xf32> {
  // CHECK: stablehlo.tanh %[[A]]
  %1 = stablehlo.tanh %0 {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} : tensor<4xf32>
  // CHECK: %[[C:.*]] = dist.segment chunk(1) phase(backward_input) -> tensor<4xf32> {
  // CHECK: stablehlo.constant
  // CHECK: stablehlo.multiply %[[B]]
  %2 = stablehlo.multiply %1, %two {dist.block = 1 : i64, dist.phase = #dist.phase<backward_input>} : tensor<4xf32>
  // CHECK: return %[[C]]
  return %2 : tensor<4xf32>
}
dist.entry @forward function(@f) chunks([0, 1])

// -----

dist.mesh @mesh = <"data"=1>
func.func @f(%x: tensor<4xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  // expected-error@+1 {{expected marks 'dist.block' and 'dist.phase' before it is put into a segment}}
  %0 = stablehlo.tanh %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
dist.entry @forward function(@f) chunks([0])

// -----

dist.mesh @mesh = <"data"=1>
func.func @f(%x: tensor<4xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  // expected-error@+1 {{expected a block below 1, which have chunks, got 3}}
  %0 = stablehlo.tanh %x {dist.block = 3 : i64, dist.phase = #dist.phase<forward>} : tensor<4xf32>
  return %0 : tensor<4xf32>
}
dist.entry @forward function(@f) chunks([0])

// -----

dist.mesh @mesh = <"data"=1>
func.func @f(%x: tensor<4xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  // expected-error@+1 {{expected a phase of a microbatch, got update}}
  %0 = stablehlo.tanh %x {dist.block = 0 : i64, dist.phase = #dist.phase<update>} : tensor<4xf32>
  return %0 : tensor<4xf32>
}
dist.entry @forward function(@f) chunks([0])

// -----

// A value is used before its segment.
dist.mesh @mesh = <"data"=1>
func.func @f(%x: tensor<4xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  %0 = stablehlo.tanh %x {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} : tensor<4xf32>
  // expected-error@+1 {{in chunk 0 and phase forward uses a value of chunk 1 and phase forward}}
  %1 = stablehlo.tanh %0 {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : tensor<4xf32>
  return %1 : tensor<4xf32>
}
dist.entry @forward function(@f) chunks([0, 1])

// -----

// An update over two stages: few segments, each after what it reads; a join
// with its operand's segment in front of it; constants that go through joins
// first of all.
#U = #dist.phase<update>
dist.mesh @mesh = <"pipe"=2> pipeline "pipe"
func.func private @m() -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}) {
  %0 = stablehlo.constant {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} dense<1.0> : tensor<f32>
  return %0, %0 : tensor<f32>, tensor<f32>
}
// CHECK-LABEL: func.func private @u
// CHECK: %[[C:.*]] = dist.segment at(1) phase(update)
// CHECK-NEXT: stablehlo.constant {{.*}}dense<3.0
// CHECK: %[[CJ:.*]] = dist.join %[[C]] over "pipe"
// CHECK: %[[A:.*]]:2 = dist.segment at(0) phase(update)
// CHECK-NEXT: stablehlo.negate %arg2
// CHECK-NEXT: stablehlo.abs
// CHECK: %[[J:.*]] = dist.join %[[A]]#0 over "pipe"
// CHECK: %[[B:.*]]:2 = dist.segment at(0, 1) phase(update)
// CHECK-NEXT: dist.all_reduce @c0 %[[J]]
// CHECK-NEXT: dist.all_reduce @c1 %[[CJ]]
// CHECK-NEXT: stablehlo.add
// CHECK: %[[D:.*]] = dist.segment at(0) phase(update)
// CHECK-NEXT: stablehlo.multiply %[[A]]#1, %[[B]]#0
// CHECK: return %[[D]], %[[B]]#1
func.func private @u(%ls: tensor<f32> {dist.port = #dist.port<loss_sum>}, %count: tensor<f32> {dist.port = #dist.port<count>}, %lr: tensor<f32> {dist.port = #dist.port<hyper @lr>})
    -> (tensor<f32> {dist.port = #dist.port<metric "a">}, tensor<f32> {dist.port = #dist.port<metric "b">}) {
  %c = stablehlo.constant {dist.at = array<i64: 1>} dense<3.0> : tensor<f32>
  %n = stablehlo.negate %lr {dist.at = array<i64: 0>, dist.phase = #U} : tensor<f32>
  %j = dist.join %n over "pipe" : (tensor<f32>) -> tensor<f32>
  %r = dist.all_reduce @c0 %j over ["pipe"] sum {dist.phase = #U} : tensor<f32>
  %cj = dist.join %c over "pipe" : (tensor<f32>) -> tensor<f32>
  %cr = dist.all_reduce @c1 %cj over ["pipe"] sum {dist.phase = #U} : tensor<f32>
  %b = stablehlo.abs %lr {dist.at = array<i64: 0>, dist.phase = #U} : tensor<f32>
  %d = stablehlo.multiply %b, %r {dist.at = array<i64: 0>, dist.phase = #U} : tensor<f32>
  %e = stablehlo.add %r, %cr {dist.phase = #U} : tensor<f32>
  return %d, %e : tensor<f32>, tensor<f32>
}
dist.hyper @lr : tensor<f32> = <constant, base = 0.05>
dist.step @train microbatch(@m) update(@u) microbatches(1) schedule(<1f1b>) chunks([0, 1])

// -----

// A collective that is wanted at stage 0 of three: the others add zeros.
dist.mesh @mesh = <"pipe"=3> pipeline "pipe"
func.func private @m() -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}) {
  %0 = stablehlo.constant {dist.block = 2 : i64, dist.phase = #dist.phase<forward>} dense<1.0> : tensor<f32>
  return %0, %0 : tensor<f32>, tensor<f32>
}
// CHECK-LABEL: func.func private @widened
// CHECK: %[[J:.*]] = dist.join %arg0 over "pipe" {dist.at = array<i64: 0, 1, 2>} : (tensor<f32>) -> tensor<f32>
// CHECK: %[[K:.*]] = dist.join %{{.*}} over "pipe" {dist.at = array<i64: 0, 1, 2>} : (tensor<8xf32>) -> tensor<8xf32>
// CHECK: dist.segment at(0, 1, 2) phase(update)
// CHECK-NEXT: dist.all_reduce @c0 %[[J]], %[[K]]
// CHECK: dist.segment at(0) phase(update)
func.func private @widened(%ls: tensor<f32> {dist.port = #dist.port<loss_sum>}, %count: tensor<f32> {dist.port = #dist.port<count>}) -> (tensor<f32> {dist.port = #dist.port<metric "a">}) {
  %b = stablehlo.broadcast_in_dim %ls, dims = [] {dist.at = array<i64: 0>} : (tensor<f32>) -> tensor<8xf32>
  %r:2 = dist.all_reduce @c0 %ls, %b over ["pipe"] sum {dist.at = array<i64: 0>} : tensor<f32>, tensor<8xf32>
  %d = stablehlo.negate %r#0 {dist.at = array<i64: 0>} : tensor<f32>
  return %d : tensor<f32>
}
dist.step @train microbatch(@m) update(@widened) microbatches(1) schedule(<1f1b>) chunks([0, 1, 2])

// -----

// Stages are at different microbatches at any time.
dist.mesh @mesh = <"pipe"=2> pipeline "pipe"
func.func @f(%x: tensor<4xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  // expected-error@+1 {{expected no collective over pipeline axis "pipe" in a microbatch}}
  %0 = dist.all_reduce %x over ["pipe"] sum {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : tensor<4xf32>
  return %0 : tensor<4xf32>
}
dist.entry @forward function(@f) chunks([0, 1])

// -----

// What is spread only to be returned is returned where it is made.
dist.mesh @mesh = <"pipe"=2> pipeline "pipe"
// CHECK-LABEL: func.func @returned
func.func @returned(%x: tensor<4xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4xf32> {dist.port = #dist.port<metric "m">}) {
  // CHECK: %[[S:.*]] = dist.segment chunk(1) phase(forward)
  // CHECK-NEXT: stablehlo.tanh
  // CHECK-NEXT: dist.yield
  // CHECK: return %[[S]]
  %0 = stablehlo.tanh %x {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} : tensor<4xf32>
  %1 = dist.broadcast @c0 %0 from [1] over ["pipe"] {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} : tensor<4xf32>
  return %1 : tensor<4xf32>
}
dist.entry @forward function(@returned) chunks([0, 1])

// -----

// A constant that goes through a join stands in front of all segments, though
// one of its stages comes later: what reads the join comes before that.
#U = #dist.phase<update>
dist.mesh @mesh = <"pipe"=2> pipeline "pipe"
func.func private @m() -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}) {
  %0 = stablehlo.constant {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} dense<1.0> : tensor<f32>
  return %0, %0 : tensor<f32>, tensor<f32>
}
// CHECK-LABEL: func.func private @joined
// CHECK-NEXT: %[[C:.*]] = dist.segment at(1) phase(update)
// CHECK-NEXT: stablehlo.constant {{.*}}dense<3.0
// CHECK: %[[J:.*]] = dist.join %[[C]] over "pipe"
// CHECK-NEXT: %[[R:.*]] = dist.segment at(0, 1) phase(update)
// CHECK-NEXT: dist.all_reduce @c0 %[[J]]
// CHECK: %[[D:.*]]:2 = dist.segment at(1) phase(update)
// CHECK-NEXT: stablehlo.constant {{.*}}dense<4.0
// CHECK-NEXT: stablehlo.negate %[[R]]
// CHECK-NOT: dist.segment
// CHECK: return
func.func private @joined(%ls: tensor<f32> {dist.port = #dist.port<loss_sum>}, %count: tensor<f32> {dist.port = #dist.port<count>})
    -> (tensor<f32> {dist.port = #dist.port<metric "a">}, tensor<f32> {dist.port = #dist.port<metric "b">}) {
  %c = stablehlo.constant {dist.at = array<i64: 1>} dense<3.0> : tensor<f32>
  // Returned: it stands where its stages have a segment.
  %k = stablehlo.constant {dist.at = array<i64: 1>} dense<4.0> : tensor<f32>
  %j = dist.join %c over "pipe" : (tensor<f32>) -> tensor<f32>
  %r = dist.all_reduce @c0 %j over ["pipe"] sum {dist.phase = #U} : tensor<f32>
  %d = stablehlo.negate %r {dist.at = array<i64: 1>, dist.phase = #U} : tensor<f32>
  return %d, %k : tensor<f32>, tensor<f32>
}
dist.step @train microbatch(@m) update(@joined) microbatches(1) schedule(<1f1b>) chunks([0, 1])

// -----

// A join is of several segments: none of them can read it.
dist.mesh @mesh = <"p"=2> pipeline "p"
func.func @f(%x: tensor<4xf32> {dist.port = #dist.port<input "x">}) -> (tensor<8xf32> {dist.port = #dist.port<output "y">}) {
  %0 = stablehlo.tanh %x {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : tensor<4xf32>
  %1 = stablehlo.tanh %x {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} : tensor<4xf32>
  %2 = dist.join %0, %1 over "p" : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // expected-error@+1 {{in chunk 1 and phase forward uses a value of its own segment after a crossing}}
  %3 = stablehlo.concatenate %2, %2, dim = 0 {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
  return %3 : tensor<8xf32>
}
dist.entry @forward function(@f) chunks([0, 1])

// -----

// The phase alone is missing, of the second op.
#F = #dist.phase<forward>
dist.mesh @mesh = <"data"=1>
func.func @f(%x: tensor<4xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  %0 = stablehlo.tanh %x {dist.block = 0 : i64, dist.phase = #F} : tensor<4xf32>
  // expected-error@+1 {{expected marks 'dist.block' and 'dist.phase' before it is put into a segment}}
  %1 = stablehlo.tanh %0 {dist.block = 0 : i64} : tensor<4xf32>
  return %1 : tensor<4xf32>
}
dist.entry @forward function(@f) chunks([0])

// -----

// What is spread to be read takes a transfer,
#F = #dist.phase<forward>
dist.mesh @mesh = <"pipe"=2> pipeline "pipe"
func.func @f(%x: tensor<4xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  %0 = stablehlo.tanh %x {dist.block = 0 : i64, dist.phase = #F} : tensor<4xf32>
  // expected-error@+1 {{expected no collective over pipeline axis "pipe" in a microbatch}}
  %1 = dist.broadcast @c %0 from [0] over ["pipe"] {dist.block = 0 : i64, dist.phase = #F} : tensor<4xf32>
  %2 = stablehlo.tanh %1 {dist.block = 1 : i64, dist.phase = #F} : tensor<4xf32>
  return %1 : tensor<4xf32>
}
dist.entry @forward function(@f) chunks([0, 1])

// -----

// and over two axes no stage has all that is returned.
#F = #dist.phase<forward>
dist.mesh @mesh = <"pipe"=2, "data"=2> pipeline "pipe"
func.func @f(%x: tensor<4xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  %0 = stablehlo.tanh %x {dist.block = 0 : i64, dist.phase = #F} : tensor<4xf32>
  // expected-error@+1 {{expected no collective over pipeline axis "pipe" in a microbatch}}
  %1 = dist.broadcast @c %0 from [0, 0] over ["pipe", "data"] {dist.block = 0 : i64, dist.phase = #F} : tensor<4xf32>
  return %1 : tensor<4xf32>
}
dist.entry @forward function(@f) chunks([0, 1])

// -----

// A constant that is returned stands in the forward of its block's chunk, or of
// the first where it has none. A program of two entries is cut once.
#F = #dist.phase<forward>
dist.mesh @mesh = <"pipe"=2> pipeline "pipe"
// CHECK-LABEL: func.func @constants
// CHECK: %[[A:.*]]:2 = dist.segment chunk(0) phase(forward)
// CHECK-NEXT: stablehlo.constant dense<2.0
// CHECK-NEXT: stablehlo.constant {dist.block = 2 : i64} dense<3.0
// CHECK: %[[B:.*]] = dist.segment chunk(1) phase(forward)
// CHECK-NEXT: stablehlo.constant {dist.block = 1 : i64} dense<1.0
// CHECK-NOT: dist.segment
// CHECK: return %[[B]], %[[A]]#0, %[[A]]#1
func.func @constants(%x: tensor<4xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4xf32> {dist.port = #dist.port<output "a">}, tensor<4xf32> {dist.port = #dist.port<output "b">}, tensor<4xf32> {dist.port = #dist.port<output "c">}) {
  %a = stablehlo.constant {dist.block = 1 : i64} dense<1.0> : tensor<4xf32>
  %b = stablehlo.constant dense<2.0> : tensor<4xf32>
  %c = stablehlo.constant {dist.block = 2 : i64} dense<3.0> : tensor<4xf32>
  return %a, %b, %c : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
dist.entry @forward function(@constants) chunks([0, 1])
dist.entry @again function(@constants) chunks([0, 1])

// -----

// Constants that go through joins share one segment for the same stages.
#U = #dist.phase<update>
dist.mesh @mesh = <"pipe"=2> pipeline "pipe"
func.func private @m() -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}) {
  %1 = stablehlo.constant {dist.block = 0 : i64} dense<1.0> : tensor<f32>
  return %1, %1 : tensor<f32>, tensor<f32>
}
// CHECK-LABEL: func.func private @fronts
// CHECK: %[[A:.*]] = dist.segment at(0) phase(update)
// CHECK-NEXT: stablehlo.constant {{.*}}dense<3.0
// CHECK: %[[JA:.*]] = dist.join %[[A]] over "pipe"
// CHECK-NEXT: %[[B:.*]]:2 = dist.segment at(1) phase(update)
// CHECK-NEXT: stablehlo.constant {{.*}}dense<1.0
// CHECK-NEXT: stablehlo.constant {{.*}}dense<2.0
// CHECK: dist.join %[[B]]#0 over "pipe"
// CHECK-NEXT: dist.join %[[B]]#1 over "pipe"
// CHECK-NEXT: dist.segment at(0, 1) phase(update)
func.func private @fronts() -> (tensor<f32> {dist.port = #dist.port<metric "a">}, tensor<f32> {dist.port = #dist.port<metric "b">}, tensor<f32> {dist.port = #dist.port<metric "c">}) {
  %a = stablehlo.constant {dist.at = array<i64: 1>, dist.phase = #U} dense<1.0> : tensor<f32>
  %b = stablehlo.constant {dist.at = array<i64: 1>, dist.phase = #U} dense<2.0> : tensor<f32>
  %c = stablehlo.constant {dist.at = array<i64: 0>, dist.phase = #U} dense<3.0> : tensor<f32>
  %ja = dist.join %a over "pipe" : (tensor<f32>) -> tensor<f32>
  %jb = dist.join %b over "pipe" : (tensor<f32>) -> tensor<f32>
  %jc = dist.join %c over "pipe" : (tensor<f32>) -> tensor<f32>
  %0 = dist.all_reduce @x %ja over ["pipe"] sum {dist.phase = #U} : tensor<f32>
  %1 = dist.all_reduce @y %jb over ["pipe"] sum {dist.phase = #U} : tensor<f32>
  %2 = dist.all_reduce @z %jc over ["pipe"] sum {dist.phase = #U} : tensor<f32>
  return %0, %1, %2 : tensor<f32>, tensor<f32>, tensor<f32>
}
dist.step @train microbatch(@m) update(@fronts) microbatches(1) schedule(<1f1b>) chunks([0, 1])
