//===- HostTensor.h - A whole tensor in host memory -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a session takes and gives back by name: row-major elements of a whole
// tensor, whatever its layout on the devices.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_RUNTIME_EXECUTOR_HOSTTENSOR_H
#define LLMC_RUNTIME_EXECUTOR_HOSTTENSOR_H

#include "llmc/Runtime/Base/DType.h"
#include "llmc/Runtime/Base/Status.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace llmc::rt {

struct HostTensor {
  DType dtype = DType::f32;
  std::vector<int64_t> shape;
  std::vector<std::byte> bytes;
  /// The last dim, of size 2, counts the real and the imaginary part.
  bool isComplex = false;

  static HostTensor zeros(DType dtype, std::vector<int64_t> shape);
  int64_t elements() const;
  double at(int64_t index) const {
    return loadElement(dtype, bytes.data(), index);
  }
};

/// A part of a complex tensor, without its last dim; 0: the real one.
HostTensor takePart(const HostTensor &complex, int part);
/// A complex tensor of two of equal shape and type; of f32 where NumPy has no
/// complex numbers of the type.
HostTensor joinParts(const HostTensor &real, const HostTensor &imag);
/// "f32[2, 3]", and "complex f32[2, 3]" of a complex tensor.
std::string printType(const HostTensor &tensor);

/// NumPy's format 1.0 and 2.0: little-endian, C order, no objects. Errors name
/// the file and the byte.
Result<HostTensor> readNpy(const std::string &path);
Status writeNpy(const HostTensor &tensor, const std::string &path);

/// The header of an .npy file: where the elements begin, and what they are.
struct NpyHeader {
  DType dtype = DType::f32;
  std::vector<int64_t> shape;
  uint64_t dataOffset = 0;
  /// As of a HostTensor, with the last dim in `shape`.
  bool isComplex = false;
};
Result<NpyHeader> parseNpyHeader(const uint8_t *data, uint64_t size);

/// `[[1, 2], [3, 4]]`, at most `limit` elements; complex ones as `1-2j`.
std::string printElements(const HostTensor &tensor, int64_t limit = 64);

} // namespace llmc::rt

#endif // LLMC_RUNTIME_EXECUTOR_HOSTTENSOR_H
