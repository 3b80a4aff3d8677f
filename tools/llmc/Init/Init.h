//===- Init.h - A configuration to begin with -------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `llmc init model.mlir -o train.toml` writes what a model needs to be trained:
// sources of data for its inputs, draws for its parameters, layouts for several
// devices, each with a comment. The file is read back and the model imported
// with it, so that `llmc train` takes it as it stands once its data has names.
//
// Test: test/EndToEnd/Families/init.test
//===----------------------------------------------------------------------===//

#ifndef LLMC_TOOLS_LLMC_INIT_H
#define LLMC_TOOLS_LLMC_INIT_H

#include "../Options/Options.h"

namespace llmc::driver {

/// Errors: 5 where llmc lacks ops of the model; those of the import where the
/// configuration is not enough, after it is written; 2 for a file that is
/// there already.
rt::Status runInit(const Options &options);

} // namespace llmc::driver

#endif // LLMC_TOOLS_LLMC_INIT_H
