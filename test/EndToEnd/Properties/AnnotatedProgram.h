//===- AnnotatedProgram.h - Random texts, annotated at random ---*- C++ -*-===//
//-*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A random program twice, as a text that JAX prints: plain, and with all that a
// user may say of a mesh. On arguments, results and values stand shardings by
// axes and parts of axes, with priorities and open dimensions; values lie in
// groups, barriers keep axes from spreading, and functions are manual regions.
// One text has these in `sdy`, another one in strings as JAX prints without
// Shardy. Both texts compute the same.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TEST_ENDTOEND_PROPERTIES_ANNOTATEDPROGRAM_H
#define LLMC_TEST_ENDTOEND_PROPERTIES_ANNOTATEDPROGRAM_H

#include "MeshCase.h"
#include "TextRegions.h"

namespace llmc::test {

struct AnnotatedProgram {
  CaseKind kind = CaseKind::Graph;
  /// Relative distance of a value after a step on f64.
  double tolerance = kStepTolerance;
  std::string plain, annotated;
  /// Configurations: of the plain text, and what is added for the other one.
  std::string config, meshConfig;
  /// As of `--mesh`, for the annotated text.
  std::vector<std::pair<std::string, int64_t>> mesh;
  int64_t numDevices = 1;
  /// How many annotations of each kind the text has.
  std::map<std::string, int> counts;
};

AnnotatedProgram makeAnnotatedProgram(MLIRContext *context, uint64_t seed);

/// Makes one annotation of a text wrong: unknown axes, parts that do not
/// divide, wrong ranks, malformed strings. Nothing where none can be.
std::string spoil(const std::string &text, uint64_t seed, std::string &what);

} // namespace llmc::test

#endif // LLMC_TEST_ENDTOEND_PROPERTIES_ANNOTATEDPROGRAM_H
