//===- Strict.cpp - Remarks that are errors -------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Strict.h"
#include "Places.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace llmc;
using namespace llmc::driver;

static constexpr size_t kMostPlaces = 10;

/// The word of `--strict` for a remark's name; remarks are named by what is
/// there, words by what is forbidden.
static StringRef wordOf(const Remark &remark) {
  return remark.name == "replication" ? StringRef("replicate")
                                      : StringRef(remark.name);
}

rt::Status driver::checkStrict(const Remarks &remarks, const Options &options) {
  if (options.strict.empty())
    return rt::Status::success();
  std::vector<const Remark *> found;
  for (const Remark &remark : remarks.list())
    if (remark.category == "costs" &&
        llvm::is_contained(options.strict, wordOf(remark)))
      found.push_back(&remark);
  if (found.empty())
    return rt::Status::success();
  Places places(options.input);
  for (const Remark *remark : llvm::ArrayRef(found).take_front(kMostPlaces))
    llvm::errs() << places.resolve(remark->place) << ": " << wordOf(*remark)
                 << ": " << remark->text << "\n";
  if (found.size() > kMostPlaces)
    llvm::errs() << "and " << found.size() - kMostPlaces << " more\n";
  return rt::makeError(rt::ErrorKind::diagnosed,
                       "--strict: expected no " +
                           llvm::join(options.strict, ", ") + ", got " +
                           std::to_string(found.size()) + ", the first at " +
                           places.resolve(found.front()->place))
      .withHint("llmc explain says what they cost");
}
