//===- Signature.h - The ports of a function --------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The one reader and writer of `dist.port`.
//
//   func @f(%w: ... {dist.port = #dist.port<parameter @w>}, ...)
//       -> (... {dist.port = #dist.port<gradient @w>})
//
// A function keeps the attributes of all its arguments as one uniqued array,
// and so those of its results: to set one makes an array as long as the
// signature, which lives as long as the context. So ports are changed in a
// Signature and written together.
//
// Test: test/Dialect/Dist/IR/SignatureTest.cpp
//===----------------------------------------------------------------------===//

#ifndef LLMC_DIALECT_DIST_IR_SIGNATURE_H
#define LLMC_DIALECT_DIST_IR_SIGNATURE_H

#include "llmc/Dialect/Dist/IR/Dist.h"
#include "llmc/Support/LLVM.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include <optional>

namespace llmc::dist {

/// The mark of an argument or result.
constexpr llvm::StringLiteral kPort = "dist.port";

/// The port of one argument or result; null where it has none.
PortAttr getArgumentPort(mlir::FunctionOpInterface function, unsigned i);
PortAttr getResultPort(mlir::FunctionOpInterface function, unsigned i);

// What a port says; of a null port nothing.

bool isPort(PortAttr port, PortKind kind);
bool isAnyPort(PortAttr port, ArrayRef<PortKind> kinds);
bool isScalarSum(PortAttr port);
bool isSum(PortAttr port);
/// A slot that each microbatch writes once, not a state, sum or metric.
bool isOfMicrobatch(PortAttr port);
/// The state that an argument holds or a result replaces.
mlir::FlatSymbolRefAttr getState(PortAttr port);
/// The state whose gradient it is.
mlir::FlatSymbolRefAttr getGradientOf(PortAttr port);
/// The state, or that whose gradient it is.
mlir::FlatSymbolRefAttr getStateOrGradientOf(PortAttr port);
mlir::FlatSymbolRefAttr getHyper(PortAttr port);
mlir::StringAttr getInput(PortAttr port);
/// The name of a metric, also of an output that is one in training.
mlir::StringAttr getMetric(PortAttr port);
LayoutAttr getLayout(PortAttr port);
/// The kind of port of a state of this role.
PortKind getPortKind(Role role);

/// The ports of all arguments and results, null where there is none.
struct Signature {
  SmallVector<PortAttr> arguments, results;

  Signature() = default;
  /// Those of `function`.
  explicit Signature(mlir::FunctionOpInterface function);

  /// The first of this kind, or nothing; with a symbol, the one that names it.
  std::optional<unsigned>
  findArgument(PortKind kind, mlir::FlatSymbolRefAttr symbol = {}) const;
  std::optional<unsigned> findResult(PortKind kind,
                                     mlir::FlatSymbolRefAttr symbol = {}) const;
  /// Sets the layouts of all ports, null ones too. What has a layout has a
  /// port.
  void setLayouts(ArrayRef<LayoutAttr> ofArguments,
                  ArrayRef<LayoutAttr> ofResults);

  /// Makes these the ports of `function`, which has as many arguments and
  /// results. Their other attributes stay where they are: who gives the
  /// function other results takes what stands on the old ones off first.
  void write(mlir::FunctionOpInterface function) const;
};

} // namespace llmc::dist

#endif // LLMC_DIALECT_DIST_IR_SIGNATURE_H
