//===- ImageChoice.cpp - Which code of a kernel suits a GPU ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/Runtime/Backends/Cuda/ImageChoiceTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "ImageChoice.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace llmc::rt::cuda {

Result<Architecture> parseArchitecture(const std::string &text) {
  constexpr std::string_view prefix = "sm_";
  Architecture parsed;
  size_t at = prefix.size();
  bool isWrong = text.compare(0, prefix.size(), prefix) != 0;
  size_t digits = 0;
  for (; !isWrong && at < text.size() && text[at] >= '0' && text[at] <= '9';
       ++at, ++digits) {
    isWrong = digits == 4;
    parsed.number = 10 * parsed.number + (text[at] - '0');
  }
  parsed.isExact = text.substr(std::min(at, text.size())) == "a";
  if (isWrong || digits < 2 || (at != text.size() && !parsed.isExact)) {
    return makeError(ErrorKind::mismatch,
                     fmt::format("expected an architecture like 'sm_90', got "
                                 "'{}'",
                                 text));
  }
  return parsed;
}

/// How well code suits the GPU: 0 not at all; cubins before PTX, then the
/// newest.
static int suits(KernelFormat format, const Architecture &code,
                 int capability) {
  if (code.number > capability || (code.isExact && code.number != capability)) {
    return 0;
  }
  if (format == KernelFormat::cubin) {
    constexpr int beforePtx = 1 << 20;
    return code.number / 10 == capability / 10 ? beforePtx + code.number : 0;
  }
  return format == KernelFormat::ptx ? code.number : 0;
}

Result<const KernelImageView *> chooseImage(const KernelShape &shape,
                                            int capability) {
  const KernelImageView *best = nullptr;
  int mark = 0;
  std::vector<std::string> seen;
  for (const KernelImageView &image : shape.images) {
    seen.push_back(fmt::format(
        "{} {}", nameOf(image.format),
        image.architecture.empty() ? "of any" : image.architecture));
    if (image.format == KernelFormat::object) {
      continue;
    }
    LLMC_TRY_ASSIGN(Architecture code, parseArchitecture(image.architecture));
    if (int own = suits(image.format, code, capability); own > mark) {
      mark = own;
      best = &image;
    }
  }
  if (!best) {
    return makeError(
               ErrorKind::mismatch,
               fmt::format("expected code of kernel '{}' for a GPU of compute "
                           "capability {}.{}, got {}",
                           shape.name, capability / 10, capability % 10,
                           seen.empty()
                               ? "none"
                               : fmt::format("{}", fmt::join(seen, ", "))))
        .withHint("compile the plan for this GPU");
  }
  return best;
}

} // namespace llmc::rt::cuda
