//===- RandomPrograms.h - Small random graphs over all ops ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Texts of straight-line functions for property tests: what holds for every
// graph (a transform keeps the values, the derivative agrees with differences,
// kernels agree with the interpreter) is checked on many of them. A text is a
// pure function of its options, so a failing seed is a test case.
//
// Each recipe adds one op, with others around it that keep its operands in its
// domain: values stay between -4 and 4 or so, whatever the depth. The first op
// of a program can be chosen, so that a loop over recipes meets every op.
//
//   for (int recipe = 0; recipe < getNumRecipes(options); ++recipe) {
//     options.firstRecipe = recipe;
//     std::string text = makeProgram(options);
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TEST_INTERPRETER_RANDOMPROGRAMS_H
#define LLMC_TEST_INTERPRETER_RANDOMPROGRAMS_H

#include <cstdint>
#include <string>
#include <vector>

namespace llmc::test {

struct ProgramOptions {
  uint64_t seed = 1;
  int numRecipes = 10;
  /// Float type of arguments, results and all float values.
  std::string element = "f64";
  /// Only ops that can be differentiated, away from their kinks: for central
  /// differences.
  bool smooth = false;
  /// The recipe of the first op; -1: random.
  int firstRecipe = -1;
  std::string name = "f";
  /// Of the arguments; the first has at least two dims.
  std::vector<std::vector<int64_t>> shapes = {{4, 6}, {2, 4, 6}, {6}};
};

/// @name with float arguments and all float values that nobody
/// uses as results.
std::string makeProgram(const ProgramOptions &options);

/// How many recipes the options allow, and their names.
int getNumRecipes(const ProgramOptions &options);
const char *getRecipeName(const ProgramOptions &options, int recipe);

/// A number from the environment, by which a run tries other programs or more:
/// LLMC_TEST_SEED, LLMC_TEST_CASES.
uint64_t readSetting(const char *name, uint64_t otherwise);

} // namespace llmc::test

#endif // LLMC_TEST_INTERPRETER_RANDOMPROGRAMS_H
