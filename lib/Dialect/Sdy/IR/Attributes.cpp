//===- Attributes.cpp - Meshes and shardings ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parsing and printing as Shardy does, and the checks that need no symbol
// table. Tests: test/Dialect/Sdy/{ops,invalid}.mlir.
//
//===----------------------------------------------------------------------===//

#include "OpAssembly.h"
#include "llmc/Support/PublishedDialect.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

#define GET_ATTRDEF_CLASSES
#include "llmc/Dialect/Sdy/IR/SdyAttributes.cpp.inc"

using namespace mlir;
using namespace llmc;
using namespace llmc::sdy;

void SdyDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "llmc/Dialect/Sdy/IR/SdyAttributes.cpp.inc"
      >();
}

Attribute SdyDialect::parseAttribute(DialectAsmParser &parser,
                                     Type type) const {
  return parseOrKeep(
      parser, *this, [&](StringRef *mnemonic, Attribute &attribute) {
        return generatedAttributeParser(parser, mnemonic, type, attribute);
      });
}

void SdyDialect::printAttribute(Attribute attribute,
                                DialectAsmPrinter &printer) const {
  (void)generatedAttributePrinter(attribute, printer);
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

/// A checked attribute whose errors point at `loc`; null after an error.
template <typename Attr, typename... Args>
static Attr make(AsmParser &parser, SMLoc loc, Args &&...args) {
  return Attr::getChecked([&] { return parser.emitError(loc); },
                          parser.getContext(), std::forward<Args>(args)...);
}

/// `"data"=2`
static MeshAxisAttr parseAxis(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  std::string name;
  int64_t size;
  if (parser.parseString(&name) || parser.parseEqual() ||
      parser.parseInteger(size))
    return {};
  return make<MeshAxisAttr>(parser, loc, name, size);
}

static void printAxis(AsmPrinter &printer, MeshAxisAttr axis) {
  printer.printString(axis.getName());
  printer << "=" << axis.getSize();
}

/// `(1)2`
static SubAxisInfoAttr parseSubAxis(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  int64_t preSize, size;
  if (parser.parseLParen() || parser.parseInteger(preSize) ||
      parser.parseRParen() || parser.parseInteger(size))
    return {};
  return make<SubAxisInfoAttr>(parser, loc, preSize, size);
}

static void printSubAxis(AsmPrinter &printer, SubAxisInfoAttr info) {
  printer << "(" << info.getPreSize() << ")" << info.getSize();
}

/// `"model"` or `"model":(1)2`
static AxisRefAttr parseAxisRef(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  std::string name;
  SubAxisInfoAttr info;
  if (parser.parseString(&name))
    return {};
  if (succeeded(parser.parseOptionalColon()) && !(info = parseSubAxis(parser)))
    return {};
  return make<AxisRefAttr>(parser, loc, name, info);
}

static void printAxisRef(AsmPrinter &printer, AxisRefAttr axis) {
  printer.printString(axis.getName());
  if (SubAxisInfoAttr info = axis.getSubAxisInfo()) {
    printer << ":";
    printSubAxis(printer, info);
  }
}

static void printAxisRefs(AsmPrinter &printer, ArrayRef<AxisRefAttr> axes) {
  llvm::interleaveComma(axes, printer,
                        [&](AxisRefAttr axis) { printAxisRef(printer, axis); });
}

/// `{"data", "model"}`
static ParseResult parseAxisSet(AsmParser &parser,
                                SmallVectorImpl<AxisRefAttr> &axes) {
  return parser.parseCommaSeparatedList(
      AsmParser::Delimiter::Braces, [&]() -> ParseResult {
        return success(axes.emplace_back(parseAxisRef(parser)) != nullptr);
      });
}

/// The digits after `p`, if they are there.
static ParseResult parsePriority(AsmParser &parser,
                                 std::optional<int64_t> &priority) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef word;
  if (failed(parser.parseOptionalKeyword(&word)))
    return success();
  int64_t number = 0;
  StringRef digits = word;
  if (!digits.consume_front("p") || digits.getAsInteger(10, number))
    return parser.emitError(loc)
           << "expected a priority such as p1, got '" << word << "'";
  priority = number;
  return success();
}

/// `{"data", ?}p1`
static DimensionShardingAttr parseDimension(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<AxisRefAttr> axes;
  bool isClosed = true;
  std::optional<int64_t> priority;
  auto parseEntry = [&]() -> ParseResult {
    if (!isClosed)
      return parser.emitError(parser.getCurrentLocation())
             << "expected '?' as the last entry, got another";
    if (succeeded(parser.parseOptionalQuestion())) {
      isClosed = false;
      return success();
    }
    return success(axes.emplace_back(parseAxisRef(parser)) != nullptr);
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Braces,
                                     parseEntry) ||
      parsePriority(parser, priority))
    return {};
  return make<DimensionShardingAttr>(parser, loc, axes, isClosed, priority);
}

static void printDimension(AsmPrinter &printer, DimensionShardingAttr dim) {
  printer << "{";
  printAxisRefs(printer, dim.getAxes());
  if (!dim.getIsClosed())
    printer << (dim.getAxes().empty() ? "?" : ", ?");
  printer << "}";
  if (dim.getPriority())
    printer << "p" << *dim.getPriority();
}

/// `{"data", "model"}`
static ManualAxesAttr parseAxisNames(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<StringAttr> axes;
  auto parseOne = [&] { return parser.parseAttribute(axes.emplace_back()); };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Braces, parseOne))
    return {};
  return make<ManualAxesAttr>(parser, loc, axes);
}

static void printAxisNames(AsmPrinter &printer, ManualAxesAttr axes) {
  printer << "{";
  llvm::interleaveComma(axes.getAxes(), printer);
  printer << "}";
}

//===----------------------------------------------------------------------===//
// Attributes of their own
//===----------------------------------------------------------------------===//

/// The small parts for use on their own; they have no brackets, so that MLIR
/// prints those of the dialect around the whole: `#sdy<mesh_axis"data"=2>`.
/// It does not look whether a part ends there.
#define LLMC_PART(ATTR, PARSE, PRINT)                                          \
  Attribute ATTR::parse(AsmParser &parser, Type) {                             \
    ATTR attribute = PARSE(parser);                                            \
    if (!attribute || parser.parseGreater())                                   \
      return {};                                                               \
    return attribute;                                                          \
  }                                                                            \
  void ATTR::print(AsmPrinter &printer) const { PRINT(printer, *this); }
LLMC_PART(MeshAxisAttr, parseAxis, printAxis)
LLMC_PART(SubAxisInfoAttr, parseSubAxis, printSubAxis)
LLMC_PART(AxisRefAttr, parseAxisRef, printAxisRef)
LLMC_PART(DimensionShardingAttr, parseDimension, printDimension)
LLMC_PART(ManualAxesAttr, parseAxisNames, printAxisNames)
#undef LLMC_PART

Attribute MeshAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<MeshAxisAttr> axes;
  SmallVector<int64_t> ids;
  auto parseOne = [&]() -> ParseResult {
    return success(axes.emplace_back(parseAxis(parser)) != nullptr);
  };
  if (parser.parseLess() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseOne))
    return {};
  if (succeeded(parser.parseOptionalComma()) &&
      (parser.parseKeyword("device_ids") || parser.parseEqual() ||
       parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
         return parser.parseInteger(ids.emplace_back());
       })))
    return {};
  if (parser.parseGreater())
    return {};
  return make<MeshAttr>(parser, loc, axes, ids);
}

void MeshAttr::print(AsmPrinter &printer) const {
  printer << "<[";
  llvm::interleaveComma(getAxes(), printer,
                        [&](MeshAxisAttr axis) { printAxis(printer, axis); });
  printer << "]";
  if (!getDeviceIds().empty()) {
    printer << ", device_ids=[";
    llvm::interleaveComma(getDeviceIds(), printer);
    printer << "]";
  }
  printer << ">";
}

/// `@mesh` or `mesh<["a"=2]>`
static Attribute parseMeshOrRef(AsmParser &parser) {
  if (succeeded(parser.parseOptionalKeyword("mesh")))
    return MeshAttr::parse(parser, Type());
  StringAttr name;
  if (parser.parseSymbolName(name))
    return {};
  return FlatSymbolRefAttr::get(name);
}

/// `, replicated={"x"}, unreduced={"y"}`, each if given.
static ParseResult parseAxisSets(AsmParser &parser,
                                 SmallVectorImpl<AxisRefAttr> &replicated,
                                 SmallVectorImpl<AxisRefAttr> &unreduced) {
  while (succeeded(parser.parseOptionalComma())) {
    SMLoc loc = parser.getCurrentLocation();
    StringRef word;
    if (parser.parseKeyword(&word) || parser.parseEqual())
      return failure();
    if (word != "replicated" && word != "unreduced")
      return parser.emitError(loc)
             << "expected 'replicated' or 'unreduced', got '" << word << "'";
    auto &axes = word == "replicated" ? replicated : unreduced;
    if (!axes.empty())
      return parser.emitError(loc)
             << "expected '" << word << "' once, got it twice";
    if (parseAxisSet(parser, axes))
      return failure();
  }
  return success();
}

Attribute TensorShardingAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  Attribute mesh;
  SmallVector<DimensionShardingAttr> dims;
  SmallVector<AxisRefAttr> replicated, unreduced;
  auto parseOne = [&]() -> ParseResult {
    return success(dims.emplace_back(parseDimension(parser)) != nullptr);
  };
  if (parser.parseLess() || !(mesh = parseMeshOrRef(parser)) ||
      parser.parseComma() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseOne) ||
      parseAxisSets(parser, replicated, unreduced) || parser.parseGreater())
    return {};
  return make<TensorShardingAttr>(parser, loc, mesh, dims, replicated,
                                  unreduced);
}

void TensorShardingAttr::print(AsmPrinter &printer) const {
  printer << "<";
  if (auto mesh = dyn_cast<MeshAttr>(getMeshOrRef())) {
    printer << "mesh";
    mesh.print(printer);
  } else {
    printer.printSymbolName(cast<FlatSymbolRefAttr>(getMeshOrRef()).getValue());
  }
  printer << ", [";
  llvm::interleaveComma(
      getDimShardings(), printer,
      [&](DimensionShardingAttr dim) { printDimension(printer, dim); });
  printer << "]";
  auto printSet = [&](StringRef name, ArrayRef<AxisRefAttr> axes) {
    if (axes.empty())
      return;
    printer << ", " << name << "={";
    printAxisRefs(printer, axes);
    printer << "}";
  };
  printSet("replicated", getReplicatedAxes());
  printSet("unreduced", getUnreducedAxes());
  printer << ">";
}

ParseResult sdy::parseShardings(AsmParser &parser,
                                TensorShardingPerValueAttr &list) {
  SmallVector<TensorShardingAttr> shardings;
  auto parseOne = [&]() -> ParseResult {
    auto sharding = dyn_cast_or_null<TensorShardingAttr>(
        TensorShardingAttr::parse(parser, Type()));
    shardings.push_back(sharding);
    return success(sharding != nullptr);
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseOne))
    return failure();
  list = TensorShardingPerValueAttr::get(parser.getContext(), shardings);
  return success();
}

void sdy::printShardings(AsmPrinter &printer, Operation *,
                         TensorShardingPerValueAttr list) {
  printer << "[";
  llvm::interleaveComma(
      list.getShardings(), printer,
      [&](TensorShardingAttr sharding) { sharding.print(printer); });
  printer << "]";
}

ParseResult sdy::parseManualAxes(AsmParser &parser, ManualAxesAttr &axes) {
  axes = parseAxisNames(parser);
  return success(axes != nullptr);
}

void sdy::printManualAxes(AsmPrinter &printer, Operation *,
                          ManualAxesAttr axes) {
  printAxisNames(printer, axes);
}

Attribute TensorShardingPerValueAttr::parse(AsmParser &parser, Type) {
  TensorShardingPerValueAttr list;
  if (parser.parseLess() || sdy::parseShardings(parser, list) ||
      parser.parseGreater())
    return {};
  return list;
}

void TensorShardingPerValueAttr::print(AsmPrinter &printer) const {
  printer << "<";
  sdy::printShardings(printer, nullptr, *this);
  printer << ">";
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

using EmitError = llvm::function_ref<InFlightDiagnostic()>;

LogicalResult MeshAxisAttr::verify(EmitError emitError, StringRef name,
                                   int64_t size) {
  if (name.empty())
    return emitError() << "expected a name for the mesh axis, got \"\"";
  if (size < 1)
    return emitError() << "expected axis \"" << name
                       << "\" of size at least 1, got " << size;
  return success();
}

LogicalResult MeshAttr::verify(EmitError emitError, ArrayRef<MeshAxisAttr> axes,
                               ArrayRef<int64_t> ids) {
  llvm::StringSet<> names;
  int64_t devices = 1;
  for (MeshAxisAttr axis : axes) {
    if (!names.insert(axis.getName()).second)
      return emitError() << "expected distinct mesh axes, got \""
                         << axis.getName() << "\" twice";
    if (llvm::MulOverflow(devices, axis.getSize(), devices))
      return emitError() << "expected fewer than 2^63 devices in a mesh";
  }
  if (ids.empty())
    return success();
  if (static_cast<int64_t>(ids.size()) != devices)
    return emitError() << "expected " << devices << " device ids, got "
                       << ids.size();
  SmallVector<bool> seen(ids.size(), false);
  for (int64_t id : ids) {
    if (id < 0 || (!axes.empty() && (id >= devices || seen[id])))
      return emitError() << "expected device ids to be a permutation of [0, "
                         << devices << "), got " << id;
    if (!axes.empty())
      seen[id] = true;
  }
  return success();
}

std::optional<int64_t> MeshAttr::getAxisSize(StringRef name) const {
  for (MeshAxisAttr axis : getAxes())
    if (axis.getName() == name)
      return axis.getSize();
  return std::nullopt;
}

LogicalResult SubAxisInfoAttr::verify(EmitError emitError, int64_t preSize,
                                      int64_t size) {
  int64_t product;
  if (preSize < 1 || size < 2 || llvm::MulOverflow(preSize, size, product))
    return emitError() << "expected a sub-axis with pre-size at least 1 and "
                          "size at least 2, got ("
                       << preSize << ")" << size;
  return success();
}

LogicalResult AxisRefAttr::verify(EmitError emitError, StringRef name,
                                  SubAxisInfoAttr) {
  if (name.empty())
    return emitError() << "expected the name of a mesh axis, got \"\"";
  return success();
}

LogicalResult DimensionShardingAttr::verify(EmitError emitError,
                                            ArrayRef<AxisRefAttr> axes,
                                            bool isClosed,
                                            std::optional<int64_t> priority) {
  if (priority && axes.empty() && isClosed)
    return emitError()
           << "expected no priority on an empty closed dimension, got p"
           << *priority;
  return success();
}

LogicalResult ManualAxesAttr::verify(EmitError emitError,
                                     ArrayRef<StringAttr> axes) {
  llvm::StringSet<> names;
  for (StringAttr axis : axes)
    if (!names.insert(axis).second)
      return emitError() << "expected each manual axis once, got " << axis
                         << " twice";
  return success();
}

bool ManualAxesAttr::contains(StringRef axis) const {
  return llvm::is_contained(getAxes(), axis);
}

LogicalResult TensorShardingAttr::verify(EmitError emitError, Attribute mesh,
                                         ArrayRef<DimensionShardingAttr>,
                                         ArrayRef<AxisRefAttr>,
                                         ArrayRef<AxisRefAttr>) {
  if (!isa_and_nonnull<MeshAttr, FlatSymbolRefAttr>(mesh))
    return emitError() << "expected a mesh or its name in a sharding";
  return success();
}
