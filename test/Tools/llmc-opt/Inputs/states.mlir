dist.state @w : tensor<4x6xf32> {role = parameter, source = #dist.draw<zeros>}
dist.state @b : tensor<7xf32> {role = parameter, source = #dist.draw<zeros>}
