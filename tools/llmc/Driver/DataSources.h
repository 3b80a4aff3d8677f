//===- DataSources.h - The files of a configuration's sources ---*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TOOLS_LLMC_DATASOURCES_H
#define LLMC_TOOLS_LLMC_DATASOURCES_H

#include "llmc/Runtime/Config/Sources.h"
#include "llmc/Runtime/Executor/Session.h"

namespace llmc::driver {

/// A wrong file is known before the model is compiled.
rt::Status openSources(const std::vector<rt::DataSource> &sources);

/// Gives the session the files of the sources that its plan has, which are
/// those of which a program reads an input.
rt::Status useSources(rt::Session &session,
                      const std::vector<rt::DataSource> &sources);

} // namespace llmc::driver

#endif // LLMC_TOOLS_LLMC_DATASOURCES_H
