//===- DeviceTensors.cpp - A value on every device of a mesh --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See DeviceTensors.h.
//
//===----------------------------------------------------------------------===//

#include "llmc/Interpreter/DeviceTensors.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <cstring>
#include <limits>
#include <map>

using namespace mlir;
using namespace llmc;

std::string llmc::describeDevice(const rt::Mesh &mesh, int64_t device) {
  std::vector<int64_t> coordinates = mesh.coordinatesOf(device);
  std::string text;
  for (size_t axis = 0; axis < coordinates.size(); ++axis)
    if (mesh.axes[axis].size > 1)
      text += (text.empty() ? "\"" : ", \"") + mesh.axes[axis].name +
              "\"=" + std::to_string(coordinates[axis]);
  return text.empty() ? "the only one" : text;
}

bool llmc::livesOn(dist::LayoutAttr layout, const rt::Mesh &mesh,
                   int64_t device) {
  std::vector<int64_t> coordinates = mesh.coordinatesOf(device);
  for (dist::PinAttr pin : layout.getAt()) {
    int32_t axis = mesh.axisNamed(pin.getAxis().str());
    if (axis >= 0 &&
        !llvm::is_contained(pin.getCoordinates(), coordinates[axis]))
      return false;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

void llmc::fillWithPoison(HostTensor &tensor) {
  Type type = tensor.getElementType();
  if (type.isInteger(1))
    return;
  int64_t big =
      int64_t(1) << (type.isIndex() ? 40
                                    : type.getIntOrFloatBitWidth() * 5 / 8);
  for (int64_t i = 0; i < tensor.getNumElements(); ++i)
    if (tensor.isFloat())
      tensor.setFloat(i, std::numeric_limits<double>::quiet_NaN());
    else
      tensor.setInt(i, big);
}

static int64_t combineInts(int64_t x, int64_t y, ReductionKind kind,
                           bool isUnsigned) {
  return isUnsigned ? int64_t(combine(kind, uint64_t(x), uint64_t(y)))
                    : combine(kind, x, y);
}

/// sum = sum op term, each element rounded to the type of `sum`.
static void combineInto(HostTensor &sum, const HostTensor &term,
                        ReductionKind kind) {
  for (int64_t i = 0; i < sum.getNumElements(); ++i)
    if (sum.isFloat())
      sum.setFloat(i, combine(kind, sum.getFloat(i), term.getFloat(i)));
    else
      sum.setInt(i, combineInts(sum.getInt(i), term.getInt(i), kind,
                                sum.isUnsigned()));
}

static HostTensor convertFloats(const HostTensor &tensor, Type type) {
  HostTensor result(type, tensor.getShape());
  for (int64_t i = 0; i < tensor.getNumElements(); ++i)
    result.setFloat(i, tensor.getFloat(i));
  return result;
}

HostTensor llmc::combineTensors(ArrayRef<HostTensor> terms,
                                ReductionKind kind) {
  HostTensor sum = terms.front();
  auto type = dyn_cast<FloatType>(sum.getElementType());
  bool isNarrow = type && type.getWidth() < 32;
  if (isNarrow)
    sum = convertFloats(sum, Float32Type::get(type.getContext()));
  for (const HostTensor &term : terms.drop_front())
    combineInto(sum, term, kind);
  return isNarrow ? convertFloats(sum, type) : sum;
}

std::string llmc::compareTensors(const HostTensor &expected,
                                 const HostTensor &got, double tolerance) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (!expected || !got || expected.getType() != got.getType()) {
    os << "expected a value of type ";
    expected ? os << expected.getType() : os << "(none)";
    os << ", got ";
    got ? os << got.getType() : os << "none";
    return text;
  }
  for (int64_t i = 0; i < expected.getNumElements(); ++i) {
    double x = expected.getFloat(i), y = got.getFloat(i);
    double scale = std::max({1.0, std::fabs(x), std::fabs(y)});
    if (x == y || (std::isnan(x) && std::isnan(y)) ||
        std::fabs(x - y) <= tolerance * scale)
      continue;
    os << "expected " << llvm::format("%.17g", x) << " in element " << i
       << ", got " << llvm::format("%.17g", y);
    return text;
  }
  return "";
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

/// The position of the first element of a row of the box, in elements.
static int64_t positionOf(ArrayRef<int64_t> index, ArrayRef<int64_t> offsets,
                          ArrayRef<int64_t> strides) {
  int64_t position = 0;
  for (auto [i, offset, stride] : llvm::zip_equal(index, offsets, strides))
    position += (i + offset) * stride;
  return position;
}

void llmc::copyBox(const HostTensor &from, ArrayRef<int64_t> fromOffsets,
                   HostTensor &to, ArrayRef<int64_t> toOffsets,
                   ArrayRef<int64_t> sizes) {
  if (llvm::is_contained(sizes, 0))
    return;
  SmallVector<int64_t> fromStrides = from.getStrides();
  SmallVector<int64_t> toStrides = to.getStrides();
  // The last dimension is copied in one go.
  SmallVector<int64_t> rows(sizes), index(sizes.size());
  int64_t bytes = from.getElementBytes();
  int64_t length = bytes * (rows.empty() ? 1 : rows.back());
  if (!rows.empty())
    rows.back() = 1;
  char *out = to.mutableBytes();
  do {
    std::memcpy(out + bytes * positionOf(index, toOffsets, toStrides),
                from.bytes() +
                    bytes * positionOf(index, fromOffsets, fromStrides),
                length);
  } while (nextIndex(index, rows));
}

/// Whether the box has the same bits in both.
static bool isSameBox(const HostTensor &a, ArrayRef<int64_t> aOffsets,
                      const HostTensor &b, ArrayRef<int64_t> bOffsets,
                      ArrayRef<int64_t> sizes) {
  HostTensor x(a.getElementType(), sizes), y(a.getElementType(), sizes);
  SmallVector<int64_t> zeros(sizes.size());
  copyBox(a, aOffsets, x, zeros, sizes);
  copyBox(b, bOffsets, y, zeros, sizes);
  return x.getNumBytes() == 0 ||
         std::memcmp(x.bytes(), y.bytes(), x.getNumBytes()) == 0;
}

/// Fills with the neutral element of `kind`.
static void fillNeutral(HostTensor &tensor, ReductionKind kind) {
  double infinity = std::numeric_limits<double>::infinity();
  if (auto type = dyn_cast<FloatType>(tensor.getElementType());
      type && !APFloat::semanticsHasInf(type.getFloatSemantics()))
    infinity = APFloat::getLargest(type.getFloatSemantics()).convertToDouble();
  bool isMax = kind == ReductionKind::max;
  int64_t width = tensor.isFloat() || tensor.getElementType().isIndex()
                      ? 64
                      : tensor.getElementType().getIntOrFloatBitWidth();
  int64_t low = tensor.isUnsigned()
                    ? 0
                    : std::numeric_limits<int64_t>::min() >> (64 - width);
  int64_t high = tensor.isUnsigned() ? -1 : ~low;
  for (int64_t i = 0; i < tensor.getNumElements(); ++i)
    switch (kind) {
    case ReductionKind::sum:
    case ReductionKind::bitOr:
      break;
    case ReductionKind::product:
      tensor.isFloat() ? tensor.setFloat(i, 1) : tensor.setInt(i, 1);
      break;
    case ReductionKind::bitAnd:
      tensor.setInt(i, -1);
      break;
    case ReductionKind::max:
    case ReductionKind::min:
      if (tensor.isFloat())
        tensor.setFloat(i, isMax ? -infinity : infinity);
      else
        tensor.setInt(i, isMax ? low : high);
      break;
    }
}

namespace {
/// The partial axes of a layout, all of one kind for each group of devices.
struct PartialGroups {
  PartialGroups(dist::LayoutAttr layout, const rt::Mesh &mesh) : mesh(mesh) {
    for (dist::PartialAttr partial : layout.getPartial())
      for (dist::AxisAttr axis : partial.getAxes()) {
        axes.push_back(mesh.axisNamed(axis.getName().str()));
        kinds.push_back(partial.getKind());
        ArrayRef<int64_t> pin = layout.getPin(axis.getName());
        firsts.push_back(pin.empty() ? 0 : pin.front());
      }
  }
  /// The kind of the first partial axis along which the device is not the
  /// first; nothing for a device that stands for its group.
  std::optional<ReductionKind> otherThanFirst(int64_t device) const {
    std::vector<int64_t> at = mesh.coordinatesOf(device);
    for (auto [axis, first, kind] : llvm::zip_equal(axes, firsts, kinds))
      if (at[axis] != first)
        return kind;
    return std::nullopt;
  }

  const rt::Mesh &mesh;
  SmallVector<int32_t> axes;
  SmallVector<ReductionKind> kinds;
  SmallVector<int64_t> firsts;
};
} // namespace

/// The parts of one device, or nothing when they cannot be listed.
static std::optional<std::vector<rt::Box>>
boxesOf(const rt::Layout &layout, const rt::Mesh &mesh, int64_t device) {
  rt::Result<std::vector<rt::Box>> boxes =
      layout.boxes(mesh, mesh.coordinatesOf(device));
  if (!boxes)
    return std::nullopt;
  return std::move(*boxes);
}

DeviceTensors llmc::splitTensor(const HostTensor &whole,
                                dist::LayoutAttr layout, const rt::Mesh &mesh,
                                bool poison) {
  std::optional<rt::Layout> places =
      dist::getRuntimeLayout(layout, whole.getShape(), mesh);
  if (!places)
    return {};
  PartialGroups groups(layout, mesh);
  std::vector<int64_t> shape = places->localShape(mesh);
  DeviceTensors parts(mesh.numDevices());
  for (int64_t device = 0; device < mesh.numDevices(); ++device) {
    if (!livesOn(layout, mesh, device))
      continue;
    HostTensor part(whole.getElementType(), shape);
    std::optional<std::vector<rt::Box>> boxes = boxesOf(*places, mesh, device);
    if (!boxes)
      return {};
    if (poison)
      fillWithPoison(part);
    HostTensor from = whole;
    if (std::optional<ReductionKind> kind = groups.otherThanFirst(device)) {
      from = HostTensor(whole.getType());
      fillNeutral(from, *kind);
    }
    for (const rt::Box &box : *boxes)
      copyBox(from, box.global, part, box.local, box.size);
    parts[device] = std::move(part);
  }
  return parts;
}

/// Combines along the partial axes, minor-most first, into the devices that
/// stand for their groups.
static std::string combinePartial(DeviceTensors &parts,
                                  const PartialGroups &groups,
                                  dist::LayoutAttr layout) {
  const rt::Mesh &mesh = groups.mesh;
  for (auto [axis, first, kind] :
       llvm::zip_equal(groups.axes, groups.firsts, groups.kinds))
    for (int64_t device = 0; device < mesh.numDevices(); ++device) {
      std::vector<int64_t> at = mesh.coordinatesOf(device);
      if (at[axis] != first || !livesOn(layout, mesh, device))
        continue;
      SmallVector<HostTensor> terms;
      for (at[axis] = 0; at[axis] < mesh.axes[axis].size; ++at[axis]) {
        int64_t member = mesh.deviceAt(at);
        if (!livesOn(layout, mesh, member))
          continue;
        if (!parts[member])
          return "no value at device " + describeDevice(mesh, member);
        terms.push_back(parts[member]);
      }
      parts[device] = combineTensors(terms, kind);
    }
  return "";
}

/// Copies one device's boxes into `whole`; each element's first writer decides.
static std::string gatherPart(const HostTensor &part, const rt::Layout &layout,
                              const rt::Mesh &mesh, int64_t device,
                              HostTensor &whole,
                              std::map<std::vector<int64_t>, int64_t> &seen) {
  std::optional<std::vector<rt::Box>> boxes = boxesOf(layout, mesh, device);
  if (!boxes)
    return "too many boxes at device " + describeDevice(mesh, device);
  for (const rt::Box &box : *boxes) {
    // Devices that hold an element hold the same box around it.
    auto [known, isNew] = seen.try_emplace(box.global, device);
    if (isNew)
      copyBox(part, box.local, whole, box.global, box.size);
    else if (!isSameBox(part, box.local, whole, box.global, box.size))
      return "replicas differ: device " + describeDevice(mesh, device) +
             " and device " + describeDevice(mesh, known->second);
  }
  return "";
}

std::string llmc::gatherTensor(const DeviceTensors &parts,
                               dist::LayoutAttr layout, const rt::Mesh &mesh,
                               HostTensor &whole) {
  std::optional<rt::Layout> places =
      dist::getRuntimeLayout(layout, whole.getShape(), mesh);
  if (!places)
    return "the layout does not fit the shape";
  std::vector<int64_t> shape = places->localShape(mesh);
  DeviceTensors sums = parts;
  PartialGroups groups(layout, mesh);
  for (int64_t device = 0; device < mesh.numDevices(); ++device) {
    if (!livesOn(layout, mesh, device))
      continue;
    if (!sums[device])
      return "no value at device " + describeDevice(mesh, device);
    if (sums[device].getShape() != ArrayRef<int64_t>(shape) ||
        sums[device].getElementType() != whole.getElementType())
      return "a part of another type at device " + describeDevice(mesh, device);
  }
  if (std::string error = combinePartial(sums, groups, layout); !error.empty())
    return error;
  std::map<std::vector<int64_t>, int64_t> seen;
  for (int64_t device = 0; device < mesh.numDevices(); ++device) {
    if (!livesOn(layout, mesh, device) || groups.otherThanFirst(device))
      continue;
    std::string error =
        gatherPart(sums[device], *places, mesh, device, whole, seen);
    if (!error.empty())
      return error;
  }
  return "";
}
