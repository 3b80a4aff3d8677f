//===- BackendRuns.cpp - What runs a test of ONNX's backends --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BackendRuns.h"
#include "Driver/Compile.h"
#include "Interpret/InterpretMesh.h"
#include "llmc/Interpreter/Interpreter.h"
#include "llmc/Runtime/Base/File.h"
#include "llmc/Runtime/Executor/RunLoop.h"
#include "llmc/Runtime/Executor/Session.h"
#include "llmc/Transforms/Phases/Phases.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include <random>

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

namespace {
/// A folder that goes when this goes.
struct ScratchFolder {
  llvm::SmallString<128> path;
  ScratchFolder() {
    if (llvm::sys::fs::createUniqueDirectory("llmc-onnx", path))
      path.clear();
  }
  ~ScratchFolder() { (void)llvm::sys::fs::remove_directories(path); }
  std::string file(const std::string &name) const {
    return std::string(path) + "/" + name;
  }
};
} // namespace

/// Makes the inputs constant states, whose elements stand in `path`.
static rt::Status makeStates(BackendCase &test, onnx::ReadGraph &graph,
                             const std::string &path) {
  std::string bytes;
  using Kind = import::GivenState::Kind;
  for (unsigned i = 0; i < graph.graph.arguments.size(); ++i) {
    import::GivenState &given = *graph.graph.given[i];
    if (given.kind != Kind::Input)
      continue;
    LLMC_TRY_ASSIGN(HostTensor value, readArgument(test, graph, i));
    given.kind = Kind::Constant;
    given.source = dist::FileAttr::get(graph.graph.main.getContext(), path,
                                       bytes.size(), value.getNumBytes());
    if (value.getNumBytes())
      bytes.append(value.bytes(), value.getNumBytes());
  }
  for (auto [i, argument] : llvm::enumerate(graph.graph.arguments))
    argument = {"in" + std::to_string(i), ""};
  for (auto [i, result] : llvm::enumerate(graph.graph.results))
    result.output = result.metric = "out" + std::to_string(i);
  return rt::writeFileAtomically(path, bytes);
}

/// Writes the text of the program.
static rt::Status
writeProgram(onnx::ReadGraph &graph, const rt::Config &config,
             const std::string &path,
             std::vector<std::pair<std::string, int64_t>> mesh = {}) {
  import::Options options;
  options.config = config;
  options.meshSizes = std::move(mesh);
  LLMC_TRY(import::makeProgram(graph.graph, options, {}).status());
  import::addForward(graph.graph);
  std::string text;
  llvm::raw_string_ostream os(text);
  graph.module->print(os, OpPrintingFlags().enableDebugInfo());
  return rt::writeFileAtomically(path, text);
}

static HostTensor fromRuntime(const rt::HostTensor &value,
                              RankedTensorType type) {
  HostTensor result(type);
  if (result.getNumBytes())
    std::memcpy(result.mutableBytes(), value.bytes.data(), value.bytes.size());
  return result;
}

rt::Result<std::vector<HostTensor>> onnxtest::runByKernels(MLIRContext &context,
                                                           BackendCase &test) {
  ScratchFolder folder;
  LLMC_TRY_ASSIGN(onnx::ReadGraph graph, readGraphOf(context, test));
  LLMC_TRY(makeStates(test, graph, folder.file("states.bin")));
  LLMC_TRY_ASSIGN(rt::Config config, rt::parseConfig("", "", {}));
  SmallVector<RankedTensorType> types;
  for (Type type : graph.graph.main.getResultTypes())
    types.push_back(cast<RankedTensorType>(type));
  driver::Options options;
  options.command = driver::Command::compile;
  options.input = folder.file("program.mlir");
  options.compileFrom = "import";
  options.fetch = {"*"};
  LLMC_TRY(driver::readEnvironment(options));
  LLMC_TRY(writeProgram(graph, config, options.input));
  LLMC_TRY_ASSIGN(
      std::string plan,
      driver::compileToPlan(context, options, config, folder.file("plan")));
  rt::SessionOptions sessionOptions;
  sessionOptions.trustKernels = true;
  sessionOptions.threads = 1;
  LLMC_TRY_ASSIGN(auto session, rt::openPlanFile(plan, sessionOptions));
  LLMC_TRY(session->run("forward", 0));
  std::vector<HostTensor> results;
  for (size_t i = 0; i < test.outputs.size(); ++i) {
    std::string name = "out" + std::to_string(i);
    rt::Result<rt::HostTensor> value = session->fetch(name);
    // A float scalar that comes first is the loss.
    if (!value && i == 0)
      value = session->fetch("output.loss");
    if (!value)
      return value.status();
    results.push_back(fromRuntime(*value, types[i]));
  }
  return results;
}

/// Each axis splits a dimension of each input, or none.
static std::string drawLayouts(const onnx::ReadGraph &graph, uint64_t seed) {
  std::mt19937_64 draw(seed);
  std::string text = "[mesh]\naxes = [\"data\", \"tensor\"]\n";
  func::FuncOp main = graph.graph.main;
  for (auto [i, argument] : llvm::enumerate(main.getArguments())) {
    ArrayRef<int64_t> shape =
        cast<RankedTensorType>(argument.getType()).getShape();
    std::vector<std::string> dims(shape.size());
    SmallVector<int64_t> parts(shape.size(), 2);
    for (const char *axis : {"data", "tensor"}) {
      // A dimension has at least one element on each device.
      size_t dim = draw() % (shape.size() + 1);
      if (dim == shape.size() || shape[dim] < parts[dim])
        continue;
      parts[dim] *= 2;
      dims[dim] +=
          (dims[dim].empty() ? "\"" : ", \"") + std::string(axis) + "\"";
    }
    text += "[[layout]]\nmatch = \"in" + std::to_string(i) + "\"\nrest = [";
    for (const std::string &dim : dims)
      text += "[" + dim + "], ";
    text += "]\n";
  }
  return text;
}

rt::Result<std::vector<HostTensor>> onnxtest::runOnDevices(MLIRContext &context,
                                                           BackendCase &test,
                                                           int64_t devices,
                                                           uint64_t seed) {
  ScratchFolder folder;
  LLMC_TRY_ASSIGN(onnx::ReadGraph graph, readGraphOf(context, test));
  LLMC_TRY(makeStates(test, graph, folder.file("states.bin")));
  LLMC_TRY_ASSIGN(rt::Config config,
                  rt::parseConfig(drawLayouts(graph, seed), "drawn", {}));
  driver::Options options;
  options.command = driver::Command::interpret;
  options.input = folder.file("program.mlir");
  options.compileFrom = "import";
  LLMC_TRY(writeProgram(graph, config, options.input,
                        {{"data", 2}, {"tensor", devices / 2}}));
  LLMC_TRY_ASSIGN(
      OwningOpRef<ModuleOp> whole,
      driver::compileToPhase(context, options, config, *findPhase("training")));
  LLMC_TRY_ASSIGN(
      OwningOpRef<ModuleOp> local,
      driver::compileToPhase(context, options, config, *findPhase("local")));
  auto entry = whole->lookupSymbol<dist::EntryOp>("forward");
  auto function = whole->lookupSymbol<func::FuncOp>(entry.getFunction());
  StepInterpreter states(*whole);
  driver::MeshRun mesh(std::move(local), *whole, 0);
  StepInterpreter::InputSource none = [](StringRef, int64_t, int64_t,
                                         RankedTensorType) {
    return FailureOr<HostTensor>(failure());
  };
  SmallVector<HostTensor> results;
  if (failed(states.initializeStates(0)) ||
      failed(mesh.start(states.getStates())) ||
      failed(mesh.runEntry("forward", none, function, results)))
    return rt::makeError(ErrorKind::internal, "lockstep failed");
  return std::vector<HostTensor>(results.begin(), results.end());
}
