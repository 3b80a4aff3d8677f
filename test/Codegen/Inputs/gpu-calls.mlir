// Calls that become kernels on GPUs: convolutions of residual networks and their
// gradients, narrow and wide elements, orders, products of groups, attention. Read by
// scripts/gpu_kernels.py and ptx.test.
module {
dist.execution seed(1) threads(1) target("cuda:sm_90")
func.func @strided(%x: tensor<64x56x56x128xf32>, %w: tensor<3x3x128x128xf32>) -> tensor<64x28x28x128xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 2], pad = [[0, 1], [0, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<64x56x56x128xf32>, tensor<3x3x128x128xf32>) -> tensor<64x28x28x128xf32>
  return %0 : tensor<64x28x28x128xf32>
}
func.func @kernel_gradient(%x: tensor<64x56x56x128xf32>, %w: tensor<64x28x28x128xf32>) -> tensor<3x3x128x128xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {pad = [[0, 1], [0, 1]], rhs_dilate = [2, 2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<64x56x56x128xf32>, tensor<64x28x28x128xf32>) -> tensor<3x3x128x128xf32>
  return %0 : tensor<3x3x128x128xf32>
}
func.func @input_gradient(%x: tensor<64x28x28x128xf32>, %w: tensor<3x3x128x128xf32>) -> tensor<64x56x56x128xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, o, i]->[b, 0, 1, f], window = {pad = [[2, 1], [2, 1]], lhs_dilate = [2, 2], reverse = [true, true]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<64x28x28x128xf32>, tensor<3x3x128x128xf32>) -> tensor<64x56x56x128xf32>
  return %0 : tensor<64x56x56x128xf32>
}
func.func @first(%x: tensor<64x3x224x224xf32>, %w: tensor<64x3x7x7xf32>) -> tensor<64x64x112x112xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {stride = [2, 2], pad = [[3, 3], [3, 3]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<64x3x224x224xf32>, tensor<64x3x7x7xf32>) -> tensor<64x64x112x112xf32>
  return %0 : tensor<64x64x112x112xf32>
}
func.func @narrow(%x: tensor<64x56x56x64xbf16>, %w: tensor<3x3x64x64xbf16>) -> tensor<64x56x56x64xbf16> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<64x56x56x64xbf16>, tensor<3x3x64x64xbf16>) -> tensor<64x56x56x64xbf16>
  return %0 : tensor<64x56x56x64xbf16>
}
func.func @wide(%x: tensor<8x14x14x64xf64>, %w: tensor<3x3x64x64xf64>) -> tensor<8x14x14x64xf64> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<8x14x14x64xf64>, tensor<3x3x64x64xf64>) -> tensor<8x14x14x64xf64>
  return %0 : tensor<8x14x14x64xf64>
}
func.func @depth(%x: tensor<8x28x28x96xf32>, %w: tensor<3x3x1x96xf32>) -> tensor<8x28x28x96xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 96 : i64} : (tensor<8x28x28x96xf32>, tensor<3x3x1x96xf32>) -> tensor<8x28x28x96xf32>
  return %0 : tensor<8x28x28x96xf32>
}
func.func @plain(%x: tensor<8x28x28x96xf32>, %w: tensor<1x1x96x24xf32>) -> tensor<8x28x28x24xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<8x28x28x96xf32>, tensor<1x1x96x24xf32>) -> tensor<8x28x28x24xf32>
  return %0 : tensor<8x28x28x24xf32>
}
func.func @order_short(%k0: tensor<64x8xf32>) -> tensor<64x2xi32> {
  %p = nn.argsort %k0 dim 1 descending [true] : (tensor<64x8xf32>) -> tensor<64x2xi32>
  return %p : tensor<64x2xi32>
}
func.func @order_block(%k0: tensor<64x1000xbf16>) -> tensor<64x1000xi32> {
  %p = nn.argsort %k0 dim 1 descending [false] : (tensor<64x1000xbf16>) -> tensor<64x1000xi32>
  return %p : tensor<64x1000xi32>
}
func.func @order_long(%k0: tensor<64x50257xf32>) -> tensor<64x40xi32> {
  %p = nn.argsort %k0 dim 1 descending [true] : (tensor<64x50257xf32>) -> tensor<64x40xi32>
  return %p : tensor<64x40xi32>
}
func.func @order_keys(%k0: tensor<64x5000xf64>, %k1: tensor<64x5000xi32>) -> tensor<64x5000xi32> {
  %p = nn.argsort %k0, %k1 dim 1 descending [false, true] : (tensor<64x5000xf64>, tensor<64x5000xi32>) -> tensor<64x5000xi32>
  return %p : tensor<64x5000xi32>
}
func.func @groups(%x: tensor<4096x768xf32>, %w: tensor<8x768x3072xf32>, %s: tensor<8xi32>, %f: tensor<i32>) -> (tensor<4096x3072xf32>, tensor<8x768x3072xf32>) {
  %y = nn.grouped_dot %x, %w, %s batch [] x [] contracting [1] x [1] rows 0 groups 0 : (tensor<4096x768xf32>, tensor<8x768x3072xf32>, tensor<8xi32>) -> tensor<4096x3072xf32>
  %g = nn.grouped_dot %x, %y, %s first %f batch [] x [] contracting [0] x [0] rows 0 : (tensor<4096x768xf32>, tensor<4096x3072xf32>, tensor<8xi32>, tensor<i32>) -> tensor<8x768x3072xf32>
  return %y, %g : tensor<4096x3072xf32>, tensor<8x768x3072xf32>
}
func.func @attention(%q: tensor<16x12x1024x64xbf16>, %k: tensor<16x12x1024x64xbf16>, %v: tensor<16x12x1024x64xbf16>, %d: tensor<16x12x1024xf32>, %g: tensor<16x12x1024x64xbf16>) -> (tensor<16x12x1024x64xbf16>, tensor<16x12x1024x64xbf16>, tensor<16x12x1024x64xbf16>, tensor<16x12x1024x64xbf16>) {
  %y, %l = nn.attention %q, %k, %v scale 1.250000e-01 causal 0 : (tensor<16x12x1024x64xbf16>, tensor<16x12x1024x64xbf16>, tensor<16x12x1024x64xbf16>) -> (tensor<16x12x1024x64xbf16>, tensor<16x12x1024xf32>)
  %x:3 = nn.attention_grad %q, %k, %v, %l, %d, %g scale 1.250000e-01 causal 0 : (tensor<16x12x1024x64xbf16>, tensor<16x12x1024x64xbf16>, tensor<16x12x1024x64xbf16>, tensor<16x12x1024xf32>, tensor<16x12x1024xf32>, tensor<16x12x1024x64xbf16>) -> (tensor<16x12x1024x64xbf16>, tensor<16x12x1024x64xbf16>, tensor<16x12x1024x64xbf16>)
  return %y, %x#0, %x#1, %x#2 : tensor<16x12x1024x64xbf16>, tensor<16x12x1024x64xbf16>, tensor<16x12x1024x64xbf16>, tensor<16x12x1024x64xbf16>
}
func.func @attention_groups(%q: tensor<4x8x4x2048x128xf32>, %k: tensor<4x8x2048x128xf32>, %v: tensor<4x8x2048x128xf32>, %d: tensor<4x8x4x2048xf32>, %g: tensor<4x8x4x2048x128xf32>) -> (tensor<4x8x4x2048x128xf32>, tensor<4x8x4x2048x128xf32>, tensor<4x8x2048x128xf32>, tensor<4x8x2048x128xf32>) {
  %y, %l = nn.attention %q, %k, %v scale 1.250000e-01 causal 0 : (tensor<4x8x4x2048x128xf32>, tensor<4x8x2048x128xf32>, tensor<4x8x2048x128xf32>) -> (tensor<4x8x4x2048x128xf32>, tensor<4x8x4x2048xf32>)
  %x:3 = nn.attention_grad %q, %k, %v, %l, %d, %g scale 1.250000e-01 causal 0 : (tensor<4x8x4x2048x128xf32>, tensor<4x8x2048x128xf32>, tensor<4x8x2048x128xf32>, tensor<4x8x4x2048xf32>, tensor<4x8x4x2048xf32>, tensor<4x8x4x2048x128xf32>) -> (tensor<4x8x4x2048x128xf32>, tensor<4x8x2048x128xf32>, tensor<4x8x2048x128xf32>)
  return %y, %x#0, %x#1, %x#2 : tensor<4x8x4x2048x128xf32>, tensor<4x8x4x2048x128xf32>, tensor<4x8x2048x128xf32>, tensor<4x8x2048x128xf32>
}
func.func @attention_dropped(%q: tensor<8x12x512x64xf32>, %k: tensor<8x12x512x64xf32>, %v: tensor<8x12x512x64xf32>, %b: tensor<8x1x1x512xf32>, %s: tensor<2xui64>, %d: tensor<8x12x512xf32>, %g: tensor<8x12x512x64xf32>) -> (tensor<8x12x512x64xf32>, tensor<8x12x512x64xf32>, tensor<8x12x512x64xf32>, tensor<8x12x512x64xf32>) {
  %y, %l = nn.attention %q, %k, %v bias %b dropout %s strides [3145728, 262144, 512, 1] <jax32 below 3865470566 factor 1.111111e+00> scale 1.250000e-01  : (tensor<8x12x512x64xf32>, tensor<8x12x512x64xf32>, tensor<8x12x512x64xf32>, tensor<8x1x1x512xf32>, tensor<2xui64>) -> (tensor<8x12x512x64xf32>, tensor<8x12x512xf32>)
  %x:3 = nn.attention_grad %q, %k, %v, %l, %d, %g bias %b dropout %s strides [3145728, 262144, 512, 1] <jax32 below 3865470566 factor 1.111111e+00> scale 1.250000e-01  : (tensor<8x12x512x64xf32>, tensor<8x12x512x64xf32>, tensor<8x12x512x64xf32>, tensor<8x12x512xf32>, tensor<8x12x512xf32>, tensor<8x12x512x64xf32>, tensor<8x1x1x512xf32>, tensor<2xui64>) -> (tensor<8x12x512x64xf32>, tensor<8x12x512x64xf32>, tensor<8x12x512x64xf32>)
  return %y, %x#0, %x#1, %x#2 : tensor<8x12x512x64xf32>, tensor<8x12x512x64xf32>, tensor<8x12x512x64xf32>, tensor<8x12x512x64xf32>
}
func.func @attention_groups_narrow(%q: tensor<4x8x4x2048x128xbf16>, %k: tensor<4x8x2048x128xbf16>, %v: tensor<4x8x2048x128xbf16>, %d: tensor<4x8x4x2048xf32>, %g: tensor<4x8x4x2048x128xbf16>) -> (tensor<4x8x4x2048x128xbf16>, tensor<4x8x4x2048x128xbf16>, tensor<4x8x2048x128xbf16>, tensor<4x8x2048x128xbf16>) {
  %y, %l = nn.attention %q, %k, %v scale 1.250000e-01 causal 0 : (tensor<4x8x4x2048x128xbf16>, tensor<4x8x2048x128xbf16>, tensor<4x8x2048x128xbf16>) -> (tensor<4x8x4x2048x128xbf16>, tensor<4x8x4x2048xf32>)
  %x:3 = nn.attention_grad %q, %k, %v, %l, %d, %g scale 1.250000e-01 causal 0 : (tensor<4x8x4x2048x128xbf16>, tensor<4x8x2048x128xbf16>, tensor<4x8x2048x128xbf16>, tensor<4x8x4x2048xf32>, tensor<4x8x4x2048xf32>, tensor<4x8x4x2048x128xbf16>) -> (tensor<4x8x4x2048x128xbf16>, tensor<4x8x2048x128xbf16>, tensor<4x8x2048x128xbf16>)
  return %y, %x#0, %x#1, %x#2 : tensor<4x8x4x2048x128xbf16>, tensor<4x8x4x2048x128xbf16>, tensor<4x8x2048x128xbf16>, tensor<4x8x2048x128xbf16>
}
func.func @attention_dropped_narrow(%q: tensor<8x12x512x64xf16>, %k: tensor<8x12x512x64xf16>, %v: tensor<8x12x512x64xf16>, %b: tensor<8x1x1x512xf32>, %s: tensor<2xui64>, %d: tensor<8x12x512xf32>, %g: tensor<8x12x512x64xf16>) -> (tensor<8x12x512x64xf16>, tensor<8x12x512x64xf16>, tensor<8x12x512x64xf16>, tensor<8x12x512x64xf16>) {
  %y, %l = nn.attention %q, %k, %v bias %b dropout %s strides [3145728, 262144, 512, 1] <jax32 below 3865470566 factor 1.111111e+00> scale 1.250000e-01  : (tensor<8x12x512x64xf16>, tensor<8x12x512x64xf16>, tensor<8x12x512x64xf16>, tensor<8x1x1x512xf32>, tensor<2xui64>) -> (tensor<8x12x512x64xf16>, tensor<8x12x512xf32>)
  %x:3 = nn.attention_grad %q, %k, %v, %l, %d, %g bias %b dropout %s strides [3145728, 262144, 512, 1] <jax32 below 3865470566 factor 1.111111e+00> scale 1.250000e-01  : (tensor<8x12x512x64xf16>, tensor<8x12x512x64xf16>, tensor<8x12x512x64xf16>, tensor<8x12x512xf32>, tensor<8x12x512xf32>, tensor<8x12x512x64xf16>, tensor<8x1x1x512xf32>, tensor<2xui64>) -> (tensor<8x12x512x64xf16>, tensor<8x12x512x64xf16>, tensor<8x12x512x64xf16>)
  return %y, %x#0, %x#1, %x#2 : tensor<8x12x512x64xf16>, tensor<8x12x512x64xf16>, tensor<8x12x512x64xf16>, tensor<8x12x512x64xf16>
}
}
