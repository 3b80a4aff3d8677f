// RUN: llmc-opt %s --split-input-file --llmc-expand-reshards --llmc-verify-materialized | FileCheck %s
// RUN: llmc-opt %s --split-input-file --llmc-expand-reshards --remarks-filter=layouts --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// A reshard between equal layouts is nothing; a slice moves nothing.
#whole = #dist.layout<@mesh, [{}]>
#split = #dist.layout<@mesh, [{"data"}]>
dist.mesh @mesh = <"data"=2>
// CHECK-LABEL: func.func @local
// CHECK-SAME: %[[X:.*]]: tensor<4xf32
func.func @local(%x: tensor<4xf32, #whole> {dist.port = #dist.port<input "x">}) -> (tensor<4xf32, #whole> {dist.port = #dist.port<output "y">}, tensor<4xf32, #split> {dist.port = #dist.port<output "z">}) {
  // CHECK-NEXT: %[[S:.*]] = dist.reshard %[[X]]
  // CHECK-NEXT: return %[[X]], %[[S]]
  %0 = dist.reshard %x : tensor<4xf32, #whole> -> tensor<4xf32, #whole>
  %1 = dist.reshard %x : tensor<4xf32, #whole> -> tensor<4xf32, #split>
  return %0, %1 : tensor<4xf32, #whole>, tensor<4xf32, #split>
}
dist.entry @forward function(@local) chunks([0])

// -----

// One of each collective within a stage.
#xr = #dist.layout<@mesh, [{"x"}, {}]>
#xc = #dist.layout<@mesh, [{}, {"x"}]>
#w = #dist.layout<@mesh, [{}, {}]>
#px = #dist.layout<@mesh, [{}, {}], partial = [sum{"x"}]>
#xy = #dist.layout<@mesh, [{"x", "y"}, {}]>
#yx = #dist.layout<@mesh, [{"y", "x"}, {}]>
dist.mesh @mesh = <"x"=2, "y"=2>
// CHECK-LABEL: func.func @collectives
func.func @collectives(%r: tensor<64x64xf32, #xr> {dist.port = #dist.port<input "r">}, %p: tensor<64x64xf32, #px> {dist.port = #dist.port<input "p">}, %q: tensor<64x64xf32, #xy> {dist.port = #dist.port<input "q">})
    -> (tensor<64x64xf32, #w> {dist.port = #dist.port<output "a">}, tensor<64x64xf32, #xc> {dist.port = #dist.port<output "b">}, tensor<64x64xf32, #w> {dist.port = #dist.port<output "c">}, tensor<64x64xf32, #xr> {dist.port = #dist.port<output "d">}, tensor<64x64xf32, #yx> {dist.port = #dist.port<output "e">}, tensor<64x64xf32, #px> {dist.port = #dist.port<output "f">}, tensor<64x64xf32, #px> {dist.port = #dist.port<output "g">}) {
  // CHECK: dist.all_gather %{{.*}} dim 0 over ["x"]
  // CHECK: dist.all_to_all %{{.*}} split 1 concat 0 over ["x"]
  // CHECK: dist.all_reduce %{{.*}} over ["x"] sum
  // CHECK: dist.reduce_scatter %{{.*}} dim 0 over ["x"] sum
  // CHECK: dist.permute %{{.*}} over ["x", "y"] to ["y", "x"]
  // CHECK: dist.keep %{{.*}} where "x" {
  // CHECK: dist.keep %{{.*}} where "x" = 0 {
  // REMARK: remark: {{.*}}all-gather over "x", 8192 B received: the function makes #dist.layout<@mesh, [{"x"}, {}]> where 'dist.reshard' wants #dist.layout<@mesh, [{}, {}]>
  // REMARK: remark: {{.*}}all-to-all over "x", 4096 B received
  // REMARK: remark: {{.*}}all-reduce over "x", 16384 B received
  // REMARK: remark: {{.*}}reduce-scatter over "x", 8192 B received
  // REMARK: remark: {{.*}}permute over "x", "y", 4096 B received
  %a = dist.reshard %r : tensor<64x64xf32, #xr> -> tensor<64x64xf32, #w>
  %b = dist.reshard %r : tensor<64x64xf32, #xr> -> tensor<64x64xf32, #xc>
  %c = dist.reshard %p : tensor<64x64xf32, #px> -> tensor<64x64xf32, #w>
  %d = dist.reshard %p : tensor<64x64xf32, #px> -> tensor<64x64xf32, #xr>
  %e = dist.reshard %q : tensor<64x64xf32, #xy> -> tensor<64x64xf32, #yx>
  %f = dist.reshard %r : tensor<64x64xf32, #xr> -> tensor<64x64xf32, #px>
  %g = dist.reshard %a : tensor<64x64xf32, #w> -> tensor<64x64xf32, #px>
  return %a, %b, %c, %d, %e, %f, %g : tensor<64x64xf32, #w>, tensor<64x64xf32, #xc>, tensor<64x64xf32, #w>, tensor<64x64xf32, #xr>, tensor<64x64xf32, #yx>, tensor<64x64xf32, #px>, tensor<64x64xf32, #px>
}
dist.entry @forward function(@collectives) chunks([0])

// -----

// Between stages: what is in front of the transfer runs with the producer, what
// is after it with the first user.
#p0 = #dist.layout<@mesh, [{"data"}, {}], partial = [sum{"tensor"}], at = {"pipe" = [0]}>
#r0 = #dist.layout<@mesh, [{"data"}, {}], at = {"pipe" = [0]}>
#r1 = #dist.layout<@mesh, [{"data"}, {}], at = {"pipe" = [1]}>
#v0 = #dist.layout<@mesh, [{}, {}], at = {"pipe" = [0]}>
#v1 = #dist.layout<@mesh, [{}, {}], at = {"pipe" = [1]}>
#v01 = #dist.layout<@mesh, [{}, {}], at = {"pipe" = [0, 1]}>
dist.mesh @mesh = <"pipe"=2, "data"=2, "tensor"=2> pipeline "pipe"
// CHECK-LABEL: func.func @stages
func.func @stages(%x: tensor<8x4xf32, #p0> {dist.port = #dist.port<input "x">}, %v: tensor<8x4xf32, #v01> {dist.port = #dist.port<input "v">}) -> (tensor<8x4xf32, #r1> {dist.port = #dist.port<output "y">}) {
  // CHECK-NEXT: %[[A:.*]] = dist.reduce_scatter %{{.*}} dim {{[01]}} over ["tensor"] sum {dist.block = 0 : i64, dist.phase = #dist.phase<forward>}
  // CHECK-NEXT: %[[B:.*]] = dist.transfer @t0 %[[A]] along "pipe" 0 -> 1 {dist.block = 0 : i64, dist.phase = #dist.phase<forward>}
  // CHECK-NEXT: %[[C:.*]] = dist.all_gather %[[B]] dim {{[01]}} over ["tensor"] {dist.block = 1 : i64, dist.phase = #dist.phase<backward>}
  %0 = dist.reshard %x {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : tensor<8x4xf32, #p0> -> tensor<8x4xf32, #r1>
  // CHECK-NEXT: stablehlo.tanh %[[C]]
  %1 = stablehlo.tanh %0 {dist.block = 1 : i64, dist.phase = #dist.phase<backward>} : tensor<8x4xf32, #r1>
  // A value that is at both stages is forgotten at one.
  // CHECK-NEXT: %[[D:.*]] = dist.reshard
  // CHECK-NEXT: %[[E:.*]] = dist.transfer @t1 %{{.*}} along "pipe" 1 -> 0 {dist.block = 1
  // CHECK-NEXT: dist.transfer @t2 %[[E]] along "pipe" 0 -> 1 {dist.block = 0
  %2 = dist.reshard %v : tensor<8x4xf32, #v01> -> tensor<8x4xf32, #v1>
  %3 = dist.reshard %1 {dist.block = 1 : i64, dist.phase = #dist.phase<backward>} : tensor<8x4xf32, #r1> -> tensor<8x4xf32, #r0>
  %4 = dist.reshard %3 {dist.block = 0 : i64, dist.phase = #dist.phase<backward>} : tensor<8x4xf32, #r0> -> tensor<8x4xf32, #r1>
  return %4 : tensor<8x4xf32, #r1>
}
dist.entry @forward function(@stages) chunks([0, 1])

// -----

// In an update the programs of all stages run side by side: every member of a
// collective over the pipeline axis has an operand, and the collective a name.
#s1 = #dist.layout<@mesh, [], at = {"pipe" = [1]}>
#s = #dist.layout<@mesh, [], at = {"pipe" = [0, 1]}>
#sp = #dist.layout<@mesh, [], partial = [sum{"data", "pipe"}], at = {"pipe" = [0, 1]}>
#w0 = #dist.layout<@mesh, [{}], at = {"pipe" = [0]}>
#g = #dist.layout<@mesh, [{}], partial = [sum{"data"}], at = {"pipe" = [0]}>
dist.mesh @mesh = <"pipe"=2, "data"=2> pipeline "pipe"
dist.state @w : tensor<4xf32> {role = parameter, source = #dist.draw<ones>}
func.func @microbatch(%x: tensor<4xf32, #w0> {dist.port = #dist.port<input "x">}, %gi: tensor<4xf32, #g> {dist.port = #dist.port<input "g">}, %li: tensor<f32, #sp> {dist.port = #dist.port<input "l">}, %ci: tensor<f32, #s1> {dist.port = #dist.port<input "c">}) -> (tensor<f32, #sp> {dist.port = #dist.port<loss_sum>}, tensor<f32, #s1> {dist.port = #dist.port<count>}, tensor<4xf32, #g> {dist.port = #dist.port<gradient @w>}) {
  return %li, %ci, %gi : tensor<f32, #sp>, tensor<f32, #s1>, tensor<4xf32, #g>
}
// CHECK-LABEL: func.func @update
func.func @update(%w: tensor<4xf32, #w0> {dist.port = #dist.port<parameter @w>}, %l: tensor<f32, #sp> {dist.port = #dist.port<loss_sum>}, %c: tensor<f32, #s1> {dist.port = #dist.port<count>}, %g: tensor<4xf32, #g> {dist.port = #dist.port<gradient @w>}) -> (tensor<4xf32, #w0> {dist.port = #dist.port<parameter @w>}, tensor<f32, #s> {dist.port = #dist.port<metric "loss">}) {
  // CHECK: %[[L:.*]] = dist.all_reduce @c0 %{{.*}} over ["pipe", "data"] sum {dist.phase = #dist.phase<update>}
  // CHECK: %[[J:.*]] = dist.join %{{.*}} over "pipe"
  // CHECK: %[[C:.*]] = dist.broadcast @c1 %[[J]] from [1] over ["pipe"] {dist.phase = #dist.phase<update>}
  %l1 = dist.reshard %l : tensor<f32, #sp> -> tensor<f32, #s>
  %c1 = dist.reshard %c : tensor<f32, #s1> -> tensor<f32, #s>
  // CHECK: stablehlo.divide %[[L]], %[[C]]
  %loss = stablehlo.divide %l1, %c1 : tensor<f32, #s>
  // CHECK: dist.all_reduce %{{.*}} over ["data"] sum
  %g1 = dist.reshard %g : tensor<4xf32, #g> -> tensor<4xf32, #w0>
  %new = stablehlo.subtract %w, %g1 : tensor<4xf32, #w0>
  return %new, %loss : tensor<4xf32, #w0>, tensor<f32, #s>
}
dist.step @train microbatch(@microbatch) update(@update) microbatches(1) schedule(<1f1b>) chunks([0, 1])

// -----

// The first user in time is not the first in the text: backward-input runs
// before backward-weight.
#p0 = #dist.layout<@mesh, [{}], partial = [sum{"tensor"}], at = {"pipe" = [0]}>
#r1 = #dist.layout<@mesh, [{}], at = {"pipe" = [1]}>
dist.mesh @mesh = <"pipe"=2, "tensor"=2> pipeline "pipe"
// CHECK-LABEL: func.func @early
func.func @early(%x: tensor<8xf32, #p0> {dist.port = #dist.port<input "x">}) -> (tensor<8xf32, #r1> {dist.port = #dist.port<output "y">}) {
  // CHECK: dist.transfer
  // CHECK-NEXT: dist.all_gather {{.*}}{dist.block = 1 : i64, dist.phase = #dist.phase<backward_input>}
  %0 = dist.reshard %x {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : tensor<8xf32, #p0> -> tensor<8xf32, #r1>
  %1 = stablehlo.tanh %0 {dist.block = 1 : i64, dist.phase = #dist.phase<backward_weight>} : tensor<8xf32, #r1>
  %2 = stablehlo.abs %0 {dist.block = 1 : i64, dist.phase = #dist.phase<backward_input>} : tensor<8xf32, #r1>
  %3 = stablehlo.add %1, %2 {dist.block = 1 : i64, dist.phase = #dist.phase<backward_weight>} : tensor<8xf32, #r1>
  return %3 : tensor<8xf32, #r1>
}
dist.entry @forward function(@early) chunks([0, 1])

// -----

// A permutation names the axes that change places, not those that stay.
#xyz = #dist.layout<@mesh, [{"x", "y"}, {"z"}]>
#yxz = #dist.layout<@mesh, [{"y", "x"}, {"z"}]>
dist.mesh @mesh = <"x"=2, "y"=2, "z"=2>
// CHECK-LABEL: func.func @stay
// CHECK-NEXT: dist.permute %{{.*}} over ["x", "y"] to ["y", "x"] {
// CHECK-NEXT: return
// REMARK: remark: {{.*}}permute over "x", "y", 2048 B received
func.func @stay(%x: tensor<64x64xf32, #xyz> {dist.port = #dist.port<input "x">}) -> (tensor<64x64xf32, #yxz> {dist.port = #dist.port<output "y">}) {
  %0 = dist.reshard %x : tensor<64x64xf32, #xyz> -> tensor<64x64xf32, #yxz>
  return %0 : tensor<64x64xf32, #yxz>
}
dist.entry @forward function(@stay) chunks([0])

// -----

// From several stages the nearest one in front sends, or the first of those
// after. Where no block lives at a stage, the first one stands for it.
#at01 = #dist.layout<@mesh, [{}], at = {"pipe" = [0, 1]}>
#at23 = #dist.layout<@mesh, [{}], at = {"pipe" = [2, 3]}>
#at2 = #dist.layout<@mesh, [{}], at = {"pipe" = [2]}>
#at0 = #dist.layout<@mesh, [{}], at = {"pipe" = [0]}>
#at3 = #dist.layout<@mesh, [{}], at = {"pipe" = [3]}>
dist.mesh @mesh = <"pipe"=4> pipeline "pipe"
// CHECK-LABEL: func.func @nearest
func.func @nearest(%x: tensor<4xf32, #at01> {dist.port = #dist.port<input "x">}, %y: tensor<4xf32, #at23> {dist.port = #dist.port<input "y">}) -> (tensor<4xf32, #at2> {dist.port = #dist.port<output "a">}, tensor<4xf32, #at0> {dist.port = #dist.port<output "b">}, tensor<4xf32, #at3> {dist.port = #dist.port<output "c">}) {
  // CHECK-NEXT: %[[X:.*]] = dist.reshard %arg0 {dist.block = 1
  // CHECK-NEXT: %[[A:.*]] = dist.transfer @t0 %[[X]] along "pipe" 1 -> 2 {dist.block = 1
  // CHECK-NEXT: %[[Y:.*]] = dist.reshard %arg1 {dist.block = 2
  // CHECK-NEXT: %[[B:.*]] = dist.transfer @t1 %[[Y]] along "pipe" 2 -> 0 {dist.block = 2
  // CHECK-NEXT: %[[C:.*]] = dist.reshard %arg1 {dist.block = 0
  // CHECK-NEXT: return %[[A]], %[[B]], %[[C]]
  %0 = dist.reshard %x {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} : tensor<4xf32, #at01> -> tensor<4xf32, #at2>
  %1 = dist.reshard %y {dist.block = 2 : i64, dist.phase = #dist.phase<forward>} : tensor<4xf32, #at23> -> tensor<4xf32, #at0>
  %2 = dist.reshard %y {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : tensor<4xf32, #at23> -> tensor<4xf32, #at3>
  return %0, %1, %2 : tensor<4xf32, #at2>, tensor<4xf32, #at0>, tensor<4xf32, #at3>
}
dist.entry @forward function(@nearest) chunks([0, 1, 2])

// -----

// Summands of some stages are those of more, with zeros there: no op keeps them.
#two = #dist.layout<@mesh, [{}], partial = [sum{"pipe"}], at = {"pipe" = [0, 1]}>
#three = #dist.layout<@mesh, [{}], partial = [sum{"pipe"}], at = {"pipe" = [0, 1, 2]}>
dist.mesh @mesh = <"pipe"=3> pipeline "pipe"
// CHECK-LABEL: func.func @more
// CHECK-NEXT: %[[J:.*]] = dist.join %arg0 over "pipe"
// CHECK-NEXT: return %[[J]]
func.func @more(%x: tensor<4xf32, #two> {dist.port = #dist.port<input "x">}) -> (tensor<4xf32, #three> {dist.port = #dist.port<output "y">}) {
  %0 = dist.reshard %x {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : tensor<4xf32, #two> -> tensor<4xf32, #three>
  return %0 : tensor<4xf32, #three>
}
dist.entry @forward function(@more) chunks([0, 1, 2])

// -----

// A stage reads a value split and gathered: it is sent there once.
#from = #dist.layout<@mesh, [{"t"}], at = {"pipe" = [1]}>
#split = #dist.layout<@mesh, [{"t"}], at = {"pipe" = [0]}>
#whole = #dist.layout<@mesh, [{}], at = {"pipe" = [0]}>
dist.mesh @mesh = <"pipe"=2, "t"=2> pipeline "pipe"
// CHECK-LABEL: func.func @once
func.func @once(%x: tensor<4xf32, #from> {dist.port = #dist.port<input "x">}) -> (tensor<4xf32, #split> {dist.port = #dist.port<output "y">}, tensor<4xf32, #whole> {dist.port = #dist.port<output "z">}) {
  // CHECK-NEXT: %[[S:.*]] = dist.transfer @t0 %arg0 along "pipe" 1 -> 0
  // CHECK-NEXT: %[[G:.*]] = dist.all_gather %[[S]]
  // CHECK-NEXT: return %[[S]], %[[G]]
  %0 = dist.reshard %x {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} : tensor<4xf32, #from> -> tensor<4xf32, #split>
  %1 = dist.reshard %x {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} : tensor<4xf32, #from> -> tensor<4xf32, #whole>
  return %0, %1 : tensor<4xf32, #split>, tensor<4xf32, #whole>
}
dist.entry @forward function(@once) chunks([0, 1])
