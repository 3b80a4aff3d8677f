// RUN: printf '[data]\ninputs = {x = 0, labels = 1}\n[loss]\nkind = "mse"\noutput = "result0"\n[training]\ndrop = ["result0", "result1"]\n[[init]]\nmatch = "*"\ndraw = "zeros"\n' > %t.toml
// RUN: llmc compile %s --config %t.toml --compile-to=import -o - | FileCheck %s

// A loss that the configuration adds comes first, with an input of its own; what
// the text says of its results stays with them.
// CHECK-DAG: #[[BOTH:.*]] = #dist.layout<@mesh, [{"data"}, {"tensor"}]>
// CHECK-DAG: #[[TENSOR:.*]] = #dist.layout<@mesh, [{}, {"tensor"}]>
// CHECK: %[[Y:.*]] = stablehlo.dot_general
// CHECK: %[[Z:.*]] = stablehlo.tanh %[[Y]]
// CHECK: %[[LOSS:.*]] = stablehlo.divide
// CHECK-DAG: %[[FIRST:.*]] = dist.constraint %[[Y]] to #[[BOTH]]
// CHECK-DAG: %[[SECOND:.*]] = dist.constraint %[[Z]] to #[[TENSOR]]
// CHECK: return %[[LOSS]], %[[FIRST]], %[[SECOND]]
sdy.mesh @m = <["data"=2, "tensor"=2]>
func.func public @main(%w: tensor<4x6xf32> loc("params['w']"), %x: tensor<8x4xf32> loc("x"))
    -> (tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@m, [{"data"}, {"tensor"}]>},
        tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {"tensor"}]>}) {
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  %z = stablehlo.tanh %y : tensor<8x6xf32>
  return %y, %z : tensor<8x6xf32>, tensor<8x6xf32>
}
