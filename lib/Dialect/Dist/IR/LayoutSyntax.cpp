//===- LayoutSyntax.cpp - Text of meshes and layouts ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads and writes
//   <"pipe"=2, "data"=4>
//   <@mesh, [{"data", ?}, {}p1, {"t":(2)4}:[6:8, 64]], partial = [sum{"x"}],
//    replicated = {"y"}, at = {"pipe" = [0, 1]}>
// Tested by test/Dialect/Dist/layout.mlir and invalid-layout.mlir.
//
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/Dist/IR/Dist.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::dist;

using Delimiter = AsmParser::Delimiter;

//===----------------------------------------------------------------------===//
// Mesh axes
//===----------------------------------------------------------------------===//

Attribute MeshAxesAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<StringAttr> names;
  SmallVector<int64_t> sizes;
  auto parseAxis = [&]() -> ParseResult {
    std::string name;
    if (parser.parseString(&name) || parser.parseEqual() ||
        parser.parseInteger(sizes.emplace_back()))
      return failure();
    names.push_back(StringAttr::get(parser.getContext(), name));
    return success();
  };
  if (parser.parseCommaSeparatedList(Delimiter::LessGreater, parseAxis))
    return {};
  return parser.getChecked<MeshAxesAttr>(loc, parser.getContext(),
                                         ArrayRef(names), ArrayRef(sizes));
}

void MeshAxesAttr::print(AsmPrinter &printer) const {
  printer << '<';
  llvm::interleaveComma(
      llvm::zip_equal(getNames(), getSizes()), printer, [&](auto axis) {
        printer << std::get<0>(axis) << '=' << std::get<1>(axis);
      });
  printer << '>';
}

//===----------------------------------------------------------------------===//
// Axes
//===----------------------------------------------------------------------===//

static FailureOr<AxisAttr> parseAxis(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  std::string name;
  int64_t preSize = 1, subSize = 0;
  if (parser.parseString(&name))
    return failure();
  if (succeeded(parser.parseOptionalColon())) {
    if (parser.parseLParen() || parser.parseInteger(preSize) ||
        parser.parseRParen() || parser.parseInteger(subSize))
      return failure();
    if (subSize < 2)
      return parser.emitError(loc)
             << "expected a sub-axis of size at least 2, got " << subSize;
  }
  auto axis = parser.getChecked<AxisAttr>(
      loc, parser.getContext(), StringAttr::get(parser.getContext(), name),
      preSize, subSize);
  if (!axis)
    return failure();
  return axis;
}

static void printAxis(AsmPrinter &printer, AxisAttr axis) {
  printer << axis.getName();
  if (axis.isSubAxis())
    printer << ":(" << axis.getPreSize() << ')' << axis.getSubSize();
}

static ParseResult parseAxisSet(AsmParser &parser,
                                SmallVectorImpl<AxisAttr> &axes) {
  return parser.parseCommaSeparatedList(
      Delimiter::Braces, [&]() -> ParseResult {
        FailureOr<AxisAttr> axis = parseAxis(parser);
        if (failed(axis))
          return failure();
        axes.push_back(*axis);
        return success();
      });
}

static void printAxisSet(AsmPrinter &printer, ArrayRef<AxisAttr> axes) {
  printer << '{';
  llvm::interleaveComma(axes, printer,
                        [&](AxisAttr axis) { printAxis(printer, axis); });
  printer << '}';
}

Attribute AxisAttr::parse(AsmParser &parser, Type) {
  if (parser.parseLess())
    return {};
  FailureOr<AxisAttr> axis = parseAxis(parser);
  if (failed(axis) || parser.parseGreater())
    return {};
  return *axis;
}

void AxisAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printAxis(printer, *this);
  printer << '>';
}

//===----------------------------------------------------------------------===//
// Dims
//===----------------------------------------------------------------------===//

/// Reads `50264` or `[6:8, 64]`.
static ParseResult parseExtents(AsmParser &parser,
                                SmallVectorImpl<int64_t> &sizes,
                                SmallVectorImpl<int64_t> &extents) {
  SMLoc loc = parser.getCurrentLocation();
  int64_t extent;
  OptionalParseResult single = parser.parseOptionalInteger(extent);
  if (single.has_value()) {
    extents.push_back(extent);
    return *single;
  }
  auto parseFactor = [&]() -> ParseResult {
    if (parser.parseInteger(sizes.emplace_back()))
      return failure();
    extents.push_back(sizes.back());
    if (succeeded(parser.parseOptionalColon()))
      return parser.parseInteger(extents.back());
    return success();
  };
  if (parser.parseCommaSeparatedList(Delimiter::Square, parseFactor))
    return failure();
  if (sizes.empty())
    return parser.emitError(loc) << "expected at least two factors, got 0";
  return success();
}

/// Reads `p1` when it is there.
static ParseResult parsePriority(AsmParser &parser, int64_t &priority) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef word;
  if (failed(parser.parseOptionalKeyword(&word)))
    return success();
  StringRef number = word;
  if (!number.consume_front("p") || number.getAsInteger(10, priority))
    return parser.emitError(loc)
           << "expected a priority such as 'p1', got '" << word << "'";
  return success();
}

static FailureOr<DimAttr> parseDim(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<AxisAttr> axes;
  SmallVector<int64_t> sizes, extents;
  bool isOpen = false;
  int64_t priority = -1;
  auto parseElement = [&]() -> ParseResult {
    if (isOpen)
      return parser.emitError(parser.getCurrentLocation())
             << "expected '?' as the last of a dim";
    if (succeeded(parser.parseOptionalQuestion())) {
      isOpen = true;
      return success();
    }
    FailureOr<AxisAttr> axis = parseAxis(parser);
    if (failed(axis))
      return failure();
    axes.push_back(*axis);
    return success();
  };
  if (parser.parseCommaSeparatedList(Delimiter::Braces, parseElement) ||
      parsePriority(parser, priority))
    return failure();
  if (succeeded(parser.parseOptionalColon()) &&
      parseExtents(parser, sizes, extents))
    return failure();
  auto dim = parser.getChecked<DimAttr>(loc, parser.getContext(),
                                        ArrayRef(axes), isOpen, priority,
                                        ArrayRef(sizes), ArrayRef(extents));
  if (!dim)
    return failure();
  return dim;
}

static void printDim(AsmPrinter &printer, DimAttr dim) {
  printer << '{';
  llvm::interleaveComma(dim.getAxes(), printer,
                        [&](AxisAttr axis) { printAxis(printer, axis); });
  if (dim.getIsOpen())
    printer << (dim.getAxes().empty() ? "?" : ", ?");
  printer << '}';
  if (dim.hasPriority())
    printer << 'p' << dim.getPriority();
  if (!dim.isPadded())
    return;
  printer << ':';
  if (dim.getSizes().empty()) {
    printer << dim.getExtents().front();
    return;
  }
  printer << '[';
  llvm::interleaveComma(llvm::zip_equal(dim.getSizes(), dim.getExtents()),
                        printer, [&](auto factor) {
                          auto [size, extent] = factor;
                          printer << size;
                          if (size != extent)
                            printer << ':' << extent;
                        });
  printer << ']';
}

Attribute DimAttr::parse(AsmParser &parser, Type) {
  if (parser.parseLess())
    return {};
  FailureOr<DimAttr> dim = parseDim(parser);
  if (failed(dim) || parser.parseGreater())
    return {};
  return *dim;
}

void DimAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printDim(printer, *this);
  printer << '>';
}

//===----------------------------------------------------------------------===//
// Partial sets and pins
//===----------------------------------------------------------------------===//

static FailureOr<PartialAttr> parsePartial(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<AxisAttr> axes;
  FailureOr<ReductionKind> kind = FieldParser<ReductionKind>::parse(parser);
  if (failed(kind) || parseAxisSet(parser, axes))
    return failure();
  auto partial = parser.getChecked<PartialAttr>(loc, parser.getContext(), *kind,
                                                ArrayRef(axes));
  if (!partial)
    return failure();
  return partial;
}

static void printPartial(AsmPrinter &printer, PartialAttr partial) {
  printer << StringRef(nameOf(partial.getKind()));
  printAxisSet(printer, partial.getAxes());
}

Attribute PartialAttr::parse(AsmParser &parser, Type) {
  if (parser.parseLess())
    return {};
  FailureOr<PartialAttr> partial = parsePartial(parser);
  if (failed(partial) || parser.parseGreater())
    return {};
  return *partial;
}

void PartialAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printPartial(printer, *this);
  printer << '>';
}

static FailureOr<PinAttr> parsePin(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  std::string name;
  SmallVector<int64_t> coordinates;
  if (parser.parseString(&name) || parser.parseEqual() ||
      parser.parseCommaSeparatedList(Delimiter::Square, [&] {
        return parser.parseInteger(coordinates.emplace_back());
      }))
    return failure();
  auto pin = parser.getChecked<PinAttr>(
      loc, parser.getContext(), StringAttr::get(parser.getContext(), name),
      ArrayRef(coordinates));
  if (!pin)
    return failure();
  return pin;
}

static void printPin(AsmPrinter &printer, PinAttr pin) {
  printer << pin.getAxis() << " = [";
  llvm::interleaveComma(pin.getCoordinates(), printer);
  printer << ']';
}

Attribute PinAttr::parse(AsmParser &parser, Type) {
  if (parser.parseLess())
    return {};
  FailureOr<PinAttr> pin = parsePin(parser);
  if (failed(pin) || parser.parseGreater())
    return {};
  return *pin;
}

void PinAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printPin(printer, *this);
  printer << '>';
}

//===----------------------------------------------------------------------===//
// Layouts
//===----------------------------------------------------------------------===//

/// Appends what `parseOne` reads to `list`.
template <typename T>
static ParseResult parseList(AsmParser &parser, Delimiter delimiter,
                             SmallVectorImpl<T> &list,
                             FailureOr<T> (*parseOne)(AsmParser &)) {
  return parser.parseCommaSeparatedList(delimiter, [&]() -> ParseResult {
    FailureOr<T> element = parseOne(parser);
    if (failed(element))
      return failure();
    list.push_back(*element);
    return success();
  });
}

Attribute LayoutAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  FlatSymbolRefAttr mesh;
  SmallVector<DimAttr> dims;
  SmallVector<PartialAttr> partial;
  SmallVector<AxisAttr> replicated;
  SmallVector<PinAttr> at;
  if (parser.parseLess() || parser.parseAttribute(mesh) ||
      parser.parseComma() ||
      parseList(parser, Delimiter::Square, dims, parseDim))
    return {};
  while (succeeded(parser.parseOptionalComma())) {
    SMLoc wordLoc = parser.getCurrentLocation();
    StringRef word;
    if (parser.parseKeyword(&word) || parser.parseEqual())
      return {};
    ParseResult result = failure();
    if (word == "partial" && partial.empty())
      result = parseList(parser, Delimiter::Square, partial, parsePartial);
    else if (word == "replicated" && replicated.empty())
      result = parseAxisSet(parser, replicated);
    else if (word == "at" && at.empty())
      result = parseList(parser, Delimiter::Braces, at, parsePin);
    else
      parser.emitError(wordLoc) << "expected one each of 'partial', "
                                   "'replicated' and 'at', got '"
                                << word << "'";
    if (result)
      return {};
  }
  if (parser.parseGreater())
    return {};
  return parser.getChecked<LayoutAttr>(loc, parser.getContext(), mesh,
                                       ArrayRef(dims), ArrayRef(partial),
                                       ArrayRef(replicated), ArrayRef(at));
}

void LayoutAttr::print(AsmPrinter &printer) const {
  printer << '<' << getMesh() << ", [";
  llvm::interleaveComma(getDims(), printer,
                        [&](DimAttr dim) { printDim(printer, dim); });
  printer << ']';
  if (!getPartial().empty()) {
    printer << ", partial = [";
    llvm::interleaveComma(getPartial(), printer, [&](PartialAttr partial) {
      printPartial(printer, partial);
    });
    printer << ']';
  }
  if (!getReplicated().empty()) {
    printer << ", replicated = ";
    printAxisSet(printer, getReplicated());
  }
  if (!getAt().empty()) {
    printer << ", at = {";
    llvm::interleaveComma(getAt(), printer,
                          [&](PinAttr pin) { printPin(printer, pin); });
    printer << '}';
  }
  printer << '>';
}
