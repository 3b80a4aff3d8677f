//===- CostTest.cpp - What ops cost, and what kernel they become ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each op of the text says in `test.cost` what it must cost: flops, elements of
// a transcendental function, bytes read and bytes written; and in `test.form`
// what its kernel is, whether its results are constant where its operands are
// (uniform), and whether no derivative flows through it (inactive). No op that
// has a cost may be missing.
//
//===----------------------------------------------------------------------===//

#include "GraphContext.h"
#include "llmc/Dialect/Graph/IR/GraphInterfaces.h"
#include "llmc/Dialect/Graph/IR/KernelForms.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/StringExtras.h"
#include <gtest/gtest.h>
#include <set>

using namespace llmc;
using namespace llmc::test;

namespace {

constexpr const char *kOps = R"mlir(
dist.mesh @mesh = <"x"=2, "y"=2>
#full = #dist.layout<@mesh, [{}, {}]>
#x = #dist.layout<@mesh, [{"x"}, {}]>
func.func @f(%x: tensor<4x8xf32>, %y: tensor<8x16xf32>, %h: tensor<4x8xbf16>, %p: tensor<4x8xi1>, %i: tensor<i32>, %t: tensor<4xi32>,
             %bx: tensor<2x4x8xf32>, %by: tensor<2x8x3xf32>, %rows: tensor<5x1xi32>, %s: tensor<4xf32>, %s8: tensor<8xf32>,
             %row: tensor<1x8xf32>, %updates: tensor<5x8xf32>, %none: tensor<4x0xf32>, %all: tensor<0x4xf32>, %l: tensor<4x8xf32, #full>,
             %seven: tensor<2x7x3xf32>, %kernel: tensor<3x3x4xf32>, %four: tensor<2x4x3xf32>, %each: tensor<3x1x6xf32>, %two: tensor<2x4x8xf32>, %squares: tensor<2x6x6xf32>, %narrow: tensor<6x6xbf16>, %columns: tensor<2x6x3xf32>, %room: tensor<2x5x4xf32>, %lists: tensor<2x4x2xi64>, %counts: tensor<4x2xi64>) {
  %z = stablehlo.constant {test.cost = array<i64: 0, 0, 0, 4>, test.form = "Element inactive"} dense<0.0> : tensor<f32>
  %0 = stablehlo.iota dim = 0 {test.cost = array<i64: 0, 0, 0, 40>, test.form = "Element inactive"} : tensor<10xi32>
  // Element by element: a flop for each, and half the bytes for half the width.
  %1 = stablehlo.add %x, %x {test.cost = array<i64: 32, 0, 256, 128>, test.form = "Element uniform"} : tensor<4x8xf32>
  %2 = stablehlo.multiply %h, %h {test.cost = array<i64: 32, 0, 128, 64>, test.form = "Element uniform"} : tensor<4x8xbf16>
  %3 = stablehlo.tanh %x {test.cost = array<i64: 0, 32, 128, 128>, test.form = "Element uniform"} : tensor<4x8xf32>
  // What chooses or moves elements has traffic alone, and reads what it keeps.
  %4 = stablehlo.select %p, %x, %x {test.cost = array<i64: 0, 0, 288, 128>, test.form = "Element uniform"} : tensor<4x8xi1>, tensor<4x8xf32>
  %5 = stablehlo.transpose %x, dims = [1, 0] {test.cost = array<i64: 0, 0, 128, 128>, test.form = "Element uniform"} : (tensor<4x8xf32>) -> tensor<8x4xf32>
  %6 = stablehlo.reshape %x {test.cost = array<i64: 0, 0, 0, 0>, test.form = "Alias uniform"} : (tensor<4x8xf32>) -> tensor<32xf32>
  %7 = stablehlo.slice %x [0:2, 0:8] {test.cost = array<i64: 0, 0, 64, 64>, test.form = "Element"} : (tensor<4x8xf32>) -> tensor<2x8xf32>
  %8 = stablehlo.dynamic_slice %x, %i, %i, sizes = [1, 8] {test.cost = array<i64: 0, 0, 32, 32>, test.form = "Element"} : (tensor<4x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x8xf32>
  %9 = "stablehlo.gather"(%x, %rows) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 8>}> {test.cost = array<i64: 0, 0, 180, 160>, test.form = "Element"} : (tensor<4x8xf32>, tensor<5x1xi32>) -> tensor<5x8xf32>
  // Two flops for each product of a contraction, batch by batch.
  %10 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] {test.model = 1024 : i64, test.cost = array<i64: 1024, 0, 640, 256>, test.form = "Library uniform"} : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  %11 = stablehlo.dot_general %bx, %by, batching_dims = [0] x [0], contracting_dims = [2] x [1] {test.model = 384 : i64, test.cost = array<i64: 384, 0, 448, 96>, test.form = "Library uniform"} : (tensor<2x4x8xf32>, tensor<2x8x3xf32>) -> tensor<2x4x3xf32>
  // A third of a product, and the roots; half a product. Narrow floats are widened.
  %factor = stablehlo.cholesky %squares {test.model = 144 : i64, test.cost = array<i64: 156, 0, 288, 288>, test.form = "Update"} : tensor<2x6x6xf32>
  %narrowly = stablehlo.cholesky %narrow, lower = true {test.model = 72 : i64, test.cost = array<i64: 78, 0, 72, 72>, test.form = "Decompose"} : tensor<6x6xbf16>
  %pivoted:3 = stablehlo.lu %squares {test.model = 288 : i64, test.cost = array<i64: 288, 0, 288, 384>, test.form = "Decompose"} : (tensor<2x6x6xf32>) -> (tensor<2x6x6xf32>, tensor<2x6xi32>, tensor<2x6xi32>)
  %inplace = stablehlo.lu_in_place %room {test.model = 36 : i64, test.cost = array<i64: 36, 0, 160, 160>, test.form = "Update"} : tensor<2x5x4xf32>
  %solved = "stablehlo.triangular_solve"(%squares, %columns) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> {test.model = 216 : i64, test.cost = array<i64: 216, 0, 432, 144>, test.form = "Update"} : (tensor<2x6x6xf32>, tensor<2x6x3xf32>) -> tensor<2x6x3xf32>
  // The body's ops for each element.
  %12 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [1] {test.cost = array<i64: 32, 0, 132, 16>, test.form = "Reduction uniform"} : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  %13:2 = nn.softmax_cross_entropy %x, %t {test.cost = array<i64: 160, 32, 144, 32>, test.form = "Decompose"} : (tensor<4x8xf32>, tensor<4xi32>) -> (tensor<4xf32>, tensor<4xf32>)
  %14 = nn.softmax_cross_entropy_grad %x, %t, %s, %s {test.cost = array<i64: 96, 32, 176, 128>, test.form = "Decompose"} : (tensor<4x8xf32>, tensor<4xi32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4x8xf32>
  // Two products forward and five backward, half of them where causal.
  %attended, %lse = nn.attention %bx, %bx, %bx scale 1.0 {test.model = 1024 : i64, test.cost = array<i64: 1184, 32, 768, 288>, test.form = "Library"} : (tensor<2x4x8xf32>, tensor<2x4x8xf32>, tensor<2x4x8xf32>) -> (tensor<2x4x8xf32>, tensor<2x4xf32>)
  %causal:2 = nn.attention %bx, %bx, %bx scale 1.0 causal 0 {test.model = 1024 : i64, test.cost = array<i64: 592, 16, 768, 288>, test.form = "Library"} : (tensor<2x4x8xf32>, tensor<2x4x8xf32>, tensor<2x4x8xf32>) -> (tensor<2x4x8xf32>, tensor<2x4xf32>)
  %dattended:3 = nn.attention_grad %bx, %bx, %bx, %lse, %lse, %attended scale 1.0 {test.model = 2048 : i64, test.cost = array<i64: 2720, 32, 1088, 768>, test.form = "Library"} : (tensor<2x4x8xf32>, tensor<2x4x8xf32>, tensor<2x4x8xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4x8xf32>) -> (tensor<2x4x8xf32>, tensor<2x4x8xf32>, tensor<2x4x8xf32>)
  // An attention to nothing is written out.
  %nothing:2 = nn.attention %none, %none, %none scale 1.0 {test.cost = array<i64: 80, 16, 0, 16>, test.form = "Decompose"} : (tensor<4x0xf32>, tensor<4x0xf32>, tensor<4x0xf32>) -> (tensor<4x0xf32>, tensor<4xf32>)
  %normal, %rstd = nn.layer_norm %x {dims = 1 : i64, epsilon = 0.0 : f64, test.cost = array<i64: 160, 0, 128, 144>, test.form = "Decompose"} : (tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4xf32>)
  %dnormal = nn.layer_norm_grad %normal, %rstd, %x {dims = 1 : i64, test.cost = array<i64: 224, 0, 272, 128>, test.form = "Decompose"} : (tensor<4x8xf32>, tensor<4xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %rms:2 = nn.rms_norm %x {dims = 1 : i64, epsilon = 0.0 : f64, test.cost = array<i64: 96, 0, 128, 144>, test.form = "Decompose"} : (tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4xf32>)
  %drms = nn.rms_norm_grad %normal, %rstd, %x {dims = 1 : i64, test.cost = array<i64: 160, 0, 272, 128>, test.form = "Decompose"} : (tensor<4x8xf32>, tensor<4xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %batch, %mean, %variance = nn.batch_norm %x, %s8, %s8 {dim = 1 : i64, epsilon = 0.0 : f64, test.cost = array<i64: 224, 0, 192, 192>, test.form = "Decompose"} : (tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>)
  %dbatch:3 = nn.batch_norm_grad %x, %s8, %mean, %variance, %batch {dim = 1 : i64, epsilon = 0.0 : f64, test.cost = array<i64: 320, 0, 352, 192>, test.form = "Decompose"} : (tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>)
  %turned = nn.rotary %x, %row, %row {test.cost = array<i64: 96, 0, 192, 128>, test.form = "Decompose"} : (tensor<4x8xf32>, tensor<1x8xf32>, tensor<1x8xf32>) -> tensor<4x8xf32>
  %order = nn.argsort %x dim 1 descending [false] {test.cost = array<i64: 96, 0, 128, 32>, test.form = "Library inactive"} : (tensor<4x8xf32>) -> tensor<4x2xi32>
  %sizes = stablehlo.constant dense<1> : tensor<2xi32>
  %grouped = nn.grouped_dot %x, %x, %sizes batch [] x [] contracting [0] x [0] rows 0 {test.model = 512 : i64, test.cost = array<i64: 512, 0, 264, 512>, test.form = "Library"} : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<2xi32>) -> tensor<2x8x8xf32>
  %gelu = nn.gelu %x {test.cost = array<i64: 160, 32, 128, 128>, test.form = "Element uniform"} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %quantized = nn.quantize %x, %z {test.cost = array<i64: 96, 0, 132, 32>, test.form = "Element uniform"} : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf8E4M3FN>
  %dgelu = nn.gelu_grad %x, %x {test.cost = array<i64: 288, 64, 256, 128>, test.form = "Element uniform"} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %silu = nn.silu %x {test.cost = array<i64: 128, 32, 128, 128>, test.form = "Element uniform"} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %dsilu = nn.silu_grad %x, %x {test.cost = array<i64: 256, 32, 256, 128>, test.form = "Element uniform"} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %softmax = nn.softmax %x {dim = 1 : i64, test.cost = array<i64: 128, 32, 128, 128>, test.form = "Decompose"} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %dsoftmax = nn.softmax_grad %x, %x {dim = 1 : i64, test.cost = array<i64: 128, 0, 256, 128>, test.form = "Decompose"} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %logs = nn.log_softmax %x {dim = 1 : i64, test.cost = array<i64: 128, 32, 128, 128>, test.form = "Decompose"} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %dlogs = nn.log_softmax_grad %x, %x {dim = 1 : i64, test.cost = array<i64: 96, 32, 256, 128>, test.form = "Decompose"} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %sums = nn.log_sum_exp %x {dims = array<i64: 1>, test.cost = array<i64: 128, 32, 128, 16>, test.form = "Decompose"} : (tensor<4x8xf32>) -> tensor<4xf32>
  %dsums = nn.log_sum_exp_grad %x, %sums, %sums {dims = array<i64: 1>, test.cost = array<i64: 64, 32, 160, 128>, test.form = "Decompose"} : (tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4x8xf32>
  // One operand: the functions of the mathematical library are transcendental,
  // what a processor has an instruction for is a flop.
  %15 = stablehlo.negate %x {test.cost = array<i64: 32, 0, 128, 128>, test.form = "Element uniform"} : tensor<4x8xf32>
  %16 = stablehlo.abs %x {test.cost = array<i64: 32, 0, 128, 128>, test.form = "Element uniform"} : tensor<4x8xf32>
  %17 = stablehlo.sign %x {test.cost = array<i64: 32, 0, 128, 128>, test.form = "Element uniform inactive"} : tensor<4x8xf32>
  %18 = stablehlo.ceil %x {test.cost = array<i64: 32, 0, 128, 128>, test.form = "Element uniform inactive"} : tensor<4x8xf32>
  %19 = stablehlo.floor %x {test.cost = array<i64: 32, 0, 128, 128>, test.form = "Element uniform inactive"} : tensor<4x8xf32>
  %20 = stablehlo.cbrt %x {test.cost = array<i64: 0, 32, 128, 128>, test.form = "Element uniform"} : tensor<4x8xf32>
  %21 = stablehlo.cosine %x {test.cost = array<i64: 0, 32, 128, 128>, test.form = "Element uniform"} : tensor<4x8xf32>
  %22 = stablehlo.exponential %x {test.cost = array<i64: 0, 32, 128, 128>, test.form = "Element uniform"} : tensor<4x8xf32>
  %23 = stablehlo.exponential_minus_one %x {test.cost = array<i64: 0, 32, 128, 128>, test.form = "Element uniform"} : tensor<4x8xf32>
  %24 = stablehlo.log %x {test.cost = array<i64: 0, 32, 128, 128>, test.form = "Element uniform"} : tensor<4x8xf32>
  %25 = stablehlo.log_plus_one %x {test.cost = array<i64: 0, 32, 128, 128>, test.form = "Element uniform"} : tensor<4x8xf32>
  %26 = stablehlo.logistic %x {test.cost = array<i64: 96, 32, 128, 128>, test.form = "Element uniform"} : tensor<4x8xf32>
  %27 = stablehlo.rsqrt %x {test.cost = array<i64: 0, 32, 128, 128>, test.form = "Element uniform"} : tensor<4x8xf32>
  %28 = stablehlo.sine %x {test.cost = array<i64: 0, 32, 128, 128>, test.form = "Element uniform"} : tensor<4x8xf32>
  %29 = stablehlo.sqrt %x {test.cost = array<i64: 32, 0, 128, 128>, test.form = "Element uniform"} : tensor<4x8xf32>
  %30 = chlo.square %x {test.cost = array<i64: 32, 0, 128, 128>, test.form = "Element uniform"} : tensor<4x8xf32> -> tensor<4x8xf32>
  %31 = chlo.erf %x {test.cost = array<i64: 0, 32, 128, 128>, test.form = "Element uniform"} : tensor<4x8xf32> -> tensor<4x8xf32>
  %32 = chlo.erfc %x {test.cost = array<i64: 0, 32, 128, 128>, test.form = "Element uniform"} : tensor<4x8xf32> -> tensor<4x8xf32>
  %33 = stablehlo.is_finite %x {test.cost = array<i64: 32, 0, 128, 32>, test.form = "Element uniform inactive"} : (tensor<4x8xf32>) -> tensor<4x8xi1>
  %34 = stablehlo.not %p {test.cost = array<i64: 32, 0, 32, 32>, test.form = "Element uniform inactive"} : tensor<4x8xi1>
  %35 = stablehlo.convert %x {test.cost = array<i64: 32, 0, 128, 64>, test.form = "Element uniform"} : (tensor<4x8xf32>) -> tensor<4x8xbf16>
  // Two operands and three.
  %36 = stablehlo.subtract %x, %x {test.cost = array<i64: 32, 0, 256, 128>, test.form = "Element uniform"} : tensor<4x8xf32>
  %37 = stablehlo.divide %x, %x {test.cost = array<i64: 32, 0, 256, 128>, test.form = "Element uniform"} : tensor<4x8xf32>
  %38 = stablehlo.maximum %x, %x {test.cost = array<i64: 32, 0, 256, 128>, test.form = "Element uniform"} : tensor<4x8xf32>
  %39 = stablehlo.minimum %x, %x {test.cost = array<i64: 32, 0, 256, 128>, test.form = "Element uniform"} : tensor<4x8xf32>
  %40 = stablehlo.remainder %x, %x {test.cost = array<i64: 0, 32, 256, 128>, test.form = "Element uniform"} : tensor<4x8xf32>
  %41 = stablehlo.power %x, %x {test.cost = array<i64: 0, 32, 256, 128>, test.form = "Element uniform"} : tensor<4x8xf32>
  %42 = stablehlo.and %p, %p {test.cost = array<i64: 32, 0, 64, 32>, test.form = "Element uniform inactive"} : tensor<4x8xi1>
  %43 = stablehlo.or %p, %p {test.cost = array<i64: 32, 0, 64, 32>, test.form = "Element uniform inactive"} : tensor<4x8xi1>
  %44 = stablehlo.xor %p, %p {test.cost = array<i64: 32, 0, 64, 32>, test.form = "Element uniform inactive"} : tensor<4x8xi1>
  %45 = stablehlo.compare LT, %x, %x {test.cost = array<i64: 32, 0, 256, 32>, test.form = "Element uniform inactive"} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
  %46 = stablehlo.clamp %z, %x, %z {test.cost = array<i64: 64, 0, 136, 128>, test.form = "Element uniform"} : (tensor<f32>, tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %200 = stablehlo.tan %x {test.cost = array<i64: 0, 32, 128, 128>, test.form = "Element uniform"} : tensor<4x8xf32>
  %201 = stablehlo.round_nearest_afz %x {test.cost = array<i64: 128, 0, 128, 128>, test.form = "Element uniform inactive"} : tensor<4x8xf32>
  %202 = stablehlo.round_nearest_even %x {test.cost = array<i64: 192, 0, 128, 128>, test.form = "Element uniform inactive"} : tensor<4x8xf32>
  %203 = stablehlo.reduce_precision %x, format = e8m7 {test.cost = array<i64: 192, 0, 128, 128>, test.form = "Element uniform"} : tensor<4x8xf32>
  %204 = stablehlo.atan2 %x, %x {test.cost = array<i64: 0, 32, 256, 128>, test.form = "Element uniform"} : tensor<4x8xf32>
  // The bits of elements.
  %205 = stablehlo.shift_left %t, %t {test.cost = array<i64: 4, 0, 32, 16>, test.form = "Element uniform inactive"} : tensor<4xi32>
  %206 = stablehlo.shift_right_logical %t, %t {test.cost = array<i64: 4, 0, 32, 16>, test.form = "Element uniform inactive"} : tensor<4xi32>
  %207 = stablehlo.shift_right_arithmetic %t, %t {test.cost = array<i64: 4, 0, 32, 16>, test.form = "Element uniform inactive"} : tensor<4xi32>
  %208 = stablehlo.popcnt %t {test.cost = array<i64: 4, 0, 16, 16>, test.form = "Element uniform inactive"} : tensor<4xi32>
  %209 = stablehlo.count_leading_zeros %t {test.cost = array<i64: 4, 0, 16, 16>, test.form = "Element uniform inactive"} : tensor<4xi32>
  %210 = stablehlo.bitcast_convert %x {test.cost = array<i64: 0, 0, 128, 128>, test.form = "Element inactive"} : (tensor<4x8xf32>) -> tensor<4x8x2xi16>
  %211 = chlo.mulhi %t, %t {test.cost = array<i64: 4, 0, 32, 16>, test.form = "Element uniform inactive"} : tensor<4xi32>, tensor<4xi32> -> tensor<4xi32>
  %212 = chlo.acos %x {test.cost = array<i64: 0, 32, 128, 128>, test.form = "Element uniform"} : tensor<4x8xf32> -> tensor<4x8xf32>
  %213 = chlo.acosh %x {test.cost = array<i64: 0, 32, 128, 128>, test.form = "Element uniform"} : tensor<4x8xf32> -> tensor<4x8xf32>
  %214 = chlo.asin %x {test.cost = array<i64: 0, 32, 128, 128>, test.form = "Element uniform"} : tensor<4x8xf32> -> tensor<4x8xf32>
  %215 = chlo.asinh %x {test.cost = array<i64: 0, 32, 128, 128>, test.form = "Element uniform"} : tensor<4x8xf32> -> tensor<4x8xf32>
  %216 = chlo.atan %x {test.cost = array<i64: 0, 32, 128, 128>, test.form = "Element uniform"} : tensor<4x8xf32> -> tensor<4x8xf32>
  %217 = chlo.atanh %x {test.cost = array<i64: 0, 32, 128, 128>, test.form = "Element uniform"} : tensor<4x8xf32> -> tensor<4x8xf32>
  %218 = chlo.cosh %x {test.cost = array<i64: 0, 32, 128, 128>, test.form = "Element uniform"} : tensor<4x8xf32> -> tensor<4x8xf32>
  %219 = chlo.sinh %x {test.cost = array<i64: 0, 32, 128, 128>, test.form = "Element uniform"} : tensor<4x8xf32> -> tensor<4x8xf32>
  %220 = chlo.erf_inv %x {test.cost = array<i64: 640, 32, 128, 128>, test.form = "Element uniform"} : tensor<4x8xf32> -> tensor<4x8xf32>
  %221 = chlo.lgamma %x {test.cost = array<i64: 1920, 96, 128, 128>, test.form = "Element uniform"} : tensor<4x8xf32> -> tensor<4x8xf32>
  %bessel = chlo.bessel_i1e %x {test.cost = array<i64: 3520, 32, 128, 128>, test.form = "Element uniform"} : tensor<4x8xf32> -> tensor<4x8xf32>
  %routed = dist.route %x dim 0 from [3, 0, 1, 2] {test.cost = array<i64: 0, 0, 128, 128>, test.form = "Decompose"} : tensor<4x8xf32>
  %sent = dist.send_rows %two, %lists {test.cost = array<i64: 0, 0, 384, 256>, test.form = "Decompose"} : tensor<2x4x8xf32>, tensor<2x4x2xi64> -> tensor<2x4x8xf32>
  %ragged = dist.ragged_all_to_all %x dim 0 counts %counts : tensor<4x2xi64> over ["x"] {test.cost = array<i64: 0, 0, 192, 160>, test.form = ""} : tensor<4x8xf32> -> tensor<5x8xf32>
  %222 = chlo.digamma %x {test.cost = array<i64: 1920, 64, 128, 128>, test.form = "Element uniform"} : tensor<4x8xf32> -> tensor<4x8xf32>
  %223 = chlo.polygamma %x, %x {test.cost = array<i64: 4800, 960, 256, 128>, test.form = "Element uniform"} : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x8xf32>
  %224 = chlo.next_after %x, %x {test.cost = array<i64: 192, 0, 256, 128>, test.form = "Element uniform"} : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x8xf32>
  // Movement.
  %47 = stablehlo.broadcast_in_dim %s, dims = [0] {test.cost = array<i64: 0, 0, 16, 128>, test.form = "Element uniform"} : (tensor<4xf32>) -> tensor<4x8xf32>
  %48 = stablehlo.reverse %x, dims = [1] {test.cost = array<i64: 0, 0, 128, 128>, test.form = "Element"} : tensor<4x8xf32>
  %49 = stablehlo.pad %x, %z, low = [0, 0], high = [1, 0], interior = [0, 0] {test.cost = array<i64: 0, 0, 132, 160>, test.form = "Element"} : (tensor<4x8xf32>, tensor<f32>) -> tensor<5x8xf32>
  %50 = stablehlo.concatenate %x, %x, dim = 0 {test.cost = array<i64: 0, 0, 256, 256>, test.form = "Element"} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
  %51 = "stablehlo.optimization_barrier"(%x) {test.cost = array<i64: 0, 0, 0, 0>, test.form = "Alias"} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // Updates in place: two ops of the body for each of the 40 updates.
  %52 = stablehlo.dynamic_update_slice %x, %row, %i, %i {test.cost = array<i64: 0, 0, 168, 128>, test.form = "Update"} : (tensor<4x8xf32>, tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> tensor<4x8xf32>
  %53 = "stablehlo.scatter"(%x, %rows, %updates) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %double = stablehlo.add %b, %b : tensor<f32>
    %sum = stablehlo.add %a, %double : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) {test.cost = array<i64: 80, 0, 308, 128>, test.form = "Update"} : (tensor<4x8xf32>, tensor<5x1xi32>, tensor<5x8xf32>) -> tensor<4x8xf32>
  // Operands of two types, or none at all, are no call of a library.
  %54 = stablehlo.dot_general %h, %y, contracting_dims = [1] x [0] {test.model = 1024 : i64, test.cost = array<i64: 1024, 0, 576, 256>, test.form = "Decompose uniform"} : (tensor<4x8xbf16>, tensor<8x16xf32>) -> tensor<4x16xf32>
  %55 = stablehlo.dot_general %none, %all, contracting_dims = [1] x [0] {test.cost = array<i64: 0, 0, 0, 64>, test.form = "Decompose uniform"} : (tensor<4x0xf32>, tensor<0x4xf32>) -> tensor<4x4xf32>
  // Two flops for each element of the kernel that meets one of the input.
  %230 = stablehlo.convolution(%seven, %kernel) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [2], pad = [[1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, test.model = 480 : i64, test.cost = array<i64: 480, 0, 312, 128>, test.form = "Library uniform"} : (tensor<2x7x3xf32>, tensor<3x3x4xf32>) -> tensor<2x4x4xf32>
  %231 = stablehlo.convolution(%four, %each) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {pad = [[1, 1]], lhs_dilate = [2]} {batch_group_count = 1 : i64, feature_group_count = 3 : i64, test.model = 240 : i64, test.cost = array<i64: 240, 0, 168, 336>, test.form = "Library"} : (tensor<2x4x3xf32>, tensor<3x1x6xf32>) -> tensor<2x7x6xf32>
  %232 = stablehlo.convolution(%none, %all) dim_numbers = [b, f]x[i, o]->[b, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, test.cost = array<i64: 0, 0, 0, 64>, test.form = "Decompose uniform"} : (tensor<4x0xf32>, tensor<0x4xf32>) -> tensor<4x4xf32>
  // Layouts move nothing by themselves; a collective has its traffic.
  %56 = dist.constraint %x to <@mesh, [{"x"}, {}]> {test.cost = array<i64: 0, 0, 0, 0>, test.form = "Alias"} : tensor<4x8xf32>
  %57 = dist.reshard %l {test.cost = array<i64: 0, 0, 0, 0>, test.form = ""} : tensor<4x8xf32, #full> -> tensor<4x8xf32, #x>
  %58 = dist.keep %x where "x" = 0 {test.cost = array<i64: 0, 0, 0, 0>, test.form = ""} : tensor<4x8xf32> -> tensor<4x8xf32>
  %59 = dist.join %x over "x" {test.cost = array<i64: 0, 0, 0, 0>, test.form = ""} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %60 = dist.fence(%x) after(%s) {test.cost = array<i64: 0, 0, 0, 0>, test.form = "Alias"} : tensor<4x8xf32> after tensor<4xf32>
  %61 = dist.coordinate ["x"] {test.cost = array<i64: 0, 0, 0, 0>, test.form = "inactive"} : tensor<i32>
  %62 = dist.all_reduce %x over ["x"] sum {test.cost = array<i64: 0, 0, 128, 128>, test.form = ""} : tensor<4x8xf32>
  %63 = dist.reduce_scatter %x dim 0 over ["x"] sum {test.cost = array<i64: 0, 0, 128, 64>, test.form = ""} : tensor<4x8xf32> -> tensor<2x8xf32>
  %64 = dist.all_gather %x dim 0 over ["x"] {test.cost = array<i64: 0, 0, 128, 256>, test.form = ""} : tensor<4x8xf32> -> tensor<8x8xf32>
  %65 = dist.all_to_all %x split 0 concat 1 over ["x"] {test.cost = array<i64: 0, 0, 128, 128>, test.form = ""} : tensor<4x8xf32> -> tensor<2x16xf32>
  %66 = dist.permute %x over ["x", "y"] to ["y", "x"] {test.cost = array<i64: 0, 0, 128, 128>, test.form = ""} : tensor<4x8xf32>
  %67 = dist.broadcast %x from [0] over ["x"] {test.cost = array<i64: 0, 0, 128, 128>, test.form = ""} : tensor<4x8xf32>
  %68 = dist.reduce %x to [0] over ["x"] sum {test.cost = array<i64: 0, 0, 128, 128>, test.form = ""} : tensor<4x8xf32>
  // What enters and leaves the trips of a loop moves nothing by itself.
  %carried = dist.enter carry %s of <"l", trips = 4> number(0) {test.cost = array<i64: 0, 0, 0, 0>, test.form = ""} : tensor<4xf32> -> tensor<4xf32>
  %next = dist.next %carried, %carried {test.cost = array<i64: 0, 0, 0, 0>, test.form = ""} : tensor<4xf32>
  %left = dist.leave last %next of <"l", trips = 4> {test.cost = array<i64: 0, 0, 0, 0>, test.form = ""} : tensor<4xf32> -> tensor<4xf32>
  return
}
)mlir";

/// Whether the list of forms, which needs no op, has that of this one.
bool isListed(Operation *op, graph::KernelForm form) {
  auto *listed =
      op->getRegisteredInfo()->getInterface<graph::KernelFormsOpInterface>();
  return listed && llvm::is_contained(listed->getKernelForms(), form);
}

/// The form, and what else holds of the op, as `test.form` spells it.
std::string describe(Operation *op) {
  std::vector<std::string> words;
  if (auto kernel = dyn_cast<graph::KernelOpInterface>(op))
    words.push_back([&] {
      EXPECT_TRUE(isListed(op, kernel.getKernelForm()))
          << op->getName().getStringRef().str();
      switch (kernel.getKernelForm()) {
      case graph::KernelForm::Element:
        return "Element";
      case graph::KernelForm::Reduction:
        return "Reduction";
      case graph::KernelForm::Library:
        return "Library";
      case graph::KernelForm::Update:
        return "Update";
      case graph::KernelForm::Alias:
        return "Alias";
      case graph::KernelForm::Decompose:
        return "Decompose";
      }
      return "none";
    }());
  auto rule = dyn_cast<graph::ShardingRuleOpInterface>(op);
  if (rule && rule.isUniform())
    words.push_back("uniform");
  auto derivative = dyn_cast<graph::DerivativeOpInterface>(op);
  if (derivative && derivative.isInactive())
    words.push_back("inactive");
  return llvm::join(words, " ");
}

struct Cost : testing::Test {
  GraphContext context;
  mlir::OwningOpRef<ModuleOp> module = context.parse(kOps);

  void SetUp() override { ASSERT_TRUE(module) << context.takeMessages(); }
  template <typename Function> void forEachOp(Function function) {
    module->walk([&](Operation *op) {
      if (op->hasAttr("test.cost"))
        function(op);
    });
  }
};

TEST_F(Cost, IsTheClosedForm) {
  forEachOp([&](Operation *op) {
    auto wanted = op->getAttrOfType<mlir::DenseI64ArrayAttr>("test.cost");
    graph::OpCost cost = mlir::cast<graph::CostOpInterface>(op).getCost();
    EXPECT_EQ(wanted.asArrayRef(),
              ArrayRef<int64_t>({cost.flops, cost.transcendentals,
                                 cost.bytesRead, cost.bytesWritten}))
        << op->getName().getStringRef().str() << ": " << cost.flops << ", "
        << cost.transcendentals << ", " << cost.bytesRead << ", "
        << cost.bytesWritten;
  });
}

// Products alone, those that a mask hides too, and none that a gradient makes
// again.
TEST_F(Cost, OfTheModel) {
  forEachOp([&](Operation *op) {
    auto wanted = op->getAttrOfType<mlir::IntegerAttr>("test.model");
    EXPECT_EQ(wanted ? wanted.getInt() : 0,
              mlir::cast<graph::CostOpInterface>(op).getCost().modelFlops)
        << op->getName().getStringRef().str();
  });
}

TEST_F(Cost, EveryFormIsAsStated) {
  forEachOp([&](Operation *op) {
    EXPECT_EQ(describe(op),
              op->getAttrOfType<mlir::StringAttr>("test.form").str())
        << op->getName().getStringRef().str();
  });
}

TEST_F(Cost, NoOpIsMissing) {
  std::set<std::string> seen;
  forEachOp(
      [&](Operation *op) { seen.insert(op->getName().getStringRef().str()); });
  for (mlir::RegisteredOperationName op :
       context.get()->getRegisteredOperations())
    EXPECT_EQ(op.hasInterface<graph::CostOpInterface>(),
              seen.count(op.getStringRef().str()) > 0)
        << op.getStringRef().str();
}

// Only tensors of known shape have bytes.
TEST_F(Cost, OtherTypesAreFree) {
  mlir::OwningOpRef<ModuleOp> other = context.parse(R"(
    func.func @f(%x: tensor<2x3xf32>, %y: tensor<?xf32>, %i: i32) {
      %0:2 = builtin.unrealized_conversion_cast %x, %y, %i : tensor<2x3xf32>, tensor<?xf32>, i32 to i64, tensor<5xf64>
      return
    })");
  ASSERT_TRUE(other) << context.takeMessages();
  Operation *op = &getFunction(*other).front().front();
  graph::OpCost cost = graph::getElementwiseCost(op, 2, 3);
  EXPECT_EQ(cost.bytesRead, 24);
  EXPECT_EQ(cost.bytesWritten, 40);
  EXPECT_EQ(cost.flops, 10);
  EXPECT_EQ(cost.transcendentals, 15);
}

} // namespace
