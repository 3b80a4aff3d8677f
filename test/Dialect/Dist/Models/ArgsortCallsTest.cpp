//===- ArgsortCallsTest.cpp - What orders ask of a library ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GraphContext.h"
#include "llmc/Dialect/Dist/IR/Dist.h"
#include "llmc/Dialect/Graph/IR/LibraryCall.h"
#include <gtest/gtest.h>

using namespace llmc;
using namespace llmc::test;

namespace {
/// What the only call of a module asks for, and with which buffers.
struct Asked {
  rt::ArgsortShape shape;
  size_t numBuffers = 0;
};

Asked ask(StringRef text) {
  GraphContext context;
  auto module = context.parse(text);
  Asked asked;
  if (!module)
    return asked;
  module->walk([&](graph::LibraryCallOpInterface call) {
    FailureOr<rt::LibraryDescriptor> found = call.getDescriptor();
    if (succeeded(found))
      asked.shape = std::get<rt::ArgsortShape>(*found);
    asked.numBuffers = call.getBuffers().size();
    EXPECT_TRUE(call.getTiedPairs().empty());
    EXPECT_EQ(call.getBuffers().back(), call->getResult(0));
    EXPECT_FALSE(call.readPermuted(0, {1, 0}));
  });
  return asked;
}

TEST(ArgsortCalls, DimsAreThoseAroundTheOrderedOne) {
  Asked asked = ask(R"(
  func.func @f(%x: tensor<2x3x50x4x5xf32>, %y: tensor<2x3x50x4x5xui8>) {
    %p = dist.argsort %x, %y dim 2 descending [false, true]
        : (tensor<2x3x50x4x5xf32>, tensor<2x3x50x4x5xui8>) -> tensor<2x3x7x4x5xi32>
    return
  })");
  rt::ArgsortShape shape;
  shape.keys = {{rt::DType::f32, false}, {rt::DType::u8, true}};
  shape.outer = 6;
  shape.size = 50;
  shape.inner = 20;
  shape.count = 7;
  EXPECT_TRUE(asked.shape == shape);
  EXPECT_EQ(asked.numBuffers, 3u);
}

TEST(ArgsortCalls, OneDimHasNoneAroundIt) {
  Asked asked = ask(R"(
  func.func @f(%x: tensor<9xi1>) {
    %p = dist.argsort %x dim 0 descending [true] : (tensor<9xi1>) -> tensor<9xi32>
    return
  })");
  rt::ArgsortShape shape;
  shape.keys = {{rt::DType::i1, true}};
  shape.size = shape.count = 9;
  EXPECT_TRUE(asked.shape == shape);
}

TEST(ArgsortCalls, TypesAreThoseThatAreStored) {
  EXPECT_TRUE(ask(R"(
  func.func @f(%x: tensor<9xi3>) {
    %p = dist.argsort %x dim 0 descending [true] : (tensor<9xi3>) -> tensor<9xi32>
    return
  })")
                  .shape.keys.empty());
}
} // namespace
