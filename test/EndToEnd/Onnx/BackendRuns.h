//===- BackendRuns.h - What runs a test of ONNX's backends ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TEST_ENDTOEND_ONNX_BACKENDRUNS_H
#define LLMC_TEST_ENDTOEND_ONNX_BACKENDRUNS_H

#include "BackendCase.h"

namespace llmc::onnxtest {

/// The model's outputs by plain loops.
rt::Result<std::vector<HostTensor>> runByInterpreter(MLIRContext &context,
                                                     BackendCase &test);
/// The same by the plan that `llmc compile` makes, with all inputs as states.
rt::Result<std::vector<HostTensor>> runByKernels(MLIRContext &context,
                                                 BackendCase &test);
/// The same by the local programs of 2 or 4 devices in lockstep, with layouts
/// of the inputs that `seed` draws.
rt::Result<std::vector<HostTensor>> runOnDevices(MLIRContext &context,
                                                 BackendCase &test,
                                                 int64_t devices,
                                                 uint64_t seed);

} // namespace llmc::onnxtest

#endif // LLMC_TEST_ENDTOEND_ONNX_BACKENDRUNS_H
