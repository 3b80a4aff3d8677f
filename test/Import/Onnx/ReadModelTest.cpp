//===- ReadModelTest.cpp - Tests of the reader of ONNX files --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OnnxBytes.h"
#include "llmc/Import/Onnx/Model.h"
#include "gmock/gmock.h"

using namespace llmc;
using namespace llmc::test;
using testing::ElementsAre;
using testing::HasSubstr;

static rt::Result<onnx::Model> read(const std::string &bytes) {
  return onnx::readModel(bytes, "m.onnx");
}

/// The error's line.
static std::string errorOf(const std::string &bytes) {
  rt::Result<onnx::Model> model = read(bytes);
  return model ? "no error" : rt::describe(model.error());
}

TEST(ReadModel, ReadsGraph) {
  std::string bytes =
      model(node("Gemm", {"x", "w", ""}, {"y"},
                 attribute("transB", number(3, 1), 2)) +
            initializer("w", 1, {2, 3},
                        test::bytes(9, raw<float>({1, 2, 3, 4, 5, 6}))) +
            input("x", 1, {-1, 3}) + output("y", 1, {-1, 2}));
  rt::Result<onnx::Model> result = read(bytes);
  ASSERT_TRUE(result) << result.message();
  const onnx::Graph &graph = result->graph;
  EXPECT_EQ(result->versions.at(""), 18);
  ASSERT_EQ(graph.nodes.size(), 1u);
  EXPECT_EQ(graph.nodes[0].opType, "Gemm");
  EXPECT_THAT(graph.nodes[0].inputs, ElementsAre("x", "w", ""));
  EXPECT_EQ(graph.nodes[0].attributes[0].i, 1);
  EXPECT_THAT(graph.initializers[0].dims, ElementsAre(2, 3));
  // A view of the file, never a copy.
  EXPECT_GE(graph.initializers[0].raw.data(), bytes.data());
  EXPECT_LT(graph.initializers[0].raw.data(), bytes.data() + bytes.size());
  EXPECT_EQ((*graph.inputs[0].shape)[0].parameter, "d1");
  EXPECT_EQ((*graph.inputs[0].shape)[1].value, 3);
}

TEST(ReadModel, TakesListsInBothForms) {
  // dims in one piece, integers one by one.
  std::string tensorBytes = test::bytes(1, varint(2) + varint(2)) +
                            number(2, 7) + number(7, 1) + number(7, 2) +
                            number(7, -3) + test::bytes(7, varint(4));
  rt::Result<onnx::Tensor> tensor = onnx::readTensor(tensorBytes, "t.pb");
  ASSERT_TRUE(tensor) << tensor.message();
  EXPECT_THAT(tensor->dims, ElementsAre(2, 2));
  EXPECT_THAT(tensor->integers, ElementsAre(1, 2, -3, 4));
}

TEST(ReadModel, MergesAndSkips) {
  // A message that occurs twice is one, a number that does counts last, and
  // what nobody knows is skipped.
  std::string bytes = number(1, 3) + number(1, 8) + number(999, 5) +
                      test::bytes(7, node("Relu", {"x"}, {"y"})) +
                      test::bytes(7, node("Relu", {"y"}, {"z"}));
  rt::Result<onnx::Model> result = read(bytes);
  ASSERT_TRUE(result) << result.message();
  EXPECT_EQ(result->irVersion, 8);
  EXPECT_EQ(result->graph.nodes.size(), 2u);
}

TEST(ReadModel, TellsScalarFromUnknownRank) {
  std::string scalar = input("x", 1, {});
  std::string unranked = test::bytes(
      11, test::bytes(1, "x") + test::bytes(2, test::bytes(1, number(1, 1))));
  EXPECT_TRUE(read(model(scalar))->graph.inputs[0].shape.has_value());
  EXPECT_FALSE(read(model(unranked))->graph.inputs[0].shape.has_value());
}

TEST(ReadModel, NamesPlaceOfErrors) {
  // The attribute's tensor says that it has more bytes than there are.
  std::string broken = node(
      "Constant", {}, {"y"},
      test::bytes(5, test::bytes(1, "value") + test::bytes(5, "\x4a\x7f")));
  EXPECT_THAT(errorOf(model(node("Relu", {"x"}, {"y"}) + broken)),
              HasSubstr("m.onnx: expected the value of field 9 to end within "
                        "its message, got 1 bytes in "
                        "'graph.node[1].attribute[0].t' at byte 4"));
}

TEST(ReadModel, RefusesBrokenBytes) {
  EXPECT_THAT(errorOf(""),
              HasSubstr("expected a model with a graph, got none"));
  EXPECT_THAT(errorOf("\x07"), HasSubstr("expected the number of a field"));
  EXPECT_THAT(errorOf("\x0b"), HasSubstr("stored as 0, 1, 2 or 5, got 3"));
  EXPECT_THAT(errorOf(std::string(11, '\xff')),
              HasSubstr("expected the number of a field"));
  EXPECT_THAT(errorOf(test::bytes(1, "8")),
              HasSubstr("expected a field stored as 0, got 2 in 'ir_version'"));
  EXPECT_THAT(errorOf(test::bytes(7, number(1, 5))),
              HasSubstr("expected a field stored as 2, got 0 in "
                        "'graph.node' at byte 2"));
  rt::Result<onnx::Tensor> tensor =
      onnx::readTensor(test::bytes(10, "1234567"), "t.pb");
  EXPECT_THAT(tensor.message(), HasSubstr("expected a list of numbers of 8 "
                                          "bytes, got 7 bytes"));
}

/// Bytes and a list of floats, which is as long as they are.
TEST(ReadModel, RefusesTwoListsOfElements) {
  std::string type = number(1, 1) + number(2, 1);
  std::string list = test::bytes(4, "1234"), raw = test::bytes(9, "1234");
  rt::Result<onnx::Tensor> tensor = onnx::readTensor(type + list + raw, "t.pb");
  EXPECT_THAT(tensor.message(),
              HasSubstr("expected elements in one list, got two"));
  // Of a field that occurs twice the last counts.
  std::string twice = type + test::bytes(9, "abcd") + raw;
  tensor = onnx::readTensor(twice, "t.pb");
  ASSERT_TRUE(tensor) << tensor.message();
  EXPECT_EQ(tensor->raw, "1234");
}

TEST(ReadModel, BoundsNesting) {
  std::string graph = node("Relu", {"x"}, {"y"});
  for (int i = 0; i < 40; ++i)
    graph = node(
        "If", {"c"}, {"y"},
        test::bytes(5, test::bytes(1, "then_branch") + test::bytes(6, graph)));
  EXPECT_THAT(errorOf(model(graph)),
              HasSubstr("expected at most 64 messages inside each other"));
}

TEST(ReadModel, BoundsMessages) {
  // Each empty node takes two bytes of the file.
  std::string nodes(10'000'000, '\0');
  for (size_t i = 0; i < nodes.size(); i += 2)
    nodes[i] = '\x0a';
  EXPECT_THAT(errorOf(test::bytes(7, nodes)),
              HasSubstr("expected at most 4194304 messages, got more"));
}
