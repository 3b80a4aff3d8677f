//===- ModelNames.h - Names of parameters that are ours ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Half of a model's parameters get a name that is a symbol of the compiler's,
// or derived from one of the others, escaped as import writes it. Drawn apart
// from the model, whose text is the same under any names.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TEST_ENDTOEND_PROPERTIES_MODELNAMES_H
#define LLMC_TEST_ENDTOEND_PROPERTIES_MODELNAMES_H

#include "llmc/Runtime/Base/Names.h"

#include <random>
#include <set>
#include <string>
#include <vector>

namespace llmc::test {

class ModelNames {
public:
  explicit ModelNames(uint64_t seed) : engine(seed) {}

  std::string symbolOf(const std::string &name) {
    std::vector<std::string> pool(rt::reservedWords().begin(),
                                  rt::reservedWords().end());
    for (const char *suffix : {".m", ".v", ".0", ".local"})
      pool.push_back(taken.empty() ? "train.c0.F" : *taken.begin() + suffix);
    pool.insert(pool.end(), {"train.microbatch", "t$", "loss_sum"});
    std::string chosen = engine() % 2 ? pool[engine() % pool.size()] : name;
    if (!taken.insert(chosen).second)
      taken.insert(chosen = name);
    return rt::escapeName(chosen);
  }

private:
  std::mt19937_64 engine;
  std::set<std::string> taken;
};

} // namespace llmc::test

#endif // LLMC_TEST_ENDTOEND_PROPERTIES_MODELNAMES_H
