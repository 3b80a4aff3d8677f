// Weights that random bits drop, by their counters; and near misses with their reasons. The text of jax.random is
// compared in test/EndToEnd/oracle/attention.py.
// RUN: split-file %s %t
// DEFINE: %{import} = llmc compile --set data.inputs.q=0 --set data.inputs.k=0 --set data.inputs.v=0 --set data.inputs.state=0 --compile-to=import -o -
// RUN: %{import} %t/raised.mlir | llmc-opt --llmc-normalize --llmc-raise | FileCheck %t/raised.mlir
// RUN: %{import} %t/missed.mlir | llmc-opt --llmc-normalize --llmc-raise --remarks-filter=training --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %t/missed.mlir

// Another number of the key, another distance or another number of a group, and the words are not those of threefry.
// DEFINE: %{change} =
// DEFINE: %{changed} = %{import} %t/raised.mlir | sed '%{change}' | llmc-opt --llmc-normalize --llmc-raise | FileCheck %s --check-prefix=CHANGED
// REDEFINE: %{change} = s/dense<466688986>/dense<466688987>/
// RUN: %{changed}
// REDEFINE: %{change} = s/dense<26> : tensor<2x4x6x6xui32>/dense<25> : tensor<2x4x6x6xui32>/
// RUN: %{changed}
// REDEFINE: %{change} = s/dense<3> : tensor<ui32>/dense<2> : tensor<ui32>/
// RUN: %{changed}
// CHANGED-LABEL: func.func
// CHANGED-NOT: dropout %{{.*}} strides [144, 36, 6, 1]
// CHANGED: return

//--- raised.mlir
// CHECK: nn.attention %{{.*}}, %{{.*}}, %{{.*}} dropout %{{.*}} strides [144, 36, 6, 1] <threefry below 5000000000000000000 factor 1.000000e+00> scale 1.000000e+00 :
// CHECK: nn.attention %{{.*}}, %{{.*}}, %{{.*}} dropout %{{.*}} strides [144, 36, 6, 1] <threefry below 5000000000000000000 factor 4.000000e+00> scale 2.000000e+00 :
// CHECK: nn.attention %{{.*}}, %{{.*}}, %{{.*}} dropout %{{.*}} strides [144, 36, 6, 1] <threefry from 5000000000000000000 factor 1.500000e+00> scale 3.000000e+00 :
// CHECK: nn.attention %{{.*}}, %{{.*}}, %{{.*}} dropout %{{.*}} strides [144, 36, 6, 1] <threefry from 5000000000000000000 factor 2.000000e+00> scale 4.000000e+00 :
// CHECK: nn.attention %{{.*}}, %{{.*}}, %{{.*}} dropout %{{.*}} strides [144, 36, 6, 1] <threefry from 4611686018427387904 factor 1.000000e+00> scale 5.000000e+00 :
// CHECK: nn.attention %{{.*}}, %{{.*}}, %{{.*}} dropout %{{.*}} strides [144, 36, 6, 1] <threefry below 9223372036854775808 factor 1.000000e+00> scale 6.000000e+00 :
// CHECK: nn.attention %{{.*}}, %{{.*}}, %{{.*}} dropout %{{.*}} strides [0, 0, 6, 1] <threefry below 5000000000000000000 factor 4.000000e+00> scale 7.000000e+00 :
// CHECK: nn.attention %{{.*}}, %{{.*}}, %{{.*}} dropout %{{.*}} strides [6, 12, 48, 1] <threefry below 5000000000000000001 factor 1.000000e+00> scale 8.000000e+00 :
func.func public @main(%q: tensor<2x4x6x8xf32> loc("q"), %k: tensor<2x4x6x8xf32> loc("k"), %v: tensor<2x4x6x8xf32> loc("v"), %state: tensor<2xui64> loc("state")) -> tensor<2x4x6x8xf32> {
  %zeros = stablehlo.constant dense<0.0> : tensor<2x4x6x6xf32>
  %limit = stablehlo.constant dense<5000000000000000000> : tensor<2x4x6x6xui64>
  %new, %bits = stablehlo.rng_bit_generator %state, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<2x4x6x6xui64>)
  %below = stablehlo.compare LT, %bits, %limit, UNSIGNED : (tensor<2x4x6x6xui64>, tensor<2x4x6x6xui64>) -> tensor<2x4x6x6xi1>

  // What lies below is kept.
  %c0 = stablehlo.constant dense<1.0> : tensor<f32>
  %p0 = call @weights(%q, %k, %c0) : (tensor<2x4x6x8xf32>, tensor<2x4x6x8xf32>, tensor<f32>) -> tensor<2x4x6x6xf32>
  %d0 = stablehlo.select %below, %p0, %zeros : tensor<2x4x6x6xi1>, tensor<2x4x6x6xf32>
  %o0 = call @outer(%d0, %v) : (tensor<2x4x6x6xf32>, tensor<2x4x6x8xf32>) -> tensor<2x4x6x8xf32>
  %t0 = stablehlo.add %v, %o0 : tensor<2x4x6x8xf32>

  // And divided by its share.
  %c1 = stablehlo.constant dense<2.0> : tensor<f32>
  %p1 = call @weights(%q, %k, %c1) : (tensor<2x4x6x8xf32>, tensor<2x4x6x8xf32>, tensor<f32>) -> tensor<2x4x6x6xf32>
  %r1 = stablehlo.constant dense<0.25> : tensor<2x4x6x6xf32>
  %n1 = stablehlo.divide %p1, %r1 : tensor<2x4x6x6xf32>
  %d1 = stablehlo.select %below, %n1, %zeros : tensor<2x4x6x6xi1>, tensor<2x4x6x6xf32>
  %o1 = call @outer(%d1, %v) : (tensor<2x4x6x6xf32>, tensor<2x4x6x8xf32>) -> tensor<2x4x6x8xf32>
  %t1 = stablehlo.add %t0, %o1 : tensor<2x4x6x8xf32>

  // What lies below is dropped.
  %c2 = stablehlo.constant dense<3.0> : tensor<f32>
  %p2 = call @weights(%q, %k, %c2) : (tensor<2x4x6x8xf32>, tensor<2x4x6x8xf32>, tensor<f32>) -> tensor<2x4x6x6xf32>
  %r2 = stablehlo.constant dense<1.5> : tensor<2x4x6x6xf32>
  %n2 = stablehlo.multiply %p2, %r2 : tensor<2x4x6x6xf32>
  %d2 = stablehlo.select %below, %zeros, %n2 : tensor<2x4x6x6xi1>, tensor<2x4x6x6xf32>
  %o2 = call @outer(%d2, %v) : (tensor<2x4x6x6xf32>, tensor<2x4x6x8xf32>) -> tensor<2x4x6x8xf32>
  %t2 = stablehlo.add %t1, %o2 : tensor<2x4x6x8xf32>

  // By a negation, scaled afterwards.
  %c3 = stablehlo.constant dense<4.0> : tensor<f32>
  %p3 = call @weights(%q, %k, %c3) : (tensor<2x4x6x8xf32>, tensor<2x4x6x8xf32>, tensor<f32>) -> tensor<2x4x6x6xf32>
  %r3 = stablehlo.constant dense<2.0> : tensor<2x4x6x6xf32>
  %m3 = stablehlo.not %below : tensor<2x4x6x6xi1>
  %n3 = stablehlo.select %m3, %p3, %zeros : tensor<2x4x6x6xi1>, tensor<2x4x6x6xf32>
  %d3 = stablehlo.multiply %n3, %r3 : tensor<2x4x6x6xf32>
  %o3 = call @outer(%d3, %v) : (tensor<2x4x6x6xf32>, tensor<2x4x6x8xf32>) -> tensor<2x4x6x8xf32>
  %t3 = stablehlo.add %t2, %o3 : tensor<2x4x6x8xf32>

  // As PyTorch's exports have it: numbers from 0 to 1, of 24 bits.
  %c4 = stablehlo.constant dense<5.0> : tensor<f32>
  %p4 = call @weights(%q, %k, %c4) : (tensor<2x4x6x8xf32>, tensor<2x4x6x8xf32>, tensor<f32>) -> tensor<2x4x6x6xf32>
  %w4 = stablehlo.constant dense<40> : tensor<2x4x6x6xui64>
  %u4 = stablehlo.constant dense<5.96046448E-8> : tensor<2x4x6x6xf32>
  %r4 = stablehlo.constant dense<0.25> : tensor<2x4x6x6xf32>
  %h4 = stablehlo.shift_right_logical %bits, %w4 : tensor<2x4x6x6xui64>
  %i4 = stablehlo.convert %h4 : (tensor<2x4x6x6xui64>) -> tensor<2x4x6x6xui32>
  %f4 = stablehlo.convert %i4 : (tensor<2x4x6x6xui32>) -> tensor<2x4x6x6xf32>
  %n4 = stablehlo.multiply %f4, %u4 : tensor<2x4x6x6xf32>
  %m4 = stablehlo.compare GE, %n4, %r4, FLOAT : (tensor<2x4x6x6xf32>, tensor<2x4x6x6xf32>) -> tensor<2x4x6x6xi1>
  %d4 = stablehlo.select %m4, %p4, %zeros : tensor<2x4x6x6xi1>, tensor<2x4x6x6xf32>
  %o4 = call @outer(%d4, %v) : (tensor<2x4x6x6xf32>, tensor<2x4x6x8xf32>) -> tensor<2x4x6x8xf32>
  %t4 = stablehlo.add %t3, %o4 : tensor<2x4x6x8xf32>

  // The number stands first: 0.5 > x keeps the lower half.
  %c5 = stablehlo.constant dense<6.0> : tensor<f32>
  %p5 = call @weights(%q, %k, %c5) : (tensor<2x4x6x8xf32>, tensor<2x4x6x8xf32>, tensor<f32>) -> tensor<2x4x6x6xf32>
  %w5 = stablehlo.constant dense<12> : tensor<2x4x6x6xui64>
  %b5 = stablehlo.constant dense<4607182418800017408> : tensor<2x4x6x6xui64>
  %a5 = stablehlo.constant dense<1.0> : tensor<2x4x6x6xf64>
  %r5 = stablehlo.constant dense<0.5> : tensor<2x4x6x6xf64>
  %h5 = stablehlo.shift_right_logical %bits, %w5 : tensor<2x4x6x6xui64>
  %i5 = stablehlo.or %h5, %b5 : tensor<2x4x6x6xui64>
  %f5 = stablehlo.bitcast_convert %i5 : (tensor<2x4x6x6xui64>) -> tensor<2x4x6x6xf64>
  %n5 = stablehlo.subtract %f5, %a5 : tensor<2x4x6x6xf64>
  %m5 = stablehlo.compare GT, %r5, %n5, FLOAT : (tensor<2x4x6x6xf64>, tensor<2x4x6x6xf64>) -> tensor<2x4x6x6xi1>
  %d5 = stablehlo.select %m5, %p5, %zeros : tensor<2x4x6x6xi1>, tensor<2x4x6x6xf32>
  %o5 = call @outer(%d5, %v) : (tensor<2x4x6x6xf32>, tensor<2x4x6x8xf32>) -> tensor<2x4x6x8xf32>
  %t5 = stablehlo.add %t4, %o5 : tensor<2x4x6x8xf32>

  // Flags that samples and heads share, as numbers.
  %c6 = stablehlo.constant dense<7.0> : tensor<f32>
  %p6 = call @weights(%q, %k, %c6) : (tensor<2x4x6x8xf32>, tensor<2x4x6x8xf32>, tensor<f32>) -> tensor<2x4x6x6xf32>
  %w6 = stablehlo.constant dense<5000000000000000000> : tensor<6x6xui64>
  %r6 = stablehlo.constant dense<0.25> : tensor<6x6xf32>
  %x6, %g6 = stablehlo.rng_bit_generator %state, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<6x6xui64>)
  %m6 = stablehlo.compare LT, %g6, %w6, UNSIGNED : (tensor<6x6xui64>, tensor<6x6xui64>) -> tensor<6x6xi1>
  %f6 = stablehlo.convert %m6 : (tensor<6x6xi1>) -> tensor<6x6xf32>
  %n6 = stablehlo.divide %f6, %r6 : tensor<6x6xf32>
  %b6 = stablehlo.broadcast_in_dim %n6, dims = [2, 3] : (tensor<6x6xf32>) -> tensor<2x4x6x6xf32>
  %d6 = stablehlo.multiply %p6, %b6 : tensor<2x4x6x6xf32>
  %o6 = call @outer(%d6, %v) : (tensor<2x4x6x6xf32>, tensor<2x4x6x8xf32>) -> tensor<2x4x6x8xf32>
  %t6 = stablehlo.add %t5, %o6 : tensor<2x4x6x8xf32>

  // Drawn for rows in another order, by a known key.
  %c7 = stablehlo.constant dense<8.0> : tensor<f32>
  %p7 = call @weights(%q, %k, %c7) : (tensor<2x4x6x8xf32>, tensor<2x4x6x8xf32>, tensor<f32>) -> tensor<2x4x6x6xf32>
  %w7 = stablehlo.constant dense<5000000000000000000> : tensor<6x4x2x6xui64>
  %y7 = stablehlo.constant dense<[7, 4294967295]> : tensor<2xui64>
  %x7, %g7 = stablehlo.rng_bit_generator %y7, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<6x4x2x6xui64>)
  %m7 = stablehlo.compare LE, %g7, %w7, UNSIGNED : (tensor<6x4x2x6xui64>, tensor<6x4x2x6xui64>) -> tensor<6x4x2x6xi1>
  %b7 = stablehlo.transpose %m7, dims = [2, 1, 0, 3] : (tensor<6x4x2x6xi1>) -> tensor<2x4x6x6xi1>
  %d7 = stablehlo.select %b7, %p7, %zeros : tensor<2x4x6x6xi1>, tensor<2x4x6x6xf32>
  %o7 = call @outer(%d7, %v) : (tensor<2x4x6x6xf32>, tensor<2x4x6x8xf32>) -> tensor<2x4x6x8xf32>
  %t7 = stablehlo.add %t6, %o7 : tensor<2x4x6x8xf32>
  return %t7 : tensor<2x4x6x8xf32>
}
func.func private @weights(%q: tensor<2x4x6x8xf32>, %k: tensor<2x4x6x8xf32>, %scale: tensor<f32>) -> tensor<2x4x6x6xf32> {
  %s = stablehlo.dot_general %q, %k, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3] : (tensor<2x4x6x8xf32>, tensor<2x4x6x8xf32>) -> tensor<2x4x6x6xf32>
  %f = stablehlo.broadcast_in_dim %scale, dims = [] : (tensor<f32>) -> tensor<2x4x6x6xf32>
  %x = stablehlo.multiply %s, %f : tensor<2x4x6x6xf32>
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %max = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [3] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6xf32>
  %maxs = stablehlo.broadcast_in_dim %max, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x6xf32>
  %y = stablehlo.subtract %x, %maxs : tensor<2x4x6x6xf32>
  %e = stablehlo.exponential %y : tensor<2x4x6x6xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %sum = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [3] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6xf32>
  %sums = stablehlo.broadcast_in_dim %sum, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x6xf32>
  %p = stablehlo.divide %e, %sums : tensor<2x4x6x6xf32>
  return %p : tensor<2x4x6x6xf32>
}
func.func private @outer(%p: tensor<2x4x6x6xf32>, %v: tensor<2x4x6x8xf32>) -> tensor<2x4x6x8xf32> {
  %o = stablehlo.dot_general %p, %v, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<2x4x6x6xf32>, tensor<2x4x6x8xf32>) -> tensor<2x4x6x8xf32>
  return %o : tensor<2x4x6x8xf32>
}

//--- missed.mlir
// CHECK: Missed{{.*}}: ", Remark="weights are dropped by what is no random bits of a counter"
// CHECK: Missed{{.*}}: ", Remark="weights are dropped by what is no random bits of a counter"
// CHECK: Missed{{.*}}: ", Remark="weights are dropped by what is no random bits of a counter"
// CHECK: Missed{{.*}}: ", Remark="weights are dropped by what is no random bits of a counter"
// CHECK: Missed{{.*}}: ", Remark="weights are dropped by what is no random bits of a counter"
// CHECK: Missed{{.*}}: ", Remark="weights are dropped by what is no random bits of a counter"
// CHECK: Missed{{.*}}: ", Remark="weights are dropped by what is no random bits of a counter"
// CHECK: Missed{{.*}}: ", Remark="the counter of what drops weights does not follow their dims"
// CHECK: Missed{{.*}}: ", Remark="weights are dropped, and rows that see nothing are a mean"
// CHECK: Missed{{.*}}: ", Remark="weights are scaled by what is no positive number"
func.func public @main(%q: tensor<2x4x6x8xf32> loc("q"), %k: tensor<2x4x6x8xf32> loc("k"), %v: tensor<2x4x6x8xf32> loc("v"), %state: tensor<2xui64> loc("state")) -> tensor<2x4x6x8xf32> {
  %zeros = stablehlo.constant dense<0.0> : tensor<2x4x6x6xf32>
  %limit = stablehlo.constant dense<5000000000000000000> : tensor<2x4x6x6xui64>
  %new, %bits = stablehlo.rng_bit_generator %state, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<2x4x6x6xui64>)
  %below = stablehlo.compare LT, %bits, %limit, UNSIGNED : (tensor<2x4x6x6xui64>, tensor<2x4x6x6xui64>) -> tensor<2x4x6x6xi1>

  // Two elements share a counter.
  %c0 = stablehlo.constant dense<1.0> : tensor<f32>
  %p0 = call @weights(%q, %k, %c0) : (tensor<2x4x6x8xf32>, tensor<2x4x6x8xf32>, tensor<f32>) -> tensor<2x4x6x6xf32>
  %w0 = stablehlo.constant dense<3000000000> : tensor<2x4x6x6xui32>
  %x0, %g0 = stablehlo.rng_bit_generator %state, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<2x4x6x6xui32>)
  %m0 = stablehlo.compare LT, %g0, %w0, UNSIGNED : (tensor<2x4x6x6xui32>, tensor<2x4x6x6xui32>) -> tensor<2x4x6x6xi1>
  %d0 = stablehlo.select %m0, %p0, %zeros : tensor<2x4x6x6xi1>, tensor<2x4x6x6xf32>
  %o0 = call @outer(%d0, %v) : (tensor<2x4x6x6xf32>, tensor<2x4x6x8xf32>) -> tensor<2x4x6x8xf32>
  %t0 = stablehlo.add %v, %o0 : tensor<2x4x6x8xf32>

  // Philox.
  %c1 = stablehlo.constant dense<2.0> : tensor<f32>
  %p1 = call @weights(%q, %k, %c1) : (tensor<2x4x6x8xf32>, tensor<2x4x6x8xf32>, tensor<f32>) -> tensor<2x4x6x6xf32>
  %x1, %g1 = stablehlo.rng_bit_generator %state, algorithm = PHILOX : (tensor<2xui64>) -> (tensor<2xui64>, tensor<2x4x6x6xui64>)
  %m1 = stablehlo.compare LT, %g1, %limit, UNSIGNED : (tensor<2x4x6x6xui64>, tensor<2x4x6x6xui64>) -> tensor<2x4x6x6xi1>
  %d1 = stablehlo.select %m1, %p1, %zeros : tensor<2x4x6x6xi1>, tensor<2x4x6x6xf32>
  %o1 = call @outer(%d1, %v) : (tensor<2x4x6x6xf32>, tensor<2x4x6x8xf32>) -> tensor<2x4x6x8xf32>
  %t1 = stablehlo.add %t0, %o1 : tensor<2x4x6x8xf32>

  // Equal bits are no threshold.
  %c2 = stablehlo.constant dense<3.0> : tensor<f32>
  %p2 = call @weights(%q, %k, %c2) : (tensor<2x4x6x8xf32>, tensor<2x4x6x8xf32>, tensor<f32>) -> tensor<2x4x6x6xf32>
  %m2 = stablehlo.compare EQ, %bits, %limit, UNSIGNED : (tensor<2x4x6x6xui64>, tensor<2x4x6x6xui64>) -> tensor<2x4x6x6xi1>
  %d2 = stablehlo.select %m2, %p2, %zeros : tensor<2x4x6x6xi1>, tensor<2x4x6x6xf32>
  %o2 = call @outer(%d2, %v) : (tensor<2x4x6x6xf32>, tensor<2x4x6x8xf32>) -> tensor<2x4x6x8xf32>
  %t2 = stablehlo.add %t1, %o2 : tensor<2x4x6x8xf32>

  // A threshold that nothing reaches.
  %c3 = stablehlo.constant dense<4.0> : tensor<f32>
  %p3 = call @weights(%q, %k, %c3) : (tensor<2x4x6x8xf32>, tensor<2x4x6x8xf32>, tensor<f32>) -> tensor<2x4x6x6xf32>
  %w3 = stablehlo.constant dense<40> : tensor<2x4x6x6xui64>
  %l3 = stablehlo.constant dense<16777216> : tensor<2x4x6x6xui64>
  %h3 = stablehlo.shift_right_logical %bits, %w3 : tensor<2x4x6x6xui64>
  %m3 = stablehlo.compare LT, %h3, %l3, UNSIGNED : (tensor<2x4x6x6xui64>, tensor<2x4x6x6xui64>) -> tensor<2x4x6x6xi1>
  %d3 = stablehlo.select %m3, %p3, %zeros : tensor<2x4x6x6xi1>, tensor<2x4x6x6xf32>
  %o3 = call @outer(%d3, %v) : (tensor<2x4x6x6xf32>, tensor<2x4x6x8xf32>) -> tensor<2x4x6x8xf32>
  %t3 = stablehlo.add %t2, %o3 : tensor<2x4x6x8xf32>

  // The low bits do not grow with the bits.
  %c4 = stablehlo.constant dense<5.0> : tensor<f32>
  %p4 = call @weights(%q, %k, %c4) : (tensor<2x4x6x8xf32>, tensor<2x4x6x8xf32>, tensor<f32>) -> tensor<2x4x6x6xf32>
  %l4 = stablehlo.constant dense<3000000000> : tensor<2x4x6x6xui32>
  %h4 = stablehlo.convert %bits : (tensor<2x4x6x6xui64>) -> tensor<2x4x6x6xui32>
  %m4 = stablehlo.compare LT, %h4, %l4, UNSIGNED : (tensor<2x4x6x6xui32>, tensor<2x4x6x6xui32>) -> tensor<2x4x6x6xi1>
  %d4 = stablehlo.select %m4, %p4, %zeros : tensor<2x4x6x6xi1>, tensor<2x4x6x6xf32>
  %o4 = call @outer(%d4, %v) : (tensor<2x4x6x6xf32>, tensor<2x4x6x8xf32>) -> tensor<2x4x6x8xf32>
  %t4 = stablehlo.add %t3, %o4 : tensor<2x4x6x8xf32>

  // A falling function of the bits.
  %c5 = stablehlo.constant dense<6.0> : tensor<f32>
  %p5 = call @weights(%q, %k, %c5) : (tensor<2x4x6x8xf32>, tensor<2x4x6x8xf32>, tensor<f32>) -> tensor<2x4x6x6xf32>
  %l5 = stablehlo.constant dense<-5.0> : tensor<2x4x6x6xf32>
  %r5 = stablehlo.constant dense<-1.0> : tensor<2x4x6x6xf32>
  %h5 = stablehlo.convert %bits : (tensor<2x4x6x6xui64>) -> tensor<2x4x6x6xf32>
  %n5 = stablehlo.multiply %h5, %r5 : tensor<2x4x6x6xf32>
  %m5 = stablehlo.compare LT, %n5, %l5, FLOAT : (tensor<2x4x6x6xf32>, tensor<2x4x6x6xf32>) -> tensor<2x4x6x6xi1>
  %d5 = stablehlo.select %m5, %p5, %zeros : tensor<2x4x6x6xi1>, tensor<2x4x6x6xf32>
  %o5 = call @outer(%d5, %v) : (tensor<2x4x6x6xf32>, tensor<2x4x6x8xf32>) -> tensor<2x4x6x8xf32>
  %t5 = stablehlo.add %t4, %o5 : tensor<2x4x6x8xf32>

  // Only the number of the row counts, times itself.
  %c6 = stablehlo.constant dense<7.0> : tensor<f32>
  %p6 = call @weights(%q, %k, %c6) : (tensor<2x4x6x8xf32>, tensor<2x4x6x8xf32>, tensor<f32>) -> tensor<2x4x6x6xf32>
  %w6 = stablehlo.constant dense<4> : tensor<2x4x6x6xui64>
  %i6 = stablehlo.iota dim = 2 : tensor<2x4x6x6xui64>
  %j6 = stablehlo.multiply %i6, %i6 : tensor<2x4x6x6xui64>
  %m6 = stablehlo.compare LT, %j6, %w6, UNSIGNED : (tensor<2x4x6x6xui64>, tensor<2x4x6x6xui64>) -> tensor<2x4x6x6xi1>
  %d6 = stablehlo.select %m6, %p6, %zeros : tensor<2x4x6x6xi1>, tensor<2x4x6x6xf32>
  %o6 = call @outer(%d6, %v) : (tensor<2x4x6x6xf32>, tensor<2x4x6x8xf32>) -> tensor<2x4x6x8xf32>
  %t6 = stablehlo.add %t5, %o6 : tensor<2x4x6x8xf32>

  // Columns in another order than their counter.
  %c7 = stablehlo.constant dense<8.0> : tensor<f32>
  %p7 = call @weights(%q, %k, %c7) : (tensor<2x4x6x8xf32>, tensor<2x4x6x8xf32>, tensor<f32>) -> tensor<2x4x6x6xf32>
  %w7 = stablehlo.constant dense<5000000000000000000> : tensor<2x4x6x2x3xui64>
  %x7, %g7 = stablehlo.rng_bit_generator %state, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<2x4x6x2x3xui64>)
  %m7 = stablehlo.compare LT, %g7, %w7, UNSIGNED : (tensor<2x4x6x2x3xui64>, tensor<2x4x6x2x3xui64>) -> tensor<2x4x6x2x3xi1>
  %b7 = stablehlo.transpose %m7, dims = [0, 1, 2, 4, 3] : (tensor<2x4x6x2x3xi1>) -> tensor<2x4x6x3x2xi1>
  %h7 = stablehlo.reshape %b7 : (tensor<2x4x6x3x2xi1>) -> tensor<2x4x6x6xi1>
  %d7 = stablehlo.select %h7, %p7, %zeros : tensor<2x4x6x6xi1>, tensor<2x4x6x6xf32>
  %o7 = call @outer(%d7, %v) : (tensor<2x4x6x6xf32>, tensor<2x4x6x8xf32>) -> tensor<2x4x6x8xf32>
  %t7 = stablehlo.add %t6, %o7 : tensor<2x4x6x8xf32>

  // Scores that data hides by a finite number.
  %c8 = stablehlo.constant dense<9.0> : tensor<f32>
  %p8 = call @weights(%q, %k, %c8) : (tensor<2x4x6x8xf32>, tensor<2x4x6x8xf32>, tensor<f32>) -> tensor<2x4x6x6xf32>
  %b8 = stablehlo.slice %q [0:1, 0:1, 0:6, 0:6] : (tensor<2x4x6x8xf32>) -> tensor<1x1x6x6xf32>
  %g8 = stablehlo.reshape %b8 : (tensor<1x1x6x6xf32>) -> tensor<6x6xf32>
  %z8 = stablehlo.constant dense<0.0> : tensor<6x6xf32>
  %m8 = stablehlo.compare GT, %g8, %z8, FLOAT : (tensor<6x6xf32>, tensor<6x6xf32>) -> tensor<6x6xi1>
  %h8 = stablehlo.broadcast_in_dim %m8, dims = [2, 3] : (tensor<6x6xi1>) -> tensor<2x4x6x6xi1>
  %w8 = call @masked(%q, %k, %h8) : (tensor<2x4x6x8xf32>, tensor<2x4x6x8xf32>, tensor<2x4x6x6xi1>) -> tensor<2x4x6x6xf32>
  %d8 = stablehlo.select %below, %w8, %zeros : tensor<2x4x6x6xi1>, tensor<2x4x6x6xf32>
  %o8 = call @outer(%d8, %v) : (tensor<2x4x6x6xf32>, tensor<2x4x6x8xf32>) -> tensor<2x4x6x8xf32>
  %t8 = stablehlo.add %t7, %o8 : tensor<2x4x6x8xf32>

  // A negative factor.
  %c9 = stablehlo.constant dense<10.0> : tensor<f32>
  %p9 = call @weights(%q, %k, %c9) : (tensor<2x4x6x8xf32>, tensor<2x4x6x8xf32>, tensor<f32>) -> tensor<2x4x6x6xf32>
  %r9 = stablehlo.constant dense<-1.0> : tensor<2x4x6x6xf32>
  %n9 = stablehlo.multiply %p9, %r9 : tensor<2x4x6x6xf32>
  %d9 = stablehlo.select %below, %n9, %zeros : tensor<2x4x6x6xi1>, tensor<2x4x6x6xf32>
  %o9 = call @outer(%d9, %v) : (tensor<2x4x6x6xf32>, tensor<2x4x6x8xf32>) -> tensor<2x4x6x8xf32>
  %t9 = stablehlo.add %t8, %o9 : tensor<2x4x6x8xf32>
  return %t9 : tensor<2x4x6x8xf32>
}
func.func private @weights(%q: tensor<2x4x6x8xf32>, %k: tensor<2x4x6x8xf32>, %scale: tensor<f32>) -> tensor<2x4x6x6xf32> {
  %s = stablehlo.dot_general %q, %k, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3] : (tensor<2x4x6x8xf32>, tensor<2x4x6x8xf32>) -> tensor<2x4x6x6xf32>
  %f = stablehlo.broadcast_in_dim %scale, dims = [] : (tensor<f32>) -> tensor<2x4x6x6xf32>
  %x = stablehlo.multiply %s, %f : tensor<2x4x6x6xf32>
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %max = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [3] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6xf32>
  %maxs = stablehlo.broadcast_in_dim %max, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x6xf32>
  %y = stablehlo.subtract %x, %maxs : tensor<2x4x6x6xf32>
  %e = stablehlo.exponential %y : tensor<2x4x6x6xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %sum = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [3] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6xf32>
  %sums = stablehlo.broadcast_in_dim %sum, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x6xf32>
  %p = stablehlo.divide %e, %sums : tensor<2x4x6x6xf32>
  return %p : tensor<2x4x6x6xf32>
}
func.func private @masked(%q: tensor<2x4x6x8xf32>, %k: tensor<2x4x6x8xf32>, %mask: tensor<2x4x6x6xi1>) -> tensor<2x4x6x6xf32> {
  %s = stablehlo.dot_general %q, %k, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3] : (tensor<2x4x6x8xf32>, tensor<2x4x6x8xf32>) -> tensor<2x4x6x6xf32>
  %f = stablehlo.constant dense<-1.0e+30> : tensor<2x4x6x6xf32>
  %x = stablehlo.select %mask, %s, %f : tensor<2x4x6x6xi1>, tensor<2x4x6x6xf32>
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %max = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [3] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6xf32>
  %maxs = stablehlo.broadcast_in_dim %max, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x6xf32>
  %y = stablehlo.subtract %x, %maxs : tensor<2x4x6x6xf32>
  %e = stablehlo.exponential %y : tensor<2x4x6x6xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %sum = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [3] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6xf32>
  %sums = stablehlo.broadcast_in_dim %sum, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x6xf32>
  %p = stablehlo.divide %e, %sums : tensor<2x4x6x6xf32>
  return %p : tensor<2x4x6x6xf32>
}
func.func private @outer(%p: tensor<2x4x6x6xf32>, %v: tensor<2x4x6x8xf32>) -> tensor<2x4x6x8xf32> {
  %o = stablehlo.dot_general %p, %v, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<2x4x6x6xf32>, tensor<2x4x6x8xf32>) -> tensor<2x4x6x8xf32>
  return %o : tensor<2x4x6x8xf32>
}
