func.func @axpy(%x: tensor<8x1024xf32>, %y: tensor<8x1024xf32>) -> tensor<8x1024xf32> {
  %0 = stablehlo.multiply %x, %y : tensor<8x1024xf32>
  %1 = stablehlo.add %0, %y : tensor<8x1024xf32>
  %2 = stablehlo.sqrt %1 : tensor<8x1024xf32>
  return %2 : tensor<8x1024xf32>
}
