//===- Remarks.cpp - What passes say of their decisions -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Remarks.h"
#include "llmc/Runtime/Base/File.h"
#include "llmc/Runtime/Base/Log.h"
#include "llmc/Support/FirstError.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::driver;

/// Names come from files: no control characters, and no word without end.
static std::string tidy(StringRef text) {
  constexpr size_t longest = 200, most = size_t(1) << 14;
  std::string tidied;
  size_t word = 0;
  for (char c : text) {
    word = c == ' ' ? 0 : word + 1;
    tidied += word <= longest       ? std::string(1, c)
              : word == longest + 1 ? std::string("...")
                                    : std::string();
  }
  return rt::escape(tidied, most);
}

/// What the origin of a value is has several lines.
static std::string tidyLines(StringRef text) {
  SmallVector<StringRef> lines;
  text.split(lines, '\n');
  return llvm::join(llvm::map_range(lines, tidy), "\n");
}

namespace {
class Collector : public remark::detail::MLIRRemarkStreamerBase {
public:
  explicit Collector(std::vector<Remark> &all) : all(all) {}

  void streamOptimizationRemark(const remark::detail::Remark &remark) override {
    std::string text;
    for (const remark::detail::Remark::Arg &argument : remark.getArgs())
      text += argument.val;
    all.push_back(
        {remark.getCategoryName().str(), remark.getRemarkName().str(),
         tidy(describeLocation(remark.getLocation())),
         remark.getCategoryName() == "origins" ? tidyLines(text) : tidy(text),
         1});
  }

private:
  std::vector<Remark> &all;
};
} // namespace

Remarks::Remarks(MLIRContext &context, RemarkKinds kinds) {
  if (kinds == RemarkKinds::None)
    return;
  remark::RemarkCategories categories;
  categories.analysis = kinds == RemarkKinds::Values     ? "origins|costs|hints"
                        : kinds == RemarkKinds::Training ? "training"
                                                         : "costs|hints";
  if (kinds == RemarkKinds::All || kinds == RemarkKinds::Values) {
    categories.passed = "memory|kernels|layouts|segments";
    categories.missed =
        kinds == RemarkKinds::Values ? "kernels|layouts" : "kernels";
  }
  (void)remark::enableOptimizationRemarks(
      context, std::make_unique<Collector>(all),
      std::make_unique<remark::RemarkEmittingPolicyAll>(), categories);
}

rt::Status Remarks::write(const std::string &path) const {
  std::string text;
  for (const Remark &remark : all)
    if (remark.category == "costs" || remark.category == "hints")
      text += (remark.place.empty() ? "" : remark.place + ": ") + remark.name +
              ": " + remark.text + "\n";
  return rt::writeFileAtomically(path, text);
}
