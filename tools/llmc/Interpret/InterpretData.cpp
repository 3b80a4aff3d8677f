//===- InterpretData.cpp - Samples of a run, for interpreters -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InterpretData.h"
#include "llmc/Dialect/Dist/IR/RuntimeRules.h"
#include "llmc/Dialect/Dist/IR/Signature.h"
#include "llmc/Runtime/Config/Sources.h"
#include "llmc/Support/Refusal.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::driver;
using rt::ErrorKind;

rt::Status FunctionData::open(func::FuncOp function, const rt::Config &config,
                              int64_t microbatches, bool evaluates) {
  seed = static_cast<uint64_t>(config.training.seed);
  LLMC_TRY_ASSIGN(std::vector<rt::DataSource> sources, rt::findSources(config));
  std::vector<rt::SampleInput> list;
  llvm::StringMap<int> numbers;
  std::vector<rt::DataKind> kinds;
  files = rt::DataSets(sources.size());
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    dist::PortAttr port = dist::getArgumentPort(function, i);
    StringAttr name = dist::getInput(port);
    dist::DataAttr data = port ? port.getData() : dist::DataAttr();
    auto type = dyn_cast<RankedTensorType>(function.getArgument(i).getType());
    std::optional<rt::DType> dtype =
        type ? dist::getRuntimeDType(type.getElementType()) : std::nullopt;
    if (!name || !data || !dtype)
      continue;
    rt::DataRule rule = dist::getRuntimeRule(data);
    auto [number, isNew] = numbers.try_emplace(data.getName(), kinds.size());
    if (isNew) {
      kinds.push_back(rule.kind);
      for (const rt::DataSource &source : sources) {
        if (source.name == data.getName() && !source.files.empty())
          LLMC_TRY(files.open(number->second, rule, source.files));
        if (source.name == data.getName() && !source.evaluationFiles.empty())
          LLMC_TRY(
              files.open(number->second, rule, source.evaluationFiles, true));
      }
    }
    inputs[name.getValue()] = list.size();
    list.push_back({name.str(), number->second, data.getOffset(), *dtype,
                    std::vector<int64_t>(type.getShape()), data.getLimit()});
  }
  samples =
      rt::Samples(std::move(list), std::move(kinds), microbatches, evaluates);
  return samples.bind(files);
}

FailureOr<HostTensor> FunctionData::read(StringRef input, int64_t step,
                                         int64_t microbatch,
                                         RankedTensorType type) const {
  auto refuse = [&](const rt::Status &status) {
    return emitRefusal(UnknownLoc::get(type.getContext()), status.kind())
           << rt::describe(status.error());
  };
  auto found = inputs.find(input);
  if (found == inputs.end())
    return refuse(rt::makeError(ErrorKind::usage, "expected data for input '" +
                                                      input.str() + "'"));
  HostTensor tensor(type);
  rt::Status status = samples.read(found->second, seed, step, microbatch,
                                   tensor.mutableBytes());
  if (!status.ok())
    return refuse(status);
  return tensor;
}
