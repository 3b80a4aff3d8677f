//===- OnnxBytes.h - Writes the bytes of ONNX messages ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Enough of the format for tests to write models by hand:
//
//   model(7, node("Relu", {"x"}, {"y"}) + input("x", 1, {2}) + output("y", ..))
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TEST_IMPORT_ONNX_ONNXBYTES_H
#define LLMC_TEST_IMPORT_ONNX_ONNXBYTES_H

#include <cstdint>
#include <string>
#include <vector>

namespace llmc::test {

inline std::string varint(uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7)
    bytes += static_cast<char>(value | 0x80);
  return bytes + static_cast<char>(value);
}

/// A field of variable length.
inline std::string number(uint32_t field, int64_t value) {
  return varint(field << 3) + varint(static_cast<uint64_t>(value));
}

/// A text, a message, or a list in one piece.
inline std::string bytes(uint32_t field, const std::string &value) {
  return varint(field << 3 | 2) + varint(value.size()) + value;
}

inline std::string node(const std::string &op,
                        const std::vector<std::string> &inputs,
                        const std::vector<std::string> &outputs,
                        const std::string &attributes = "") {
  std::string message;
  for (const std::string &name : inputs)
    message += bytes(1, name);
  for (const std::string &name : outputs)
    message += bytes(2, name);
  return bytes(1, message + bytes(4, op) + attributes);
}

/// An attribute of a node.
inline std::string attribute(const std::string &name, const std::string &value,
                             int64_t type) {
  return bytes(5, bytes(1, name) + value + number(20, type));
}

/// A tensor; `data` are the fields with its elements.
inline std::string tensor(const std::string &name, int64_t type,
                          const std::vector<int64_t> &dims,
                          const std::string &data) {
  std::string message;
  for (int64_t dim : dims)
    message += number(1, dim);
  return message + number(2, type) + bytes(8, name) + data;
}

inline std::string initializer(const std::string &name, int64_t type,
                               const std::vector<int64_t> &dims,
                               const std::string &data) {
  return bytes(5, tensor(name, type, dims, data));
}

/// A name with its type; a dimension below 0 is the parameter "d<number>".
inline std::string value(uint32_t field, const std::string &name, int64_t type,
                         const std::vector<int64_t> &dims) {
  std::string shape;
  for (int64_t dim : dims)
    shape += bytes(1, dim < 0 ? bytes(2, "d" + std::to_string(-dim))
                              : number(1, dim));
  std::string tensorType = number(1, type) + bytes(2, shape);
  return bytes(field, bytes(1, name) + bytes(2, bytes(1, tensorType)));
}
inline std::string input(const std::string &name, int64_t type,
                         const std::vector<int64_t> &dims) {
  return value(11, name, type, dims);
}
inline std::string output(const std::string &name, int64_t type,
                          const std::vector<int64_t> &dims) {
  return value(12, name, type, dims);
}

inline std::string model(const std::string &graph, int64_t version = 18) {
  return number(1, 8) + bytes(7, graph) + bytes(8, number(2, version));
}

/// The bytes of numbers as they are in memory.
template <typename T> std::string raw(const std::vector<T> &values) {
  return {reinterpret_cast<const char *>(values.data()),
          values.size() * sizeof(T)};
}

} // namespace llmc::test

#endif // LLMC_TEST_IMPORT_ONNX_ONNXBYTES_H
