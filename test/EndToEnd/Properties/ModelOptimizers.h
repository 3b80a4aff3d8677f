//===- ModelOptimizers.h - Optimizers of random models ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Optimizers as import leaves them: functions on one element.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TEST_ENDTOEND_PROPERTIES_MODELOPTIMIZERS_H
#define LLMC_TEST_ENDTOEND_PROPERTIES_MODELOPTIMIZERS_H

namespace llmc::test {

constexpr const char *kSgd = R"(
func.func private @optimizer.sgd(
    %p: tensor<1xf64> {dist.port = #dist.port<parameter>}, %g: tensor<1xf64> {dist.port = #dist.port<gradient>},
    %lr: tensor<f64> {dist.port = #dist.port<hyper @lr>}) -> (tensor<1xf64> {dist.port = #dist.port<parameter>}) {
  %rate = stablehlo.broadcast_in_dim %lr, dims = [] : (tensor<f64>) -> tensor<1xf64>
  %0 = stablehlo.multiply %rate, %g : tensor<1xf64>
  %1 = stablehlo.subtract %p, %0 : tensor<1xf64>
  return %1 : tensor<1xf64>
}
)";
constexpr const char *kMomentum = R"(
func.func private @optimizer.momentum(
    %p: tensor<1xf64> {dist.port = #dist.port<parameter>}, %g: tensor<1xf64> {dist.port = #dist.port<gradient>},
    %v: tensor<1xf64> {dist.port = #dist.port<moment "v">}, %lr: tensor<f64> {dist.port = #dist.port<hyper @lr>})
    -> (tensor<1xf64> {dist.port = #dist.port<parameter>}, tensor<1xf64> {dist.port = #dist.port<moment "v">}) {
  %c = stablehlo.constant dense<0.5> : tensor<1xf64>
  %rate = stablehlo.broadcast_in_dim %lr, dims = [] : (tensor<f64>) -> tensor<1xf64>
  %0 = stablehlo.multiply %c, %v : tensor<1xf64>
  %1 = stablehlo.add %0, %g : tensor<1xf64>
  %2 = stablehlo.multiply %rate, %1 : tensor<1xf64>
  %3 = stablehlo.subtract %p, %2 : tensor<1xf64>
  return %3, %1 : tensor<1xf64>, tensor<1xf64>
}
)";
// Epsilon is large: a small gradient's sign must not decide.
constexpr const char *kAdam = R"(
func.func private @optimizer.adam(
    %p: tensor<1xf64> {dist.port = #dist.port<parameter>}, %g: tensor<1xf64> {dist.port = #dist.port<gradient>},
    %m: tensor<1xf64> {dist.port = #dist.port<moment "m">}, %v: tensor<1xf64> {dist.port = #dist.port<moment "v">}, %lr: tensor<f64> {dist.port = #dist.port<hyper @lr>})
    -> (tensor<1xf64> {dist.port = #dist.port<parameter>}, tensor<1xf64> {dist.port = #dist.port<moment "m">}, tensor<1xf64> {dist.port = #dist.port<moment "v">}) {
  %b = stablehlo.constant dense<0.75> : tensor<1xf64>
  %r = stablehlo.constant dense<0.25> : tensor<1xf64>
  %eps = stablehlo.constant dense<0.1> : tensor<1xf64>
  %rate = stablehlo.broadcast_in_dim %lr, dims = [] : (tensor<f64>) -> tensor<1xf64>
  %0 = stablehlo.multiply %b, %m : tensor<1xf64>
  %1 = stablehlo.multiply %r, %g : tensor<1xf64>
  %m2 = stablehlo.add %0, %1 : tensor<1xf64>
  %2 = stablehlo.multiply %g, %g : tensor<1xf64>
  %3 = stablehlo.multiply %b, %v : tensor<1xf64>
  %4 = stablehlo.multiply %r, %2 : tensor<1xf64>
  %v2 = stablehlo.add %3, %4 : tensor<1xf64>
  %5 = stablehlo.add %v2, %eps : tensor<1xf64>
  %root = stablehlo.sqrt %5 : tensor<1xf64>
  %6 = stablehlo.divide %m2, %root : tensor<1xf64>
  %7 = stablehlo.multiply %rate, %6 : tensor<1xf64>
  %p2 = stablehlo.subtract %p, %7 : tensor<1xf64>
  return %p2, %m2, %v2 : tensor<1xf64>, tensor<1xf64>, tensor<1xf64>
}
)";

} // namespace llmc::test

#endif // LLMC_TEST_ENDTOEND_PROPERTIES_MODELOPTIMIZERS_H
