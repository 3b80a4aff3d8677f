//===- Json.h - Text in JSON ------------------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_RUNTIME_BASE_JSON_H
#define LLMC_RUNTIME_BASE_JSON_H

#include <string>
#include <string_view>

namespace llmc::rt {

/// The text with quotes around it, and with what JSON wants escaped.
std::string quoteAsJson(std::string_view text);

} // namespace llmc::rt

#endif // LLMC_RUNTIME_BASE_JSON_H
