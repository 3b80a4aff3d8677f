//===- Wire.h - Messages as they are stored ---------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A message is a row of fields: a number, how the value is stored, the value.
// Unknown fields are skipped, lists come in one piece or element by element,
// and the last occurrence of a single value counts.
//
//   08 0A            field 1, variable length: 10
//   3A 02 0A 00      field 7, two bytes: a message with an empty field 1
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_IMPORT_ONNX_WIRE_H
#define LLMC_LIB_IMPORT_ONNX_WIRE_H

#include "llmc/Runtime/Base/Status.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace llmc::onnx {

enum class Wire : uint8_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

struct Field {
  uint32_t number = 0;
  Wire wire = Wire::varint;
  /// Of all wires but `bytes`.
  uint64_t bits = 0;
  std::string_view bytes;
};

/// Reads the messages of one file, and knows where it stands.
class WireReader {
public:
  using Visit = llvm::function_ref<rt::Status(const Field &)>;

  WireReader(std::string_view file, const std::string &name)
      : file(file), name(name) {}

  /// Calls `visit` for each field of a message.
  rt::Status eachField(std::string_view message, Visit visit);
  /// The same for the message in a field; `what` and `index` are its step of
  /// the path in errors.
  rt::Status eachFieldOf(const Field &field, const char *what, int64_t index,
                         Visit visit);

  rt::Status read(const Field &field, const char *what, std::string_view &text);
  rt::Status read(const Field &field, const char *what, int64_t &value);
  rt::Status read(const Field &field, const char *what, float &value);
  /// Appends the elements of a list.
  rt::Status append(const Field &field, const char *what,
                    std::vector<int64_t> &values);
  rt::Status append(const Field &field, const char *what,
                    std::vector<float> &values);
  rt::Status append(const Field &field, const char *what,
                    std::vector<double> &values);

  /// An error at `place`, a view of the file's bytes.
  rt::Status refuse(const char *what, std::string_view place,
                    const std::string &message) const;

private:
  rt::Status expect(const Field &field, Wire wire, const char *what) const;

  struct Step {
    const char *what;
    int64_t index;
  };
  std::string_view file;
  std::string name;
  std::vector<Step> path;
  int64_t numMessages = 0;
  /// First bytes of the field that is read.
  std::string_view at;
};

} // namespace llmc::onnx

#endif // LLMC_LIB_IMPORT_ONNX_WIRE_H
