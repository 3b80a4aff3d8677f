//===- FirstError.cpp - MLIR's diagnostics as one status ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmc/Support/FirstError.h"
#include "llmc/Runtime/Base/Log.h"
#include "llmc/Support/Refusal.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace llmc;
using rt::ErrorKind;

std::string llmc::describeLocation(Location location) {
  std::string text;
  location->walk([&](Location part) {
    if (auto file = dyn_cast<FileLineColLoc>(part)) {
      text.clear();
      llvm::raw_string_ostream(text)
          << file.getFilename().getValue() << ":" << file.getLine() << ":"
          << file.getColumn();
      return WalkResult::interrupt();
    }
    if (auto name = dyn_cast<NameLoc>(part))
      if (text.empty())
        text = "\"" + name.getName().str() + "\"";
    return WalkResult::advance();
  });
  return text;
}

std::string llmc::describePlace(Location location) {
  std::string place = describeLocation(location);
  return place.empty() ? "" : place + ": ";
}

FirstError::FirstError(MLIRContext &context)
    : handler(&context, [this](Diagnostic &diagnostic) {
        if (diagnostic.getSeverity() == DiagnosticSeverity::Warning)
          rt::log(rt::LogLevel::warning,
                  describePlace(diagnostic.getLocation()) + diagnostic.str());
        if (diagnostic.getSeverity() != DiagnosticSeverity::Error)
          return success();
        if (text.empty()) {
          text = describePlace(diagnostic.getLocation()) + diagnostic.str();
          refusal = getRefusalKind(diagnostic);
        }
        return success();
      }) {}

rt::Status FirstError::status(ErrorKind kind, StringRef otherwise) const {
  return rt::makeError(refusal.value_or(kind),
                       text.empty() ? otherwise.str() : text);
}
