// f32 has no atan2 of its own, and no library is there.
func.func @f(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.atan2 %x, %y : tensor<8xf32>
  return %0 : tensor<8xf32>
}
