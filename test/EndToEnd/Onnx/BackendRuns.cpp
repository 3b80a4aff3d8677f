//===- BackendRuns.cpp - What runs a test of ONNX's backends --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BackendRuns.h"
#include "Compile.h"
#include "llmc/Interpreter/Interpreter.h"
#include "llmc/Runtime/Base/File.h"
#include "llmc/Runtime/Executor/RunLoop.h"
#include "llmc/Runtime/Executor/Session.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::onnxtest;
using rt::ErrorKind;

rt::Result<std::vector<HostTensor>>
onnxtest::runByInterpreter(MLIRContext &context, BackendCase &test) {
  LLMC_TRY_ASSIGN(onnx::ReadGraph graph, readGraphOf(context, test));
  SmallVector<HostTensor> arguments, results;
  for (unsigned i = 0; i < graph.graph.arguments.size(); ++i) {
    LLMC_TRY_ASSIGN(HostTensor value, readArgument(test, graph, i));
    arguments.push_back(value);
  }
  Interpreter interpreter;
  if (failed(interpreter.interpret(graph.graph.main, arguments, results)))
    return rt::makeError(ErrorKind::internal, "interpretation failed");
  return std::vector<HostTensor>(results.begin(), results.end());
}

rt::Result<std::vector<HostTensor>> onnxtest::runByKernels(MLIRContext &context,
                                                           BackendCase &test) {
  return rt::makeError(ErrorKind::internal, "not there");
}
