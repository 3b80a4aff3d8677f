//===- DataSources.cpp - The files of a configuration's sources -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DataSources.h"
#include "llmc/Runtime/Executor/Samples.h"
#include "llvm/ADT/STLExtras.h"

using namespace llmc;

rt::Status driver::openSources(const std::vector<rt::DataSource> &sources) {
  rt::DataSets sets(sources.size());
  for (auto [i, source] : llvm::enumerate(sources)) {
    if (!source.files.empty())
      LLMC_TRY(sets.open(i, source.rule, source.files));
    if (!source.evaluationFiles.empty())
      LLMC_TRY(sets.open(i, source.rule, source.evaluationFiles, true));
  }
  return rt::Status::success();
}

static rt::Status useSource(rt::Session &session,
                            const rt::DataSource &source) {
  if (!source.files.empty())
    LLMC_TRY(session.useFiles({source.name, source.files}));
  if (source.evaluationFiles.empty())
    return rt::Status::success();
  return session.useFiles({source.name, source.evaluationFiles, {}, true});
}

rt::Status driver::useSources(rt::Session &session,
                              const std::vector<rt::DataSource> &sources) {
  for (const rt::plan::DataSource &used : session.plan().sources)
    for (const rt::DataSource &source : sources)
      if (source.name == used.name)
        LLMC_TRY(useSource(session, source));
  return rt::Status::success();
}
