//===- Import.h - Phase 0: an ONNX file becomes a program -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads a model as torch.onnx.export writes it, and makes its graph one
// function of stablehlo and chlo ops:
//
//   inputs        arguments, under their names
//   initializers  floats are arguments that become states, whose initial values
//                 are a region of the file; small ones and integers, constants
//   outputs       results; the loss is the first one
//
// All shapes are known when a model is read: the arithmetic on shapes vanishes,
// and symbolic dimensions are bound by `--dim batch=8`.
//
// Tests: test/Import/Onnx, test/EndToEnd/onnx-backend.test
//===----------------------------------------------------------------------===//

#ifndef LLMC_IMPORT_ONNX_IMPORT_H
#define LLMC_IMPORT_ONNX_IMPORT_H

#include "llmc/Import/Onnx/Model.h"
#include "llmc/Import/Program/MakeProgram.h"
#include "llmc/Support/HostTensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include <map>
#include <optional>

namespace llmc::onnx {

struct ReadOptions {
  /// `--dim`: symbolic dimensions, or "<input>.<dimension>" of one without a
  /// name.
  std::vector<std::pair<std::string, int64_t>> dims;
  /// Inputs whose elements are given, as sizes on which shapes depend.
  std::map<std::string, HostTensor> constants;
  /// The axes on which the file's device configurations are layouts, which the
  /// graph then has as annotations; without axes those of the file.
  std::optional<import::MeshAxes> mesh = std::nullopt;
};

/// A graph whose ops are final, before the configuration is asked.
struct ReadGraph {
  mlir::OwningOpRef<ModuleOp> module;
  import::Graph graph;
};

/// Errors: 3 (malformed), 5 (what llmc lacks), 1 and 2 (sizes that are unknown
/// or do not fit). On failure `asked` gets the inputs whose elements had to be
/// known.
rt::Result<ReadGraph> readGraph(MLIRContext &context, const std::string &path,
                                const ReadOptions &options,
                                std::vector<std::string> *asked = nullptr);

/// Reads `path` and makes it a program (the IR after phase 0). Errors: those of
/// `readGraph` and of `makeProgram`.
rt::Result<mlir::OwningOpRef<ModuleOp>>
importOnnx(MLIRContext &context, const std::string &path,
           const import::Options &options, std::string *description = nullptr);

/// The elements of a tensor, in memory. Errors: 3, and 5 for elements that no
/// memory of ours holds.
rt::Result<HostTensor> decode(MLIRContext *context, const Tensor &tensor);

/// Whether a file is one of ONNX: by its name, which ends in ".onnx".
bool isOnnxFile(StringRef path);

/// How often a model has an op, and where first.
struct OpCount {
  /// With its domain where that is not ai.onnx.
  std::string name;
  int64_t count = 0;
  std::string firstNode;
  /// "" where llmc has the op; else why it does not.
  std::string missing;
};
/// The ops of a model, those of functions and inner graphs included.
rt::Result<std::vector<OpCount>> listOps(const std::string &path);

/// An op that llmc imports.
struct KnownOp {
  /// "Conv", or "com.microsoft.FastGelu".
  std::string name;
  /// The newest version of the operator set in which it is known.
  int64_t newest = 0;
};
/// By name.
std::vector<KnownOp> listKnownOps();

} // namespace llmc::onnx

#endif // LLMC_IMPORT_ONNX_IMPORT_H
