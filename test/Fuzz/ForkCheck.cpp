//===- ForkCheck.cpp - Faults for the driver of the fuzzers ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Inputs that end in every way that the driver tells apart.
//
// Tests: test/Fuzz/driver.test
//===----------------------------------------------------------------------===//

#include "ForkDriver.h"

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {
/// A report where AddressSanitizer is on; elsewhere its exit code.
int readPastTheEnd(const std::string &input) {
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
  std::vector<char> bytes(input.begin(), input.end());
  volatile size_t end = bytes.size();
  return bytes.data()[end];
#endif
#endif
  return input.empty() ? 0 : 99;
}

class FaultSubject : public llmc::test::FuzzSubject {
public:
  std::string name() const override { return "faults"; }
  bool isText() const override { return true; }
  std::string make(uint64_t, int64_t index) const override {
    static const char *const words[] = {"abort", "hang",     "memory",
                                        "ours",  "segment",  "accepted",
                                        "usage", "mismatch", "report"};
    return "line 1\nline 2\n" + std::string(words[index % 9]) + "\nline 3\n";
  }
  int run(const std::string &input, int64_t,
          const std::string &) const override {
    auto says = [&](const char *word) {
      return input.find(word) != std::string::npos;
    };
    if (says("abort")) {
      std::abort();
    }
    if (says("report")) {
      return readPastTheEnd(input);
    }
    if (says("segment")) {
      std::signal(SIGSEGV, SIG_DFL);
      std::raise(SIGSEGV);
    }
    if (says("memory")) {
      std::vector<char *> taken;
      for (;;) {
        constexpr size_t size = 16 << 20;
        taken.push_back(static_cast<char *>(std::malloc(size)));
        std::memset(taken.back(), static_cast<int>(taken.size()), size);
      }
    }
    for (volatile bool endless = says("hang"); endless;) {
    }
    return says("ours") ? 70 : says("usage") ? 2 : says("mismatch") ? 15 : 0;
  }
};
} // namespace

int main(int argc, char **argv) {
  llmc::test::FuzzOptions options = llmc::test::readFuzzOptions(argc, argv);
  options.seconds = 1;
  options.megabytes = 256;
  return llmc::test::fuzz(FaultSubject(), options);
}
