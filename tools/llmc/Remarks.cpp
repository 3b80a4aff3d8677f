//===- Remarks.cpp - What a program costs, as a file ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Remarks.h"
#include "llmc/Runtime/Base/File.h"
#include "llmc/Support/FirstError.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::driver;

namespace {
class Lines : public remark::detail::MLIRRemarkStreamerBase {
public:
  explicit Lines(std::string &text) : text(text) {}

  void streamOptimizationRemark(const remark::detail::Remark &remark) override {
    text += describePlace(remark.getLocation()) + remark.getRemarkName().str() +
            ": ";
    for (const remark::detail::Remark::Arg &argument : remark.getArgs())
      text += argument.val;
    text += "\n";
  }

private:
  std::string &text;
};
} // namespace

RemarkFile::RemarkFile(MLIRContext &context, std::string path)
    : path(std::move(path)) {
  if (this->path.empty())
    return;
  remark::RemarkCategories costs;
  costs.analysis = "costs";
  (void)remark::enableOptimizationRemarks(
      context, std::make_unique<Lines>(text),
      std::make_unique<remark::RemarkEmittingPolicyAll>(), costs);
}

rt::Status RemarkFile::write() const {
  return path.empty() ? rt::Status::success()
                      : rt::writeFileAtomically(path, text);
}
