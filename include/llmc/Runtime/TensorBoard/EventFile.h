//===- EventFile.h - Scalars for TensorBoard --------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// TensorBoard reads files of framed records, each a protobuf message `Event`.
// The few fields that scalars take are written by hand:
//
//   record   u64 length | u32 crc(length) | bytes | u32 crc(bytes)
//   Event    1 wall_time: double  2 step: int64  3 file_version: string
//            5 summary { 1 value { 1 tag: string  2 simple_value: float } }
//
// Numbers are little-endian; the sums are CRC-32C, masked as the format says.
//
// Test: test/Runtime/TensorBoard/EventFileTest.cpp
//===----------------------------------------------------------------------===//

#ifndef LLMC_RUNTIME_TENSORBOARD_EVENTFILE_H
#define LLMC_RUNTIME_TENSORBOARD_EVENTFILE_H

#include "llmc/Runtime/Base/AppendFile.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace llmc::rt::tensorboard {

/// CRC-32C (Castagnoli) of the bytes.
uint32_t crc32c(std::string_view bytes);
/// Rotated and shifted, so that sums of texts that hold sums stay useful.
uint32_t maskedCrc32c(std::string_view bytes);

/// A name and a value; a name that is no UTF-8 is mended, one of more than 200
/// bytes is shortened.
using Scalars = std::vector<std::pair<std::string, double>>;

/// The messages, without their frames. `seconds` are those since 1970.
std::string printVersionEvent(double seconds);
std::string printScalarEvent(double seconds, int64_t step,
                             const Scalars &scalars);
/// The message with length and sums.
std::string frameRecord(std::string_view message);

/// A file of its own for each run: `<folder>/events.out.tfevents.<seconds>.
/// <host>.<process>`. What is there already stays, and TensorBoard shows both.
class EventFile {
public:
  /// Makes the folder. Error (2): it cannot be made, or not be written to.
  static Result<EventFile> create(const std::string &folder);

  const std::string &path() const { return file.path(); }
  /// A record that does not fit is left out as a whole. Error: 3.
  Status add(int64_t step, const Scalars &scalars);

private:
  explicit EventFile(AppendFile file) : file(std::move(file)) {}

  AppendFile file;
};

} // namespace llmc::rt::tensorboard

#endif // LLMC_RUNTIME_TENSORBOARD_EVENTFILE_H
