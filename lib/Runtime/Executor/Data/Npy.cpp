//===- Npy.cpp - NumPy's file format --------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   "\x93NUMPY" major minor  header length (2 or 4 bytes, little-endian)
//   {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n  elements
//
// The header is read by a scanner for exactly this form: it is a Python
// dictionary, and nothing of it is evaluated. Tested by
// test/Runtime/Executor/NpyTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Base/CheckedMath.h"
#include "llmc/Runtime/Base/File.h"
#include "llmc/Runtime/Executor/HostTensor.h"

#include <fmt/format.h>

#include <cstring>
#include <optional>

namespace llmc::rt {

constexpr std::string_view magic("\x93NUMPY", 6);
constexpr uint64_t mostHeaderBytes = 64 * 1024;

namespace {

struct TypeName {
  DType dtype;
  std::string_view descr;
  bool isComplex = false;
};
constexpr TypeName typeNames[] = {
    {DType::f64, "<f8"},        {DType::f32, "<f4"},       {DType::f16, "<f2"},
    {DType::i8, "|i1"},         {DType::i16, "<i2"},       {DType::i32, "<i4"},
    {DType::i64, "<i8"},        {DType::u8, "|u1"},        {DType::u16, "<u2"},
    {DType::u32, "<u4"},        {DType::u64, "<u8"},       {DType::i1, "|b1"},
    {DType::f64, "<c16", true}, {DType::f32, "<c8", true},
};

/// Scans the dictionary of a header.
class HeaderScanner {
public:
  explicit HeaderScanner(std::string_view text) : text(text) {}

  Result<NpyHeader> scan() {
    NpyHeader header;
    bool hasType = false, hasOrder = false, hasShape = false, sound = eat('{');
    while (sound && !eat('}')) {
      std::optional<std::string_view> key = word();
      sound = key && eat(':');
      if (sound && *key == "descr" && !hasType) {
        sound = hasType = type(header);
      } else if (sound && *key == "fortran_order" && !hasOrder) {
        sound = hasOrder = literal("False");
      } else if (sound && *key == "shape" && !hasShape) {
        sound = hasShape = tuple(header.shape);
      } else {
        sound = false;
      }
      if (sound && !eat(',')) {
        sound = eat('}');
        break;
      }
    }
    if (!sound || !hasType || !hasOrder || !hasShape) {
      return makeError(ErrorKind::malformed,
                       fmt::format("expected an .npy header with a plain "
                                   "little-endian type, C order and a shape, "
                                   "got something else at character {}",
                                   at));
    }
    if (header.isComplex) {
      header.shape.push_back(2);
    }
    return header;
  }

private:
  void space() {
    while (at < text.size() && (text[at] == ' ' || text[at] == '\n')) {
      ++at;
    }
  }
  bool eat(char c) {
    space();
    bool found = at < text.size() && text[at] == c;
    at += found;
    return found;
  }
  bool literal(std::string_view expected) {
    space();
    bool found = text.substr(at, expected.size()) == expected;
    at += found ? expected.size() : 0;
    return found;
  }
  std::optional<std::string_view> word() {
    if (!eat('\'')) {
      return std::nullopt;
    }
    size_t end = text.find('\'', at);
    if (end == std::string_view::npos) {
      return std::nullopt;
    }
    std::string_view found = text.substr(at, end - at);
    at = end + 1;
    return found;
  }
  bool type(NpyHeader &header) {
    std::optional<std::string_view> name = word();
    for (const TypeName &candidate : typeNames) {
      if (name && *name == candidate.descr) {
        header.dtype = candidate.dtype;
        header.isComplex = candidate.isComplex;
        return true;
      }
    }
    return false;
  }
  bool tuple(std::vector<int64_t> &shape) {
    if (!eat('(')) {
      return false;
    }
    while (!eat(')')) {
      space();
      int64_t value = 0;
      size_t begin = at;
      while (at < text.size() && text[at] >= '0' && text[at] <= '9' &&
             at - begin < 18) {
        value = value * 10 + (text[at++] - '0');
      }
      if (at == begin || shape.size() == 32) {
        return false;
      }
      shape.push_back(value);
      if (!eat(',')) {
        return eat(')');
      }
    }
    return true;
  }

  std::string_view text;
  size_t at = 0;
};

} // namespace

Result<NpyHeader> parseNpyHeader(const uint8_t *data, uint64_t size) {
  Status malformed = makeError(
      ErrorKind::malformed,
      fmt::format("expected an .npy file of version 1 or 2, got {} bytes of "
                  "something else",
                  size));
  if (size < 10 || std::memcmp(data, magic.data(), magic.size()) != 0 ||
      (data[6] != 1 && data[6] != 2) || (data[6] == 2 && size < 12)) {
    return malformed;
  }
  uint64_t begin = data[6] == 1 ? 10 : 12;
  uint64_t length = data[8] | uint64_t(data[9]) << 8;
  if (data[6] == 2) {
    length |= uint64_t(data[10]) << 16 | uint64_t(data[11]) << 24;
  }
  if (length > mostHeaderBytes || length > size - begin) {
    return makeError(ErrorKind::malformed,
                     fmt::format("expected an .npy header of at most {} bytes "
                                 "within the file, got {}",
                                 mostHeaderBytes, length))
        .at("", 8);
  }
  LLMC_TRY_ASSIGN(
      NpyHeader header,
      HeaderScanner({reinterpret_cast<const char *>(data) + begin, length})
          .scan());
  header.dataOffset = begin + length;
  Checked bytes = checkedProduct(header.shape) * sizeOf(header.dtype);
  if (!bytes.valid() ||
      static_cast<uint64_t>(bytes.value()) != size - header.dataOffset) {
    return makeError(ErrorKind::malformed,
                     fmt::format("expected elements of the .npy header's shape "
                                 "to fill the file, got {} bytes",
                                 size - header.dataOffset))
        .at("", header.dataOffset);
  }
  return header;
}

Result<HostTensor> readNpy(const std::string &path) {
  LLMC_TRY_ASSIGN(MappedFile file, MappedFile::open(path));
  Result<NpyHeader> header = parseNpyHeader(file.data(), file.size());
  if (!header) {
    return header.status().at(path);
  }
  HostTensor tensor = HostTensor::zeros(header->dtype, header->shape);
  tensor.isComplex = header->isComplex;
  std::memcpy(tensor.bytes.data(), file.data() + header->dataOffset,
              tensor.bytes.size());
  return tensor;
}

/// "" for a type that NumPy lacks.
static std::string_view findDescr(DType dtype, bool isComplex) {
  for (const TypeName &candidate : typeNames) {
    if (candidate.dtype == dtype && candidate.isComplex == isComplex) {
      return candidate.descr;
    }
  }
  return "";
}

Status writeNpy(const HostTensor &tensor, const std::string &path) {
  // Types that NumPy lacks are widened.
  const HostTensor *source = &tensor;
  HostTensor widened;
  if (findDescr(tensor.dtype, tensor.isComplex).empty()) {
    DType wide = isFloat(tensor.dtype)           ? DType::f32
                 : isSignedInteger(tensor.dtype) ? DType::i8
                                                 : DType::u8;
    widened = HostTensor::zeros(wide, tensor.shape);
    for (int64_t i = 0; i < tensor.elements(); ++i) {
      storeElement(wide, widened.bytes.data(), i, tensor.at(i));
    }
    source = &widened;
  }
  std::string shape;
  for (size_t dim = 0; dim + tensor.isComplex < source->shape.size(); ++dim) {
    shape += fmt::format("{},", source->shape[dim]);
  }
  std::string header =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}",
                  findDescr(source->dtype, tensor.isComplex), shape);
  header.resize((10 + header.size() + 1 + 63) / 64 * 64 - 10, ' ');
  header.back() = '\n';
  std::string file(magic);
  file += {'\1', '\0', static_cast<char>(header.size() & 0xff),
           static_cast<char>(header.size() >> 8)};
  file += header;
  file.append(reinterpret_cast<const char *>(source->bytes.data()),
              source->bytes.size());
  return writeFileAtomically(path, file);
}

} // namespace llmc::rt
