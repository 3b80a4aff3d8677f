//===- LockstepHarness.h - Random values on a mesh --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What tests of local programs share: a mesh and layouts from their text, whole
// tensors of small integers, and their random terms on devices.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TEST_INTERPRETER_LOCKSTEPHARNESS_H
#define LLMC_TEST_INTERPRETER_LOCKSTEPHARNESS_H

#include "GraphContext.h"
#include "llmc/Interpreter/LockstepInterpreter.h"
#include <random>

namespace llmc::test {

/// The mesh that most tests use.
inline constexpr const char *kSmall = R"(dist.mesh @mesh = <"x"=2, "y"=3>)";

/// The layout written after `@mesh, `, as in `[{"x"}, {}], partial = ...`.
dist::LayoutAttr parseLayout(MLIRContext *context, const std::string &text);

/// `tensor<2x3xf64>` for the local shape of a whole tensor.
std::string localType(dist::LayoutAttr layout, ArrayRef<int64_t> shape,
                      dist::MeshOp mesh, const std::string &element);

/// Small integers, most of them different.
HostTensor drawIntegers(RankedTensorType type, std::mt19937_64 &engine);

/// The devices' parts of `whole`. Over each partial axis the value is cut into
/// random terms; padding is zero, or poison.
DeviceTensors splitIntoTerms(const HostTensor &whole, dist::LayoutAttr layout,
                             const rt::Mesh &mesh, std::mt19937_64 &engine,
                             bool poison = false);

} // namespace llmc::test

#endif // LLMC_TEST_INTERPRETER_LOCKSTEPHARNESS_H
