// Each function in f32 and in f64, of another shape each, so that each is a kernel.
func.func @f(
    %x0: tensor<256xf32>, %x1: tensor<260xf32>, %x2: tensor<264xf32>, %x3: tensor<268xf32>,
    %x4: tensor<272xf32>, %x5: tensor<276xf32>, %x6: tensor<280xf32>, %y6: tensor<280xf32>,
    %x7: tensor<284xf32>, %x8: tensor<288xf32>, %x9: tensor<292xf32>, %x10: tensor<296xf32>,
    %x11: tensor<300xf32>, %x12: tensor<304xf32>, %x13: tensor<308xf32>, %x14: tensor<312xf32>,
    %x15: tensor<316xf32>, %x16: tensor<320xf32>, %x17: tensor<324xf32>, %x18: tensor<328xf32>,
    %x19: tensor<332xf32>, %x20: tensor<336xf32>, %y20: tensor<336xf32>, %x21: tensor<340xf32>,
    %y21: tensor<340xf32>, %x22: tensor<344xf64>, %x23: tensor<348xf64>, %x24: tensor<352xf64>,
    %x25: tensor<356xf64>, %x26: tensor<360xf64>, %x27: tensor<364xf64>, %x28: tensor<368xf64>,
    %y28: tensor<368xf64>, %x29: tensor<372xf64>, %x30: tensor<376xf64>, %x31: tensor<380xf64>,
    %x32: tensor<384xf64>, %x33: tensor<388xf64>, %x34: tensor<392xf64>, %x35: tensor<396xf64>,
    %x36: tensor<400xf64>, %x37: tensor<404xf64>, %x38: tensor<408xf64>, %x39: tensor<412xf64>,
    %x40: tensor<416xf64>, %x41: tensor<420xf64>, %x42: tensor<424xf64>, %y42: tensor<424xf64>,
    %x43: tensor<428xf64>, %y43: tensor<428xf64>) -> (
    tensor<256xf32>, tensor<260xf32>, tensor<264xf32>, tensor<268xf32>, tensor<272xf32>, tensor<276xf32>,
    tensor<280xf32>, tensor<284xf32>, tensor<288xf32>, tensor<292xf32>, tensor<296xf32>, tensor<300xf32>,
    tensor<304xf32>, tensor<308xf32>, tensor<312xf32>, tensor<316xf32>, tensor<320xf32>, tensor<324xf32>,
    tensor<328xf32>, tensor<332xf32>, tensor<336xf32>, tensor<340xf32>, tensor<344xf64>, tensor<348xf64>,
    tensor<352xf64>, tensor<356xf64>, tensor<360xf64>, tensor<364xf64>, tensor<368xf64>, tensor<372xf64>,
    tensor<376xf64>, tensor<380xf64>, tensor<384xf64>, tensor<388xf64>, tensor<392xf64>, tensor<396xf64>,
    tensor<400xf64>, tensor<404xf64>, tensor<408xf64>, tensor<412xf64>, tensor<416xf64>, tensor<420xf64>,
    tensor<424xf64>, tensor<428xf64>) {
  %0 = stablehlo.sine %x0 : tensor<256xf32>
  %1 = stablehlo.cosine %x1 : tensor<260xf32>
  %2 = stablehlo.tan %x2 : tensor<264xf32>
  %3 = chlo.asin %x3 : tensor<268xf32> -> tensor<268xf32>
  %4 = chlo.acos %x4 : tensor<272xf32> -> tensor<272xf32>
  %5 = chlo.atan %x5 : tensor<276xf32> -> tensor<276xf32>
  %6 = stablehlo.atan2 %x6, %y6 : tensor<280xf32>
  %7 = chlo.sinh %x7 : tensor<284xf32> -> tensor<284xf32>
  %8 = chlo.cosh %x8 : tensor<288xf32> -> tensor<288xf32>
  %9 = stablehlo.tanh %x9 : tensor<292xf32>
  %10 = chlo.asinh %x10 : tensor<296xf32> -> tensor<296xf32>
  %11 = chlo.acosh %x11 : tensor<300xf32> -> tensor<300xf32>
  %12 = chlo.atanh %x12 : tensor<304xf32> -> tensor<304xf32>
  %13 = stablehlo.exponential %x13 : tensor<308xf32>
  %14 = stablehlo.exponential_minus_one %x14 : tensor<312xf32>
  %15 = stablehlo.log %x15 : tensor<316xf32>
  %16 = stablehlo.log_plus_one %x16 : tensor<320xf32>
  %17 = stablehlo.cbrt %x17 : tensor<324xf32>
  %18 = chlo.erf %x18 : tensor<328xf32> -> tensor<328xf32>
  %19 = chlo.erfc %x19 : tensor<332xf32> -> tensor<332xf32>
  %20 = stablehlo.power %x20, %y20 : tensor<336xf32>
  %21 = stablehlo.remainder %x21, %y21 : tensor<340xf32>
  %22 = stablehlo.sine %x22 : tensor<344xf64>
  %23 = stablehlo.cosine %x23 : tensor<348xf64>
  %24 = stablehlo.tan %x24 : tensor<352xf64>
  %25 = chlo.asin %x25 : tensor<356xf64> -> tensor<356xf64>
  %26 = chlo.acos %x26 : tensor<360xf64> -> tensor<360xf64>
  %27 = chlo.atan %x27 : tensor<364xf64> -> tensor<364xf64>
  %28 = stablehlo.atan2 %x28, %y28 : tensor<368xf64>
  %29 = chlo.sinh %x29 : tensor<372xf64> -> tensor<372xf64>
  %30 = chlo.cosh %x30 : tensor<376xf64> -> tensor<376xf64>
  %31 = stablehlo.tanh %x31 : tensor<380xf64>
  %32 = chlo.asinh %x32 : tensor<384xf64> -> tensor<384xf64>
  %33 = chlo.acosh %x33 : tensor<388xf64> -> tensor<388xf64>
  %34 = chlo.atanh %x34 : tensor<392xf64> -> tensor<392xf64>
  %35 = stablehlo.exponential %x35 : tensor<396xf64>
  %36 = stablehlo.exponential_minus_one %x36 : tensor<400xf64>
  %37 = stablehlo.log %x37 : tensor<404xf64>
  %38 = stablehlo.log_plus_one %x38 : tensor<408xf64>
  %39 = stablehlo.cbrt %x39 : tensor<412xf64>
  %40 = chlo.erf %x40 : tensor<416xf64> -> tensor<416xf64>
  %41 = chlo.erfc %x41 : tensor<420xf64> -> tensor<420xf64>
  %42 = stablehlo.power %x42, %y42 : tensor<424xf64>
  %43 = stablehlo.remainder %x43, %y43 : tensor<428xf64>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21,
    %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41,
    %42, %43 :
    tensor<256xf32>, tensor<260xf32>, tensor<264xf32>, tensor<268xf32>, tensor<272xf32>, tensor<276xf32>,
    tensor<280xf32>, tensor<284xf32>, tensor<288xf32>, tensor<292xf32>, tensor<296xf32>, tensor<300xf32>,
    tensor<304xf32>, tensor<308xf32>, tensor<312xf32>, tensor<316xf32>, tensor<320xf32>, tensor<324xf32>,
    tensor<328xf32>, tensor<332xf32>, tensor<336xf32>, tensor<340xf32>, tensor<344xf64>, tensor<348xf64>,
    tensor<352xf64>, tensor<356xf64>, tensor<360xf64>, tensor<364xf64>, tensor<368xf64>, tensor<372xf64>,
    tensor<376xf64>, tensor<380xf64>, tensor<384xf64>, tensor<388xf64>, tensor<392xf64>, tensor<396xf64>,
    tensor<400xf64>, tensor<404xf64>, tensor<408xf64>, tensor<412xf64>, tensor<416xf64>, tensor<420xf64>,
    tensor<424xf64>, tensor<428xf64>
}
