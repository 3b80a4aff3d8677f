//===- TorchNamesTest.cpp - Names from the notes of PyTorch's exporter ----===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../../../lib/Import/Onnx/TorchNames.h"
#include "../../../lib/Import/Onnx/TorchMetadata.h"

#include <cstring>
#include <gtest/gtest.h>

using namespace llmc;
using namespace llmc::onnx;

namespace {

std::string bytesOf(const std::vector<float> &values) {
  return std::string(reinterpret_cast<const char *>(values.data()),
                     values.size() * sizeof(float));
}

/// A model of one graph with notes, made piece by piece.
class TorchNamesTest : public testing::Test {
protected:
  std::string_view keep(std::string text) {
    texts.push_back(std::move(text));
    return texts.back();
  }
  void sign(std::string text) {
    model.graph.metadata["pkg.torch.export.ExportedProgram.graph_signature"] =
        keep(std::move(text));
  }
  void addTensor(std::string_view name, std::vector<int64_t> dims,
                 const std::vector<float> &values) {
    Tensor tensor;
    tensor.name = name;
    tensor.type = ElementType::f32;
    tensor.dims = std::move(dims);
    tensor.raw = keep(bytesOf(values));
    model.graph.initializers.push_back(std::move(tensor));
  }
  Node &addNode(std::string_view opType, std::vector<std::string_view> inputs,
                std::string call, std::string_view module) {
    Node node;
    node.opType = opType;
    node.inputs = std::move(inputs);
    node.metadata["pkg.torch.onnx.fx_node"] = keep(std::move(call));
    node.metadata["pkg.torch.onnx.name_scopes"] =
        keep("['', '" + std::string(module) + "', 'call']");
    model.graph.nodes.push_back(std::move(node));
    return model.graph.nodes.back();
  }
  rt::Result<TorchNames> restore() {
    return restoreTorchNames(
        model, [](const Tensor &tensor) -> rt::Result<std::string> {
          return std::string(tensor.raw);
        });
  }
  const Tensor *find(std::string_view name) const {
    for (const Tensor &tensor : model.graph.initializers)
      if (tensor.name == name)
        return &tensor;
    return nullptr;
  }

  Model model;
  std::deque<std::string> texts;
};

std::string call(const std::string &name, const std::string &op,
                 const std::string &arguments) {
  return "%" + name +
         " : [num_users=1] = call_function[target=torch.ops.aten." + op +
         "](args = (" + arguments + "), kwargs = {})";
}

TEST_F(TorchNamesTest, ReadsCalls) {
  Node &node = addNode("Attention", {},
                       "%sdpa : [num_users=2] = call_function[target=torch.ops."
                       "aten.f.default](args = (%q, [%k, 4], 0.5), kwargs = "
                       "{is_causal: True, mask: %m})",
                       "h.0.attn");
  std::optional<TorchCall> read = readTorchCall(node);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->name, "sdpa");
  EXPECT_EQ(read->target, "aten.f.default");
  EXPECT_EQ(read->arguments,
            (std::vector<std::string_view>{"%q", "[%k, 4]", "0.5"}));
  EXPECT_EQ(read->operands, (std::vector<std::string_view>{"q", "k", "m"}));
  EXPECT_EQ(read->keywords.at("is_causal"), "True");
  EXPECT_EQ(readTorchModule(node), "h.0.attn");
  node.metadata["pkg.torch.onnx.fx_node"] = "something else";
  EXPECT_FALSE(readTorchCall(node));
}

TEST_F(TorchNamesTest, LeavesFilesWithoutNotes) {
  addTensor("w", {2}, {1, 2});
  rt::Result<TorchNames> names = restore();
  ASSERT_TRUE(names);
  EXPECT_FALSE(names->found);
  EXPECT_TRUE(find("w"));
}

// Two norms share ones and zeros; each has its own after.
TEST_F(TorchNamesTest, UndoesFalseTies) {
  sign("# inputs\np_a_w: PARAMETER target='a.w'\np_a_b: PARAMETER "
       "target='a.b'\np_c_w: PARAMETER target='c.w'\np_c_b: PARAMETER "
       "target='c.b'\nx: USER_INPUT\n");
  addTensor("a.w", {2}, {1, 1});
  addTensor("a.b", {2}, {0, 0});
  addNode("LayerNormalization", {"x", "a.w", "a.b"},
          call("n", "layer_norm.default", "%x, [2], %p_a_w, %p_a_b"), "a");
  addNode("LayerNormalization", {"n", "a.w", "a.b"},
          call("n_1", "layer_norm.default", "%n, [2], %p_c_w, %p_c_b"), "c");
  rt::Result<TorchNames> names = restore();
  ASSERT_TRUE(names) << names.message();
  EXPECT_EQ(names->parameters.size(), 4u);
  EXPECT_EQ(model.graph.nodes[0].inputs[1], "a.w");
  EXPECT_EQ(model.graph.nodes[1].inputs[1], "c.w");
  EXPECT_EQ(model.graph.nodes[1].inputs[2], "c.b");
  ASSERT_TRUE(find("c.w"));
  EXPECT_EQ(find("c.w")->raw, find("a.w")->raw);
}

// A fresh batch norm: scale and variance are ones, bias and mean zeros.
TEST_F(TorchNamesTest, UndoesFalseTiesWithinANode) {
  sign("p_w: PARAMETER target='b.weight'\np_b: PARAMETER "
       "target='b.bias'\nb_m: BUFFER target='b.mean' persistent=True\nb_v: "
       "BUFFER target='b.var' persistent=True\n");
  addTensor("b.weight", {2}, {1, 1});
  addTensor("b.bias", {2}, {0, 0});
  addNode(
      "BatchNormalization", {"x", "b.weight", "b.bias", "b.bias", "b.weight"},
      call("n", "batch_norm.default", "%x, %p_w, %p_b, %b_m, %b_v, True"), "b");
  rt::Result<TorchNames> names = restore();
  ASSERT_TRUE(names) << names.message();
  EXPECT_EQ(model.graph.nodes[0].inputs,
            (std::vector<std::string_view>{"x", "b.weight", "b.bias", "b.mean",
                                           "b.var"}));
  EXPECT_EQ(names->parameters.size(), 2u);
  EXPECT_EQ(names->buffers.size(), 2u);
}

// head.weight is read by rows, and transposed under a number.
TEST_F(TorchNamesTest, TiesWhatWasStoredTwice) {
  sign("p_wte: PARAMETER target='wte.weight'\np_head_weight: PARAMETER "
       "target='head.weight'\n");
  addTensor("head.weight", {2, 3}, {1, 2, 3, 4, 5, 6});
  addTensor("val_7", {3, 2}, {1, 4, 2, 5, 3, 6});
  addNode("Gather", {"head.weight", "tokens"},
          call("embedding", "embedding.default", "%p_head_weight, %tokens"),
          "wte");
  addNode("MatMul", {"x", "val_7"},
          call("linear", "linear.default", "%x, %p_head_weight"), "head");
  rt::Result<TorchNames> names = restore();
  ASSERT_TRUE(names) << names.message();
  EXPECT_EQ(names->parameters.size(), 1u);
  ASSERT_EQ(model.graph.initializers.size(), 1u);
  ASSERT_EQ(model.graph.nodes.size(), 3u);
  EXPECT_EQ(model.graph.nodes[1].opType, "Transpose");
  EXPECT_EQ(model.graph.nodes[1].inputs[0], "head.weight");
  EXPECT_EQ(model.graph.nodes[2].inputs[1], model.graph.nodes[1].outputs[0]);
}

TEST_F(TorchNamesTest, RefusesTiesThatDiffer) {
  sign("p_head_weight: PARAMETER target='head.weight'\n");
  addTensor("head.weight", {2, 3}, {1, 2, 3, 4, 5, 6});
  addTensor("val_7", {3, 2}, {1, 4, 2, 5, 3, 7});
  addNode("Gather", {"head.weight", "tokens"},
          call("embedding", "embedding.default", "%p_head_weight, %tokens"),
          "wte");
  addNode("MatMul", {"x", "val_7"},
          call("linear", "linear.default", "%x, %p_head_weight"), "head");
  rt::Result<TorchNames> names = restore();
  ASSERT_FALSE(names);
  EXPECT_EQ(names.message(),
            "expected tensors 'head.weight' and 'val_7' to be parameter "
            "'head.weight', got elements that differ");
}

/// A table looked up at fixed places is in the file as what came out.
TEST_F(TorchNamesTest, FindsTablesBehindTheirRows) {
  sign("p_wpe_weight: PARAMETER target='wpe.weight'\n");
  addTensor("embedding_1", {1, 2, 2}, {1, 2, 3, 4});
  addNode("Add", {"x", "embedding_1"},
          call("add", "add.Tensor", "%x, %embedding_1"), "");
  rt::Result<TorchNames> names = restore();
  ASSERT_TRUE(names) << names.message();
  ASSERT_TRUE(find("wpe.weight"));
  EXPECT_EQ(find("wpe.weight")->dims, (std::vector<int64_t>{2, 2}));
  EXPECT_EQ(model.graph.nodes[0].opType, "Reshape");
  EXPECT_EQ(model.graph.nodes[1].inputs[1], model.graph.nodes[0].outputs[0]);
}

// One row for all, the first of a class token, and rows that come again.
TEST_F(TorchNamesTest, FindsRowsThatAreRepeated) {
  sign("p_kind_weight: PARAMETER target='kind.weight'\np_cls: PARAMETER "
       "target='cls'\n");
  addTensor("embedding_1", {1, 3, 2}, {1, 2, 1, 2, 1, 2});
  addTensor("expand", {3, 2}, {1, 2, 3, 4, 1, 2});
  addNode("Add", {"x", "embedding_1"},
          call("add", "add.Tensor", "%x, %embedding_1"), "")
      .metadata["pkg.torch.onnx.stack_trace"] = "y = x + kind(ids)";
  addNode("Add", {"x", "expand"}, call("add_1", "add.Tensor", "%x, %expand"),
          "")
      .metadata["pkg.torch.onnx.stack_trace"] = "y = x + cls.expand()";
  rt::Result<TorchNames> names = restore();
  ASSERT_TRUE(names) << names.message();
  ASSERT_TRUE(find("kind.weight"));
  EXPECT_EQ(find("kind.weight")->dims, (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(model.graph.nodes[0].opType, "Expand");
  ASSERT_TRUE(find("cls"));
  EXPECT_EQ(find("cls")->dims, (std::vector<int64_t>{2, 2}));
  EXPECT_EQ(model.graph.nodes[2].opType, "Gather");
  const Tensor *rows = find("expand.rows");
  ASSERT_TRUE(rows);
  EXPECT_EQ(rows->dims, (std::vector<int64_t>{3}));
}

TEST_F(TorchNamesTest, RefusesToGuessBetweenTables) {
  sign("p_a_weight: PARAMETER target='a.weight'\np_b_weight: PARAMETER "
       "target='b.weight'\n");
  addTensor("embedding_1", {2, 2}, {1, 2, 3, 4});
  addNode("Add", {"x", "embedding_1"},
          call("add", "add.Tensor", "%x, %embedding_1"), "");
  rt::Result<TorchNames> names = restore();
  ASSERT_FALSE(names);
  EXPECT_EQ(names.message(),
            "expected one parameter behind tensor 'embedding_1', got "
            "'a.weight' and 'b.weight': the exporter has computed it and keeps "
            "no names");
  EXPECT_NE(names.error().hint.find("optimize=False"), std::string::npos);
}

// The exporter leaves biases of zeros out.
TEST_F(TorchNamesTest, FindsBiasesOfZeros) {
  sign("p_w: PARAMETER target='c.weight'\np_b: PARAMETER target='c.bias'\n");
  addTensor("c.weight", {3, 1, 1, 1}, {1, 2, 3});
  addNode("Conv", {"x", "c.weight"},
          call("conv2d", "conv2d.default", "%x, %p_w, %p_b"), "c");
  rt::Result<TorchNames> names = restore();
  ASSERT_TRUE(names) << names.message();
  EXPECT_EQ(names->zeros.count("c.bias"), 1u);
  ASSERT_TRUE(find("c.bias"));
  EXPECT_EQ(find("c.bias")->dims, (std::vector<int64_t>{3}));
  EXPECT_EQ(model.graph.nodes[0].inputs[2], "c.bias");
}

TEST_F(TorchNamesTest, RefusesFoldedNorms) {
  sign("p_c: PARAMETER target='c.weight'\np_w: PARAMETER "
       "target='bn.weight'\np_b: PARAMETER target='bn.bias'\n");
  addTensor("c.weight", {3, 1, 1, 1}, {1, 2, 3});
  addTensor("c.bias", {3}, {1, 2, 3});
  addNode("Conv", {"x", "c.weight", "c.bias"},
          call("bn", "batch_norm.default", "%conv, %p_w, %p_b, 0.1"), "bn")
      .inputs.pop_back();
  rt::Result<TorchNames> names = restore();
  ASSERT_FALSE(names);
  EXPECT_EQ(names.message(),
            "expected a tensor for parameter 'bn.weight', got nodes of 'bn' "
            "that read 1 tensors for 2 parameters: the exporter has computed "
            "it into others");
}

// scaled_dot_product_attention drops a tenth; the file has no such node, or one
// that drops nothing.
TEST_F(TorchNamesTest, RestoresDropoutOfAttention) {
  sign("x: USER_INPUT\n");
  std::string attention = call("s", "scaled_dot_product_attention.default",
                               "%q, %k, %v, None, 0.1, True");
  addNode("Softmax", {"x"}, attention, "").outputs = {"weights"};
  addNode("MatMul", {"weights", "v"}, attention, "");
  // The names of the nodes that are added live in what restore gives.
  rt::Result<TorchNames> names = restore();
  ASSERT_TRUE(names) << names.message();
  ASSERT_EQ(model.graph.nodes.size(), 3u);
  const Node &dropout = model.graph.nodes[1];
  EXPECT_EQ(dropout.opType, "Dropout");
  EXPECT_EQ(dropout.inputs, (std::vector<std::string_view>{
                                "weights", "weights.ratio", "llmc.true"}));
  EXPECT_EQ(model.graph.nodes[2].inputs[0], dropout.outputs[0]);
  float ratio = 0;
  ASSERT_TRUE(find("weights.ratio"));
  std::memcpy(&ratio, find("weights.ratio")->raw.data(), sizeof(ratio));
  EXPECT_EQ(ratio, 0.1f);

  model.graph.nodes.clear();
  addNode("Dropout", {"weights", "ratio"}, attention, "");
  addNode("MatMul", {"dropped", "v"}, attention, "");
  ASSERT_TRUE(restore());
  ASSERT_EQ(model.graph.nodes.size(), 2u);
  EXPECT_EQ(model.graph.nodes[0].inputs.size(), 3u);
}

// embedding(weight, tokens, 7): row 7 stands for padding.
TEST_F(TorchNamesTest, KeepsPadding) {
  sign("p_w: PARAMETER target='wte.weight'\n");
  addTensor("wte.weight", {2, 2}, {1, 2, 3, 4});
  addNode("Gather", {"wte.weight", "x"},
          call("e", "embedding.default", "%p_w, %x, 7"), "wte");
  addNode("Gather", {"wte.weight", "y"},
          call("e_1", "embedding.default", "%p_w, %y"), "wte");
  ASSERT_TRUE(restore());
  ASSERT_EQ(model.graph.nodes[0].attributes.size(), 1u);
  EXPECT_EQ(model.graph.nodes[0].attributes[0].name, "padding_index");
  EXPECT_EQ(model.graph.nodes[0].attributes[0].i, 7);
  EXPECT_TRUE(model.graph.nodes[1].attributes.empty());
}

// Of two norms of one value with equal weights the exporter leaves one; a
// parameter of the parent's is another name. A file with constants is not
// optimized, so that what is not read serves nothing.
TEST_F(TorchNamesTest, RefusesParametersThatNobodyReads) {
  sign("p_a: PARAMETER target='a.weight'\np_b: PARAMETER "
       "target='b.weight'\n");
  addTensor("a.weight", {2}, {1, 1});
  addNode("Mul", {"x", "a.weight"}, call("m", "mul.Tensor", "%x, %p_a"), "a");
  rt::Result<TorchNames> names = restore();
  ASSERT_FALSE(names);
  EXPECT_EQ(names.message(),
            "expected a tensor for parameter 'b.weight', got none: the "
            "exporter has computed it into others, or left it out beside an "
            "equal one");
  sign("p_a: PARAMETER target='h.a.weight'\np_b: PARAMETER "
       "target='h.weight'\n");
  model.graph.initializers[0].name = "h.a.weight";
  model.graph.nodes[0].inputs[1] = "h.a.weight";
  EXPECT_TRUE(restore());
  sign("p_a: PARAMETER target='a.weight'\np_b: PARAMETER "
       "target='b.weight'\n");
  addNode("Constant", {}, "", "");
  EXPECT_TRUE(restore());
}

// Angles are no parameter that the file has lost, nor is a mask.
TEST_F(TorchNamesTest, TakesNoConstantForAParameter) {
  sign("p_a: PARAMETER target='a.weight'\n");
  addTensor("unsqueeze_3", {1, 2}, {0.5, 0.25});
  addTensor("expand", {2, 2}, {0, 0, 0, 0});
  addNode("Mul", {"x", "unsqueeze_3"},
          call("m", "mul.Tensor", "%x, %unsqueeze_3"), "");
  addNode("Add", {"m", "expand"}, call("s", "add.Tensor", "%m, %expand"), "");
  rt::Result<TorchNames> names = restore();
  ASSERT_FALSE(names);
  EXPECT_EQ(
      names.message().rfind("expected a tensor for parameter 'a.weight'", 0),
      0u);
}

TEST_F(TorchNamesTest, RefusesWhatIsLost) {
  sign("x: USER_INPUT\n");
  addNode("Attention", {"q", "k", "v"},
          call("s", "scaled_dot_product_attention.default",
               "%q, %k, %v, None, 0.1, True"),
          "");
  rt::Result<TorchNames> names = restore();
  ASSERT_FALSE(names);
  EXPECT_EQ(names.message(), "expected the dropout of 's' in the graph, got an "
                             "attention without one");
  model.graph.nodes[0].metadata["pkg.torch.onnx.fx_node"] = keep(
      call("l", "cross_entropy_loss.default", "%x, %y, None, 1, -100, 0.1"));
  names = restore();
  ASSERT_FALSE(names);
  EXPECT_EQ(names.message(),
            "expected the label smoothing of 'l' in the graph, got a loss from "
            "which the exporter left it out");
}

} // namespace
