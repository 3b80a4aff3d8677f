//===- PortAttr.cpp - What arguments and results are ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Text and verification of `#dist.port`. What each kind must say and may say
// stands in one table here. Tested by test/Dialect/Dist/invalid-ports.mlir.
//
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/Dist/IR/Dist.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace llmc::dist;

//===----------------------------------------------------------------------===//
// Kinds
//===----------------------------------------------------------------------===//

namespace {
/// The fields beside the kind, as bits.
enum Field : unsigned {
  Symbol = 1 << 0,
  Name = 1 << 1,
  Chunk = 1 << 2,
  Reduced = 1 << 3,
  Metric = 1 << 4,
  Data = 1 << 5,
  Default = 1 << 6,
  Layout = 1 << 7,
  Shape = 1 << 8,
  Boxes = 1 << 9,
  Trips = 1 << 10,
};

enum Side : unsigned { Taken = 1, Returned = 2 };

struct KindTraits {
  PortKind kind;
  /// Whether arguments, results or both may be it.
  unsigned sides;
  /// Bits of fields.
  unsigned must, may;
};
} // namespace

static constexpr unsigned kPlace = Layout | Shape;
static constexpr unsigned kSum = Layout | Shape | Reduced;

static constexpr KindTraits kKinds[] = {
    {PortKind::Input, Taken, Name, Data | kPlace},
    {PortKind::Hyper, Taken, Symbol, Layout},
    // Without a symbol it is that of an optimizer function.
    {PortKind::Parameter, Taken | Returned, 0, Symbol | kPlace},
    {PortKind::Optimizer, Taken | Returned, Symbol, kPlace},
    {PortKind::Carried, Taken | Returned, Symbol, kPlace},
    {PortKind::Constant, Taken, Symbol, Layout},
    {PortKind::Step, Taken, 0, Layout},
    {PortKind::Microbatch, Taken, 0, Layout},
    {PortKind::Loss, Returned, 0, kPlace},
    {PortKind::LossSum, Taken | Returned, 0, kSum},
    {PortKind::Count, Taken | Returned, 0, kSum},
    {PortKind::MetricSum, Taken | Returned, Name, kSum},
    {PortKind::Gradient, Taken | Returned, 0, Symbol | Boxes | Trips | kSum},
    {PortKind::Metric, Returned, Name, kPlace},
    {PortKind::Output, Returned, Name, Metric | kPlace},
    {PortKind::Moment, Taken | Returned, Name, 0},
    {PortKind::Setting, Taken, Name, Default},
    {PortKind::Buffer, Taken | Returned, Symbol, Trips},
    {PortKind::Act, Taken | Returned, Name, Chunk | Trips},
    {PortKind::Send, Returned, Symbol, 0},
    {PortKind::Recv, Taken, Symbol, 0},
    {PortKind::Carry, Taken | Returned, Name, Chunk | Trips},
    {PortKind::Kept, Taken | Returned, Name, Chunk | Trips},
};

static constexpr bool areInOrder() {
  for (size_t i = 0; i < std::size(kKinds); ++i)
    if (static_cast<size_t>(kKinds[i].kind) != i)
      return false;
  return std::size(kKinds) == getMaxEnumValForPortKind() + 1;
}
static_assert(areInOrder(), "a row for each kind, in the order of the kinds");

static const KindTraits &getTraits(PortKind kind) {
  return kKinds[static_cast<size_t>(kind)];
}

bool PortAttr::isOfArguments() const {
  return getTraits(getKind()).sides & Taken;
}

bool PortAttr::isOfResults() const {
  return getTraits(getKind()).sides & Returned;
}

bool PortAttr::isState() const {
  return getKind() == PortKind::Parameter || getKind() == PortKind::Optimizer ||
         getKind() == PortKind::Carried || getKind() == PortKind::Constant;
}

bool PortAttr::isScalarSum() const {
  return getKind() == PortKind::LossSum || getKind() == PortKind::Count ||
         getKind() == PortKind::MetricSum;
}

//===----------------------------------------------------------------------===//
// Changes
//===----------------------------------------------------------------------===//

namespace {
/// All fields, as a plain struct.
struct PortFields {
  PortKind kind = PortKind::Input;
  FlatSymbolRefAttr symbol;
  StringAttr name;
  int64_t chunk = -1;
  bool isReduced = false;
  StringAttr metric;
  DataAttr data;
  FloatAttr defaultValue;
  LayoutAttr layout;
  DenseI64ArrayAttr shape;
  ArrayAttr boxes;
  DenseI64ArrayAttr trips;

  PortFields() = default;
  explicit PortFields(PortAttr port)
      : kind(port.getKind()), symbol(port.getSymbol()), name(port.getName()),
        chunk(port.getChunk()), isReduced(port.getIsReduced()),
        metric(port.getMetric()), data(port.getData()),
        defaultValue(port.getDefaultValue()), layout(port.getLayout()),
        shape(port.getShape()), boxes(port.getBoxes()), trips(port.getTrips()) {
  }

  PortAttr get(MLIRContext *context) const {
    return PortAttr::get(context, kind, symbol, name, chunk, isReduced, metric,
                         data, defaultValue, layout, shape, boxes, trips);
  }
};
} // namespace

PortAttr PortAttr::getSlot() const {
  PortFields fields;
  fields.kind = getKind();
  fields.symbol = getSymbol();
  fields.name = getName();
  fields.chunk = getChunk();
  fields.isReduced = getIsReduced();
  return fields.get(getContext());
}

bool PortAttr::isInSlot(PortAttr slot) const {
  return getKind() == slot.getKind() && getSymbol() == slot.getSymbol() &&
         getName() == slot.getName() && getChunk() == slot.getChunk() &&
         getIsReduced() == slot.getIsReduced();
}

PortAttr PortAttr::withSymbol(FlatSymbolRefAttr symbol) const {
  PortFields fields(*this);
  fields.symbol = symbol;
  return fields.get(getContext());
}

PortAttr PortAttr::withMetric(StringAttr metric) const {
  PortFields fields(*this);
  fields.metric = metric;
  return fields.get(getContext());
}

PortAttr PortAttr::withData(DataAttr data) const {
  PortFields fields(*this);
  fields.data = data;
  return fields.get(getContext());
}

PortAttr PortAttr::withLayout(LayoutAttr layout) const {
  PortFields fields(*this);
  fields.layout = layout;
  return fields.get(getContext());
}

PortAttr PortAttr::withShape(DenseI64ArrayAttr shape) const {
  PortFields fields(*this);
  fields.shape = shape;
  return fields.get(getContext());
}

PortAttr PortAttr::withBoxes(ArrayAttr boxes) const {
  PortFields fields(*this);
  fields.boxes = boxes;
  return fields.get(getContext());
}

PortAttr PortAttr::withTrips(ArrayRef<int64_t> trips) const {
  PortFields fields(*this);
  bool hasRows = llvm::any_of(trips, [](int64_t rows) { return rows != 0; });
  fields.trips = hasRows ? DenseI64ArrayAttr::get(getContext(), trips)
                         : DenseI64ArrayAttr();
  return fields.get(getContext());
}

PortAttr PortAttr::asReduced() const {
  PortFields fields(*this);
  fields.isReduced = true;
  return fields.get(getContext());
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

template <typename T>
static ParseResult parseInto(AsmParser &parser, T &value) {
  FailureOr<T> parsed = FieldParser<T>::parse(parser);
  if (failed(parsed))
    return failure();
  value = *parsed;
  return success();
}

static ParseResult parseKind(AsmParser &parser, PortKind &kind) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef word;
  if (parser.parseKeyword(&word))
    return failure();
  if (std::optional<PortKind> known = symbolizePortKind(word)) {
    kind = *known;
    return success();
  }
  SmallVector<StringRef> names;
  for (uint64_t i = 0; i <= getMaxEnumValForPortKind(); ++i)
    names.push_back(stringifyPortKind(static_cast<PortKind>(i)));
  return parser.emitError(loc)
         << "expected a kind of port: " << llvm::join(names, ", ") << ", got '"
         << word << "'";
}

/// `12`, or of loops in each other `[12, 64]`.
static ParseResult parseTrips(AsmParser &parser, DenseI64ArrayAttr &trips) {
  int64_t rows = 0;
  OptionalParseResult one = parser.parseOptionalInteger(rows);
  if (!one.has_value())
    return parseInto(parser, trips);
  trips = DenseI64ArrayAttr::get(parser.getContext(), rows);
  return *one;
}

/// `, layout = <@mesh, [{}]>` after the comma.
static ParseResult parseField(AsmParser &parser, PortFields &fields) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef word;
  if (parser.parseKeyword(&word))
    return failure();
  if (word == "reduced") {
    fields.isReduced = true;
    return success();
  }
  if (parser.parseEqual())
    return failure();
  if (word == "chunk")
    return parser.parseInteger(fields.chunk);
  if (word == "trips")
    return parseTrips(parser, fields.trips);
  if (word == "metric")
    return parseInto(parser, fields.metric);
  if (word == "data")
    return parseInto(parser, fields.data);
  if (word == "layout")
    return parseInto(parser, fields.layout);
  if (word == "shape")
    return parseInto(parser, fields.shape);
  if (word == "boxes")
    return parseInto(parser, fields.boxes);
  if (word != "default")
    return parser.emitError(loc)
           << "expected a field of a port: chunk, reduced, metric, data, "
              "default, layout, shape, boxes, trips, got '"
           << word << "'";
  double value = 0;
  if (parser.parseFloat(value))
    return failure();
  fields.defaultValue = parser.getBuilder().getF64FloatAttr(value);
  return success();
}

Attribute PortAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  PortFields fields;
  StringAttr symbol;
  std::string name;
  if (parser.parseLess() || parseKind(parser, fields.kind))
    return {};
  if (succeeded(parser.parseOptionalSymbolName(symbol)))
    fields.symbol = FlatSymbolRefAttr::get(symbol);
  if (succeeded(parser.parseOptionalString(&name)))
    fields.name = StringAttr::get(parser.getContext(), name);
  while (succeeded(parser.parseOptionalComma()))
    if (parseField(parser, fields))
      return {};
  if (parser.parseGreater())
    return {};
  return parser.getChecked<PortAttr>(
      loc, parser.getContext(), fields.kind, fields.symbol, fields.name,
      fields.chunk, fields.isReduced, fields.metric, fields.data,
      fields.defaultValue, fields.layout, fields.shape, fields.boxes,
      fields.trips);
}

void PortAttr::print(AsmPrinter &printer) const {
  printer << '<' << stringifyPortKind(getKind());
  if (getSymbol())
    printer << ' ' << getSymbol();
  if (getName())
    printer << ' ' << getName();
  if (getChunk() != -1)
    printer << ", chunk = " << getChunk();
  if (getIsReduced())
    printer << ", reduced";
  if (getMetric())
    printer << ", metric = " << getMetric();
  auto printStripped = [&](StringRef field, auto attribute) {
    if (!attribute)
      return;
    printer << ", " << field << " = ";
    printer.printStrippedAttrOrType(attribute);
  };
  printStripped("data", getData());
  if (getDefaultValue()) {
    printer << ", default = ";
    printer.printFloat(getDefaultValue().getValue());
  }
  printStripped("layout", getLayout());
  printStripped("shape", getShape());
  if (getBoxes())
    printer << ", boxes = " << getBoxes();
  if (getRows().size() == 1)
    printer << ", trips = " << getRows().front();
  else
    printStripped("trips", getTrips());
  printer << '>';
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

using EmitError = llvm::function_ref<InFlightDiagnostic()>;

namespace {
struct GivenField {
  Field bit;
  StringRef what;
  bool isGiven;
};
} // namespace

/// The kind has what it must and nothing that it may not.
static LogicalResult verifyFields(EmitError emitError, PortKind kind,
                                  ArrayRef<GivenField> fields) {
  const KindTraits &traits = getTraits(kind);
  for (const GivenField &field : fields) {
    if (!field.isGiven && (traits.must & field.bit))
      return emitError() << "expected " << field.what << " of port '"
                         << stringifyPortKind(kind) << "', got none";
    if (field.isGiven && !((traits.must | traits.may) & field.bit))
      return emitError() << "expected a port '" << stringifyPortKind(kind)
                         << "' without " << field.what << ", got one";
  }
  return success();
}

/// Where the data lie: in a layout, whose padding `shape` leaves out, or in
/// boxes.
static LogicalResult verifyPlaces(EmitError emitError, LayoutAttr layout,
                                  DenseI64ArrayAttr shape, ArrayAttr boxes) {
  if (shape && (!layout || layout.getRank() != shape.size()))
    return emitError() << "expected a layout of " << shape.size()
                       << " dims beside the shape of a port, got "
                       << (layout ? std::to_string(layout.getRank()) : "none");
  if (!boxes)
    return success();
  if (layout)
    return emitError() << "expected a layout or boxes of a port, got both";
  if (boxes.empty() || !llvm::all_of(boxes, llvm::IsaPred<BoxAttr>))
    return emitError() << "expected #dist.box in the boxes of a port, got "
                       << boxes;
  return success();
}

LogicalResult PortAttr::verify(EmitError emitError, PortKind kind,
                               FlatSymbolRefAttr symbol, StringAttr name,
                               int64_t chunk, bool isReduced, StringAttr metric,
                               DataAttr data, FloatAttr defaultValue,
                               LayoutAttr layout, DenseI64ArrayAttr shape,
                               ArrayAttr boxes, DenseI64ArrayAttr trips) {
  GivenField fields[] = {
      {Symbol, "a symbol", static_cast<bool>(symbol)},
      {Name, "a name", static_cast<bool>(name)},
      {Chunk, "a chunk", chunk != -1},
      {Reduced, "'reduced'", isReduced},
      {Metric, "a metric", static_cast<bool>(metric)},
      {Data, "data", static_cast<bool>(data)},
      {Default, "a default", static_cast<bool>(defaultValue)},
      {Layout, "a layout", static_cast<bool>(layout)},
      {Shape, "a shape", static_cast<bool>(shape)},
      {Boxes, "boxes", static_cast<bool>(boxes)},
      {Trips, "trips", static_cast<bool>(trips)}};
  if (failed(verifyFields(emitError, kind, fields)))
    return failure();
  for (StringAttr text : {name, metric})
    if (text && text.empty())
      return emitError() << "expected names of a port '"
                         << stringifyPortKind(kind) << "', got \"\"";
  if (trips &&
      llvm::all_of(trips.asArrayRef(), [](int64_t rows) { return rows == 0; }))
    return emitError() << "expected trips of a loop, or none at all, got 0 of "
                          "each";
  for (int64_t rows : trips ? trips.asArrayRef() : ArrayRef<int64_t>())
    if (rows < 0)
      return emitError() << "expected trips of at least 0, got " << rows;
  if (chunk < -1)
    return emitError() << "expected a chunk of at least 0, got " << chunk;
  return verifyPlaces(emitError, layout, shape, boxes);
}
