//===- BackendCase.cpp - One test of ONNX's backends ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BackendCase.h"
#include "llmc/Import/Onnx/Model.h"
#include "llmc/Runtime/Base/File.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include <cmath>

using namespace mlir;
using namespace llmc;
using namespace llmc::onnxtest;
using rt::ErrorKind;

static rt::Result<HostTensor> readTensorFile(MLIRContext &context,
                                             const std::string &path) {
  LLMC_TRY_ASSIGN(rt::MappedFile file, rt::MappedFile::open(path));
  LLMC_TRY_ASSIGN(onnx::Tensor tensor, onnx::readTensor(file.text(), path));
  return onnx::decode(&context, tensor);
}

/// Symbolic dimensions take the sizes of the elements that are given.
static void bindDims(const onnx::ValueInfo &input, const HostTensor &value,
                     onnx::ReadOptions &options) {
  if (!input.shape)
    return;
  for (auto [i, dim] : llvm::enumerate(*input.shape)) {
    if (dim.value || i >= value.getShape().size())
      continue;
    std::string name = dim.parameter.empty()
                           ? std::string(input.name) + "." + std::to_string(i)
                           : std::string(dim.parameter);
    options.dims.push_back({name, value.getShape()[i]});
  }
}

rt::Result<BackendCase> onnxtest::readCase(MLIRContext &context,
                                           const std::string &folder) {
  BackendCase test;
  test.model = folder + "/model.onnx";
  LLMC_TRY_ASSIGN(rt::MappedFile file, rt::MappedFile::open(test.model));
  LLMC_TRY_ASSIGN(onnx::Model model, onnx::readModel(file.text(), test.model));
  std::string data = folder + "/test_data_set_0/";
  for (auto [i, input] : llvm::enumerate(model.graph.inputs)) {
    std::string path = data + "input_" + std::to_string(i) + ".pb";
    // The last ones may be initializers, of which there is no file.
    if (!llvm::sys::fs::exists(path))
      continue;
    LLMC_TRY_ASSIGN(HostTensor value, readTensorFile(context, path));
    bindDims(input, value, test.options);
    test.inputNames.push_back(std::string(input.name));
    test.inputs[test.inputNames.back()] = value;
  }
  for (auto [i, output] : llvm::enumerate(model.graph.outputs)) {
    LLMC_TRY_ASSIGN(
        HostTensor value,
        readTensorFile(context, data + "output_" + std::to_string(i) + ".pb"));
    test.outputNames.push_back(std::string(output.name));
    test.outputs.push_back(value);
  }
  return test;
}

rt::Result<onnx::ReadGraph> onnxtest::readGraphOf(MLIRContext &context,
                                                  BackendCase &test) {
  while (true) {
    std::vector<std::string> asked;
    rt::Result<onnx::ReadGraph> graph =
        onnx::readGraph(context, test.model, test.options, &asked);
    bool isNew = false;
    for (const std::string &name : asked)
      if (auto value = test.inputs.find(name); value != test.inputs.end())
        isNew |= test.options.constants.emplace(name, value->second).second;
    if (graph || !isNew)
      return graph;
  }
}

rt::Result<HostTensor> onnxtest::readArgument(const BackendCase &test,
                                              const onnx::ReadGraph &graph,
                                              unsigned i) {
  auto input = test.inputs.find(graph.graph.arguments[i].fullName());
  func::FuncOp main = graph.graph.main;
  HostTensor value(cast<RankedTensorType>(main.getArgument(i).getType()));
  auto source = dyn_cast_or_null<dist::FileAttr>(graph.graph.given[i]->source);
  if (input != test.inputs.end() && !source) {
    // Files of before there was the type have its bits.
    if (value.getElementType().isBF16() &&
        input->second.getElementType().isUnsignedInteger(16))
      // Of `like`, of which the type alone is read, some have one element.
      return input->second.getNumBytes() == value.getNumBytes()
                 ? input->second.viewAs(value.getType())
                 : value;
    if (input->second.getType() != value.getType())
      return rt::makeError(
          ErrorKind::malformed,
          "expected an input of the model's type, got another");
    return input->second;
  }
  if (graph.graph.given[i]->kind == import::GivenState::Kind::Carried)
    return value;
  if (!source)
    return rt::makeError(ErrorKind::malformed,
                         "expected elements of '" +
                             graph.graph.arguments[i].fullName() +
                             "', got none");
  LLMC_TRY_ASSIGN(rt::MappedFile file,
                  rt::MappedFile::open(source.getPath().str()));
  std::memcpy(value.mutableBytes(), file.data() + source.getOffset(),
              source.getBytes());
  return value;
}

std::string onnxtest::compare(const HostTensor &expected,
                              const HostTensor &got) {
  if (got.getElementType().isBF16() &&
      expected.getElementType().isUnsignedInteger(16))
    return compare(expected.viewAs(got.getType()), got);
  if (expected.getType() != got.getType())
    return "another type";
  double relative = 1e-3, absolute = 1e-7;
  if (expected.isFloat() && expected.getElementBytes() == 2)
    absolute = 1e-2;
  for (int64_t i = 0; i < expected.getNumElements(); ++i) {
    if (!expected.isFloat()) {
      if (expected.getInt(i) != got.getInt(i))
        return "element " + std::to_string(i) + ": expected " +
               std::to_string(expected.getInt(i)) + ", got " +
               std::to_string(got.getInt(i));
      continue;
    }
    double want = expected.getFloat(i), is = got.getFloat(i);
    bool fits = std::isnan(want)   ? std::isnan(is)
                : std::isinf(want) ? want == is
                                   : std::abs(want - is) <=
                                         absolute + relative * std::abs(want);
    if (!fits)
      return "element " + std::to_string(i) + ": expected " +
             std::to_string(want) + ", got " + std::to_string(is);
  }
  return "";
}
