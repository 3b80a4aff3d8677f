//===- Report.cpp - What the stand-ins say, and their numbers -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Core/Report.h"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>

using namespace llmc::standin;

static std::string formatList(const char *format, va_list arguments) {
  char text[2048];
  std::vsnprintf(text, sizeof text, format, arguments);
  return text;
}

void llmc::standin::violation(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  std::string text = formatList(format, arguments);
  va_end(arguments);
  std::fprintf(stderr, "stand-in: %s\n", text.c_str());
  std::fflush(stderr);
  std::abort();
}

void llmc::standin::explain(const char *format, ...) {
  static const bool wanted = environmentNumber("LLMC_STANDIN_EXPLAIN", 0) != 0;
  if (!wanted)
    return;
  va_list arguments;
  va_start(arguments, format);
  std::fprintf(stderr, "stand-in: returns an error: %s\n",
               formatList(format, arguments).c_str());
  va_end(arguments);
}

std::string llmc::standin::format(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  std::string text = formatList(format, arguments);
  va_end(arguments);
  return text;
}

uint64_t llmc::standin::environmentNumber(const char *name,
                                          uint64_t otherwise) {
  const char *text = std::getenv(name);
  if (!text || !*text)
    return otherwise;
  char *end = nullptr;
  uint64_t value = std::strtoull(text, &end, 0);
  if (*end)
    violation("expected %s to be a number, got '%s'", name, text);
  return value;
}

uint64_t llmc::standin::seed() {
  static const uint64_t value = environmentNumber("LLMC_STANDIN_SEED", 1);
  return value;
}
