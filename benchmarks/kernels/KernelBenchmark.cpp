//===- KernelBenchmark.cpp - Kernels against the memory's bandwidth -------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One thread; bytes are those of all operands and results, each once. "copy" is
// the machine's own rate, with which the others are to be compared. The shapes
// are those of a GPT with d 384, T 256, batch 8 and 8192 classes.
//
//   ninja KernelBenchmark && build/dev/bin/KernelBenchmark
//
//===----------------------------------------------------------------------===//

#include "KernelRunner.h"
#include <algorithm>
#include <benchmark/benchmark.h>
#include <cstring>
#include <string>

using namespace llmc::test;

namespace {

void runKernels(benchmark::State &state, const char *text) {
  KernelRunner runner(text);
  if (!runner.run()) {
    state.SkipWithError(runner.takeMessages().c_str());
    return;
  }
  for (auto _ : state)
    runner.repeat();
  state.SetBytesProcessed(state.iterations() * runner.getBytes());
}

void copy(benchmark::State &state) {
  std::vector<float> from(2048 * 1536, 1.0f), to(from.size());
  for (auto _ : state) {
    std::memcpy(to.data(), from.data(), from.size() * sizeof(float));
    benchmark::DoNotOptimize(to.data());
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * from.size() * sizeof(float) * 2);
}

const char *const layerNorm = R"(
func.func @f(%x: tensor<2048x384xf32>, %g: tensor<384xf32>, %b: tensor<384xf32>) -> tensor<2048x384xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %n = stablehlo.constant dense<384.0> : tensor<2048xf32>
  %e = stablehlo.constant dense<1.0e-5> : tensor<2048xf32>
  %0 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [1] : (tensor<2048x384xf32>, tensor<f32>) -> tensor<2048xf32>
  %1 = stablehlo.divide %0, %n : tensor<2048xf32>
  %2 = stablehlo.broadcast_in_dim %1, dims = [0] : (tensor<2048xf32>) -> tensor<2048x384xf32>
  %3 = stablehlo.subtract %x, %2 : tensor<2048x384xf32>
  %4 = stablehlo.multiply %3, %3 : tensor<2048x384xf32>
  %5 = stablehlo.reduce(%4 init: %z) applies stablehlo.add across dimensions = [1] : (tensor<2048x384xf32>, tensor<f32>) -> tensor<2048xf32>
  %6 = stablehlo.divide %5, %n : tensor<2048xf32>
  %7 = stablehlo.add %6, %e : tensor<2048xf32>
  %8 = stablehlo.rsqrt %7 : tensor<2048xf32>
  %9 = stablehlo.broadcast_in_dim %8, dims = [0] : (tensor<2048xf32>) -> tensor<2048x384xf32>
  %10 = stablehlo.multiply %3, %9 : tensor<2048x384xf32>
  %11 = stablehlo.broadcast_in_dim %g, dims = [1] : (tensor<384xf32>) -> tensor<2048x384xf32>
  %12 = stablehlo.multiply %10, %11 : tensor<2048x384xf32>
  %13 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<384xf32>) -> tensor<2048x384xf32>
  %14 = stablehlo.add %12, %13 : tensor<2048x384xf32>
  return %14 : tensor<2048x384xf32>
})";

const char *const softmax = R"(
func.func @f(%x: tensor<48x256x256xf32>) -> tensor<48x256x256xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %n = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %n) applies stablehlo.maximum across dimensions = [2] : (tensor<48x256x256xf32>, tensor<f32>) -> tensor<48x256xf32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [0, 1] : (tensor<48x256xf32>) -> tensor<48x256x256xf32>
  %2 = stablehlo.subtract %x, %1 : tensor<48x256x256xf32>
  %3 = stablehlo.exponential %2 : tensor<48x256x256xf32>
  %4 = stablehlo.reduce(%3 init: %z) applies stablehlo.add across dimensions = [2] : (tensor<48x256x256xf32>, tensor<f32>) -> tensor<48x256xf32>
  %5 = stablehlo.broadcast_in_dim %4, dims = [0, 1] : (tensor<48x256xf32>) -> tensor<48x256x256xf32>
  %6 = stablehlo.divide %3, %5 : tensor<48x256x256xf32>
  return %6 : tensor<48x256x256xf32>
})";

const char *const biasGelu = R"(
func.func @f(%d: tensor<2048x1536xf32>, %b: tensor<1536xf32>) -> tensor<2048x1536xf32> {
  %h = stablehlo.constant dense<0.5> : tensor<2048x1536xf32>
  %o = stablehlo.constant dense<1.0> : tensor<2048x1536xf32>
  %c = stablehlo.constant dense<0.044715> : tensor<2048x1536xf32>
  %s = stablehlo.constant dense<0.797884583> : tensor<2048x1536xf32>
  %0 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<1536xf32>) -> tensor<2048x1536xf32>
  %x = stablehlo.add %d, %0 : tensor<2048x1536xf32>
  %1 = stablehlo.multiply %x, %x : tensor<2048x1536xf32>
  %2 = stablehlo.multiply %1, %x : tensor<2048x1536xf32>
  %3 = stablehlo.multiply %2, %c : tensor<2048x1536xf32>
  %4 = stablehlo.add %x, %3 : tensor<2048x1536xf32>
  %5 = stablehlo.multiply %4, %s : tensor<2048x1536xf32>
  %6 = stablehlo.tanh %5 : tensor<2048x1536xf32>
  %7 = stablehlo.add %6, %o : tensor<2048x1536xf32>
  %8 = stablehlo.multiply %7, %h : tensor<2048x1536xf32>
  %9 = stablehlo.multiply %x, %8 : tensor<2048x1536xf32>
  return %9 : tensor<2048x1536xf32>
})";

const char *const logSumExp = R"(
func.func @f(%x: tensor<2048x8192xf32>) -> tensor<2048xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %n = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %n) applies stablehlo.maximum across dimensions = [1] : (tensor<2048x8192xf32>, tensor<f32>) -> tensor<2048xf32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<2048xf32>) -> tensor<2048x8192xf32>
  %2 = stablehlo.subtract %x, %1 : tensor<2048x8192xf32>
  %3 = stablehlo.exponential %2 : tensor<2048x8192xf32>
  %4 = stablehlo.reduce(%3 init: %z) applies stablehlo.add across dimensions = [1] : (tensor<2048x8192xf32>, tensor<f32>) -> tensor<2048xf32>
  %5 = stablehlo.log %4 : tensor<2048xf32>
  %6 = stablehlo.add %5, %0 : tensor<2048xf32>
  return %6 : tensor<2048xf32>
})";

const char *const columnSum = R"(
func.func @f(%x: tensor<2048x1536xf32>) -> tensor<1536xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [0] : (tensor<2048x1536xf32>, tensor<f32>) -> tensor<1536xf32>
  return %0 : tensor<1536xf32>
})";

const char *const adamw = R"(
func.func @f(%p: tensor<4194304xf32>, %g: tensor<4194304xf32>, %m: tensor<4194304xf32>, %v: tensor<4194304xf32> {test.low = 0.0}, %lr: tensor<f32>)
    -> (tensor<4194304xf32>, tensor<4194304xf32>, tensor<4194304xf32>) {
  %b1 = stablehlo.constant dense<0.9> : tensor<4194304xf32>
  %c1 = stablehlo.constant dense<0.1> : tensor<4194304xf32>
  %b2 = stablehlo.constant dense<0.95> : tensor<4194304xf32>
  %c2 = stablehlo.constant dense<0.05> : tensor<4194304xf32>
  %e = stablehlo.constant dense<1.0e-8> : tensor<4194304xf32>
  %wd = stablehlo.constant dense<0.1> : tensor<4194304xf32>
  %0 = stablehlo.multiply %m, %b1 : tensor<4194304xf32>
  %1 = stablehlo.multiply %g, %c1 : tensor<4194304xf32>
  %m2 = stablehlo.add %0, %1 : tensor<4194304xf32>
  %2 = stablehlo.multiply %v, %b2 : tensor<4194304xf32>
  %3 = stablehlo.multiply %g, %g : tensor<4194304xf32>
  %4 = stablehlo.multiply %3, %c2 : tensor<4194304xf32>
  %v2 = stablehlo.add %2, %4 : tensor<4194304xf32>
  %5 = stablehlo.sqrt %v2 : tensor<4194304xf32>
  %6 = stablehlo.add %5, %e : tensor<4194304xf32>
  %7 = stablehlo.divide %m2, %6 : tensor<4194304xf32>
  %8 = stablehlo.multiply %p, %wd : tensor<4194304xf32>
  %9 = stablehlo.add %7, %8 : tensor<4194304xf32>
  %10 = stablehlo.broadcast_in_dim %lr, dims = [] : (tensor<f32>) -> tensor<4194304xf32>
  %11 = stablehlo.multiply %9, %10 : tensor<4194304xf32>
  %p2 = stablehlo.subtract %p, %11 : tensor<4194304xf32>
  return %p2, %m2, %v2 : tensor<4194304xf32>, tensor<4194304xf32>, tensor<4194304xf32>
})";

} // namespace

/// Sums of rows of `state.range(0)` elements, and of their squares: 128 Ki
/// elements, which stay in the second cache, or one longer row.
void sumRows(benchmark::State &state, const std::string &element,
             const std::string &summed) {
  int64_t length = state.range(0);
  std::string rows = std::to_string(std::max<int64_t>(1, (128 << 10) / length));
  std::string from = rows + "x" + std::to_string(length) + "x";
  std::string text =
      "func.func @f(%x: tensor<" + from + element + ">) -> (tensor<" + rows +
      "x" + summed + ">, tensor<" + rows + "x" + summed +
      ">) {\n%z = stablehlo.constant dense<0.0> : tensor<" + summed +
      ">\n%w = stablehlo.convert %x : (tensor<" + from + element +
      ">) -> tensor<" + from + summed +
      ">\n%q = stablehlo.multiply %w, %w : tensor<" + from + summed + ">\n";
  for (const char *value : {"w", "q"})
    text += std::string("%s") + value + " = stablehlo.reduce(%" + value +
            " init: %z) applies stablehlo.add across dimensions = [1] : "
            "(tensor<" +
            from + summed + ">, tensor<" + summed + ">) -> tensor<" + rows +
            "x" + summed + ">\n";
  text += "return %sw, %sq : tensor<" + rows + "x" + summed + ">, tensor<" +
          rows + "x" + summed + ">\n}";
  runKernels(state, text.c_str());
}

BENCHMARK(copy);
BENCHMARK_CAPTURE(sumRows, f32, "f32", "f32")
    ->Arg(64)
    ->Arg(128)
    ->Arg(256)
    ->Arg(384)
    ->Arg(768)
    ->Arg(1024)
    ->Arg(4096)
    ->Arg(65536)
    ->Arg(4 << 20);
BENCHMARK_CAPTURE(sumRows, bf16_in_f32, "bf16", "f32")->Arg(384)->Arg(1024);
BENCHMARK_CAPTURE(sumRows, bf16, "bf16", "bf16")->Arg(384)->Arg(1024);
BENCHMARK_CAPTURE(runKernels, layer_norm, layerNorm);
BENCHMARK_CAPTURE(runKernels, softmax, softmax);
BENCHMARK_CAPTURE(runKernels, bias_gelu, biasGelu);
BENCHMARK_CAPTURE(runKernels, log_sum_exp, logSumExp);
BENCHMARK_CAPTURE(runKernels, column_sum, columnSum);
BENCHMARK_CAPTURE(runKernels, adamw, adamw);

BENCHMARK_MAIN();
