// What is said of a complex value is said of both its parts: shardings of arguments and results, constraints, groups,
// manual regions and what devices of one send.
// RUN: split-file %s %t
// DEFINE: %{import} = llmc compile --compile-to=import -o - --set data.inputs.x=0 --mesh data=2
// RUN: %{import} %t/shardings.mlir | FileCheck %s --check-prefix=SHARDINGS --implicit-check-not="complex<"
// RUN: %{import} %t/manual.mlir | FileCheck %s --check-prefix=MANUAL --implicit-check-not="complex<"
// RUN: not %{import} %t/product.mlir 2>&1 | FileCheck %s --check-prefix=PRODUCT

// SHARDINGS: #[[WHOLE:.*]] = #dist.layout<@mesh, [{}, {"data"}]>
// SHARDINGS: #[[ROWS:.*]] = #dist.layout<@mesh, [{"data"}, {}]>
// SHARDINGS: #dist.port<input "x.real", data = <"data">, layout = #[[ROWS]]>
// SHARDINGS-SAME: #dist.port<input "x.imag", data = <"data">, layout = #[[ROWS]]>
// SHARDINGS: %[[REAL:.*]] = dist.constraint %{{.*}} to #[[WHOLE]]
// SHARDINGS: dist.constraint %[[REAL]] to #{{.*}} {dist.group = 0 : i64}
// SHARDINGS: %[[IMAG:.*]] = dist.constraint %{{.*}} to #[[WHOLE]]
// SHARDINGS: dist.constraint %[[IMAG]] to #{{.*}} {dist.group = 0 : i64}
// SHARDINGS: return

// MANUAL: #dist.port<input "x.real"
// MANUAL-COUNT-2: stablehlo.reduce
// MANUAL: return

// PRODUCT: error[unsupported]: {{.*}}expected a sum of complex numbers over devices, got another reduction (gather the numbers, and reduce them by hand){{$}}

//--- shardings.mlir
sdy.mesh @mesh = <["data"=2]>
func.func public @main(%x: tensor<4x2xcomplex<f32>> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>} loc("x"))
    -> (tensor<4x2xcomplex<f32>> {jax.result_info = "result", sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}) {
  %0 = stablehlo.add %x, %x : tensor<4x2xcomplex<f32>>
  %1 = sdy.sharding_constraint %0 <@mesh, [{}, {"data"}]> : tensor<4x2xcomplex<f32>>
  sdy.sharding_group %1 group_id=0 : tensor<4x2xcomplex<f32>>
  return %1 : tensor<4x2xcomplex<f32>>
}

//--- manual.mlir
sdy.mesh @mesh = <["data"=2]>
func.func public @main(%x: tensor<4x2xcomplex<f32>> loc("x")) -> (tensor<2x2xcomplex<f32>> {jax.result_info = "result"}) {
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"data"}, {}]>] out_shardings=[<@mesh, [{}, {}]>] manual_axes={"data"} (%a: tensor<2x2xcomplex<f32>>) {
    %1 = "stablehlo.all_reduce"(%a) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids}> ({
    ^bb0(%b: tensor<complex<f32>>, %c: tensor<complex<f32>>):
      %2 = stablehlo.add %b, %c : tensor<complex<f32>>
      stablehlo.return %2 : tensor<complex<f32>>
    }) : (tensor<2x2xcomplex<f32>>) -> tensor<2x2xcomplex<f32>>
    sdy.return %1 : tensor<2x2xcomplex<f32>>
  } : (tensor<4x2xcomplex<f32>>) -> tensor<2x2xcomplex<f32>>
  return %0 : tensor<2x2xcomplex<f32>>
}

//--- product.mlir
sdy.mesh @mesh = <["data"=2]>
func.func public @main(%x: tensor<4x2xcomplex<f32>> loc("x")) -> (tensor<2x2xcomplex<f32>> {jax.result_info = "result"}) {
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"data"}, {}]>] out_shardings=[<@mesh, [{}, {}]>] manual_axes={"data"} (%a: tensor<2x2xcomplex<f32>>) {
    %1 = "stablehlo.all_reduce"(%a) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids}> ({
    ^bb0(%b: tensor<complex<f32>>, %c: tensor<complex<f32>>):
      %2 = stablehlo.multiply %b, %c : tensor<complex<f32>>
      stablehlo.return %2 : tensor<complex<f32>>
    }) : (tensor<2x2xcomplex<f32>>) -> tensor<2x2xcomplex<f32>>
    sdy.return %1 : tensor<2x2xcomplex<f32>>
  } : (tensor<4x2xcomplex<f32>>) -> tensor<2x2xcomplex<f32>>
  return %0 : tensor<2x2xcomplex<f32>>
}
