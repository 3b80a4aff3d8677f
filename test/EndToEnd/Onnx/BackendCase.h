//===- BackendCase.h - One test of ONNX's backends --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A folder with a model, its inputs and the outputs that are expected of it.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TEST_ENDTOEND_ONNX_BACKENDCASE_H
#define LLMC_TEST_ENDTOEND_ONNX_BACKENDCASE_H

#include "llmc/Import/Onnx/Import.h"

namespace llmc::onnxtest {

struct BackendCase {
  std::string model;
  std::vector<std::string> inputNames, outputNames;
  std::map<std::string, HostTensor> inputs;
  std::vector<HostTensor> outputs;
  onnx::ReadOptions options;
};

/// Reads a case; the sizes of its inputs bind symbolic dimensions.
rt::Result<BackendCase> readCase(MLIRContext &context,
                                 const std::string &folder);

/// The graph of its model. An input whose elements have to be known when the
/// model is read is then a constant of it, as it would be in an exported file.
rt::Result<onnx::ReadGraph> readGraphOf(MLIRContext &context,
                                        BackendCase &test);

/// The argument's elements: of an input, or of a weight in a file.
rt::Result<HostTensor> readArgument(const BackendCase &test,
                                    const onnx::ReadGraph &graph, unsigned i);

/// "" where each element of `got` is within 1e-7 and a thousandth of what is
/// expected; floats of 16 bits have a resolution of their own.
std::string compare(const HostTensor &expected, const HostTensor &got);

} // namespace llmc::onnxtest

#endif // LLMC_TEST_ENDTOEND_ONNX_BACKENDCASE_H
