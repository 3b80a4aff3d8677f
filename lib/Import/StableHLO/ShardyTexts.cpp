//===- ShardyTexts.cpp - Shardy's annotations that are strings ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A function that jax.export stores for a receiver without Shardy has Shardy's
// annotations as strings, and manual regions as calls:
//
//   module {mhlo.frontend_attributes = {xla.sdy.meshes =
//             "{mesh = #sdy.mesh<[\"data\"=2]>}"}}
//   %0 = custom_call @xla.sdy.GlobalToLocalShape(%x, %y)
//          {mhlo.frontend_attributes = {xla.sdy.in_shardings = "...",
//                                       xla.sdy.manual_axes = "..."}}
//   %1 = call @xla.sdy.manual_computation_body(%0#0, %0#1)
//   %2 = custom_call @xla.sdy.LocalToGlobalShape(%1) {...}
//   ->
//   sdy.mesh @mesh = <["data"=2]>
//   %2 = sdy.manual_computation(%x, %y) in_shardings=[...] ... {
//     call @xla.sdy.manual_computation_body(...)
//   }
//
// Older texts have the three strings of a region at its call, and a backslash
// before each quote in a string. XLA's shardings (`mhlo.sharding`) stand beside
// these and say the same, so they are dropped.
//
// Tests: test/Import/StableHLO/shardy-texts.mlir
//===----------------------------------------------------------------------===//

#include "HloMesh.h"
#include "Parts.h"
#include "llmc/Dialect/StableHLO/IR/CallTargets.h"
#include "llmc/Dialect/StableHLO/IR/StableHLO.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::import;
using rt::ErrorKind;
using stablehlo::CustomCallOp;

/// The dictionary of strings, of a module, an argument or an op.
static constexpr StringLiteral kTexts = "mhlo.frontend_attributes";
/// Its keys.
static constexpr StringLiteral kPrefix = "xla.sdy.", kMeshes = "xla.sdy.meshes",
                               kOneText = "xla.sdy.sharding",
                               kGroup = "xla.sdy.sharding_group_id",
                               kDirection = "xla.sdy.allowed_direction",
                               kIn = "xla.sdy.in_shardings",
                               kOut = "xla.sdy.out_shardings",
                               kManual = "xla.sdy.manual_axes";

static DictionaryAttr getTexts(Operation *op) {
  return op->getAttrOfType<DictionaryAttr>(kTexts);
}

/// What the string of a key is as an attribute; null where nothing has the key.
template <typename Attr>
static rt::Result<Attr> read(DictionaryAttr texts, StringRef key,
                             Location loc) {
  auto text = texts ? texts.getAs<StringAttr>(key) : StringAttr();
  if (!text)
    return Attr();
  std::string plain = text.str();
  for (size_t at = 0; (at = plain.find("\\\"", at)) != std::string::npos;)
    plain.erase(at, 1);
  MLIRContext *context = loc.getContext();
  FirstError error(*context);
  if (auto made = dyn_cast_or_null<Attr>(parseAttribute(plain, context)))
    return made;
  return rt::makeError(ErrorKind::malformed,
                       describePlace(loc) + "expected '" + key.str() +
                           "' as Shardy writes it, got '" + plain + "'");
}

/// A way into a manual region, or out of it.
static bool isBoundary(Operation *op, StringRef target) {
  auto call = dyn_cast_or_null<CustomCallOp>(op);
  return call && call.getCallTargetName() == target &&
         call->getNumOperands() == call->getNumResults();
}

//===----------------------------------------------------------------------===//
// Manual regions
//===----------------------------------------------------------------------===//

namespace {
class RegionReader {
public:
  explicit RegionReader(func::CallOp call) : call(call) {}

  rt::Status run();

private:
  rt::Status readManual(Operation *boundary);
  rt::Result<sdy::TensorShardingAttr> findSharding(Operation *boundary,
                                                   StringRef key,
                                                   unsigned atBoundary,
                                                   unsigned atCall);
  rt::Status readOperand(OpOperand &operand);
  rt::Status readResult(OpResult result);
  rt::Status refuse();

  func::CallOp call;
  SmallVector<Value> operands, leaving;
  SmallVector<sdy::TensorShardingAttr> in, out;
  sdy::ManualAxesAttr manual;
  /// Exits first, since entries may be operands of others' exits.
  llvm::SetVector<Operation *> entries, exits;
};
} // namespace

rt::Status RegionReader::refuse() {
  return rt::makeError(
      ErrorKind::unsupported,
      describePlace(call.getLoc()) + "expected '@" +
          stablehlo::kLocalTarget.str() + "' of each operand and '@" +
          stablehlo::kGlobalTarget.str() +
          "' of each result around a call, with shardings and the same manual "
          "axes, as jax.export writes them, got a call with some of them");
}

rt::Status RegionReader::readManual(Operation *boundary) {
  sdy::ManualAxesAttr axes;
  for (Operation *op : {boundary, call.getOperation()})
    if (!axes) {
      LLMC_TRY_ASSIGN(
          axes, read<sdy::ManualAxesAttr>(getTexts(op), kManual, op->getLoc()));
    }
  if (!axes || (manual && manual != axes))
    return refuse();
  manual = axes;
  return rt::Status::success();
}

/// As the boundary says of its values, or the call of its own.
rt::Result<sdy::TensorShardingAttr>
RegionReader::findSharding(Operation *boundary, StringRef key,
                           unsigned atBoundary, unsigned atCall) {
  for (auto [op, number] : {std::make_pair(boundary, atBoundary),
                            std::make_pair(call.getOperation(), atCall)}) {
    LLMC_TRY_ASSIGN(auto list, read<sdy::TensorShardingPerValueAttr>(
                                   getTexts(op), key, op->getLoc()));
    if (list && number < list.getShardings().size())
      return list.getShardings()[number];
  }
  return refuse();
}

rt::Status RegionReader::readOperand(OpOperand &operand) {
  auto local = dyn_cast<OpResult>(operand.get());
  Operation *entry = local ? local.getOwner() : nullptr;
  if (!isBoundary(entry, stablehlo::kLocalTarget))
    return refuse();
  LLMC_TRY(readManual(entry));
  LLMC_TRY_ASSIGN(sdy::TensorShardingAttr sharding,
                  findSharding(entry, kIn, local.getResultNumber(),
                               operand.getOperandNumber()));
  in.push_back(sharding);
  operands.push_back(entry->getOperand(local.getResultNumber()));
  entries.insert(entry);
  return rt::Status::success();
}

rt::Status RegionReader::readResult(OpResult result) {
  Operation *exit = result.hasOneUse() ? *result.user_begin() : nullptr;
  if (!isBoundary(exit, stablehlo::kGlobalTarget))
    return refuse();
  LLMC_TRY(readManual(exit));
  unsigned number = result.use_begin()->getOperandNumber();
  LLMC_TRY_ASSIGN(sdy::TensorShardingAttr sharding,
                  findSharding(exit, kOut, number, result.getResultNumber()));
  out.push_back(sharding);
  leaving.push_back(exit->getResult(number));
  exits.insert(exit);
  return rt::Status::success();
}

rt::Status RegionReader::run() {
  for (OpOperand &operand : call->getOpOperands())
    LLMC_TRY(readOperand(operand));
  for (OpResult result : call->getResults())
    LLMC_TRY(readResult(result));
  sdy::ManualComputationOp region = putIntoRegion(
      call, operands, llvm::to_vector(TypeRange(leaving)), in, out, manual);
  for (auto [value, result] : llvm::zip_equal(leaving, region.getResults()))
    value.replaceAllUsesWith(result);
  for (Operation *op : llvm::concat<Operation *const>(exits, entries))
    if (op->use_empty())
      op->erase();
  return rt::Status::success();
}

static rt::Status readRegions(ModuleOp module) {
  SmallVector<func::CallOp> calls;
  module.walk([&](func::CallOp call) {
    if (llvm::any_of(call.getOperands(),
                     [](Value operand) {
                       return isBoundary(operand.getDefiningOp(),
                                         stablehlo::kLocalTarget);
                     }) ||
        llvm::any_of(call->getUsers(), [](Operation *user) {
          return isBoundary(user, stablehlo::kGlobalTarget);
        }))
      calls.push_back(call);
  });
  for (func::CallOp call : calls)
    LLMC_TRY(RegionReader(call).run());
  return rt::Status::success();
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

static rt::Status readMeshes(ModuleOp module) {
  LLMC_TRY_ASSIGN(auto meshes, read<DictionaryAttr>(getTexts(module), kMeshes,
                                                    module.getLoc()));
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  for (NamedAttribute each :
       meshes ? meshes.getValue() : ArrayRef<NamedAttribute>()) {
    auto mesh = dyn_cast<sdy::MeshAttr>(each.getValue());
    if (!mesh)
      return rt::makeError(ErrorKind::malformed,
                           describePlace(module.getLoc()) +
                               "expected meshes in '" + kMeshes.str() +
                               "', got another attribute of the name '" +
                               each.getName().str() + "'");
    sdy::MeshOp::create(builder, module.getLoc(), each.getName(), mesh);
  }
  return rt::Status::success();
}

/// The attributes of an argument, or of a result.
static rt::Result<DictionaryAttr> readPort(DictionaryAttr port, Location loc) {
  NamedAttrList made(port);
  auto texts = port ? port.getAs<DictionaryAttr>(kTexts) : DictionaryAttr();
  LLMC_TRY_ASSIGN(auto sharding,
                  read<sdy::TensorShardingAttr>(texts, kOneText, loc));
  if (sharding)
    made.set(kSharding, sharding);
  made.erase(kTexts);
  made.erase(kHloSharding);
  return made.getDictionary(loc.getContext());
}

static rt::Status readPorts(func::FuncOp function) {
  for (BlockArgument argument : function.getArguments()) {
    unsigned i = argument.getArgNumber();
    LLMC_TRY_ASSIGN(DictionaryAttr port,
                    readPort(function.getArgAttrDict(i), argument.getLoc()));
    function.setArgAttrs(i, port);
  }
  for (unsigned i = 0; i < function.getNumResults(); ++i) {
    LLMC_TRY_ASSIGN(DictionaryAttr port,
                    readPort(function.getResultAttrDict(i), function.getLoc()));
    function.setResultAttrs(i, port);
  }
  return rt::Status::success();
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

/// What a call hands on of its one operand, under the sharding.
static void replaceByOperand(CustomCallOp call,
                             sdy::TensorShardingAttr sharding) {
  Value value = call->getOperand(0);
  if (call.getCallTargetName() == stablehlo::kResultTarget) {
    for (OpOperand &use : call->getUses())
      if (auto end = dyn_cast<func::ReturnOp>(use.getOwner()))
        end->getParentOfType<func::FuncOp>().setResultAttr(
            use.getOperandNumber(), kSharding, sharding);
  } else {
    OpBuilder builder(call);
    value = sdy::ShardingConstraintOp::create(builder, call.getLoc(),
                                              value.getType(), value, sharding);
  }
  call->getResult(0).replaceAllUsesWith(value);
  call.erase();
}

static rt::Status refuse(Operation *op, const std::string &message) {
  return rt::makeError(ErrorKind::malformed,
                       describePlace(op->getLoc()) + message);
}

/// A group of values, or a barrier.
static rt::Status readMark(CustomCallOp call) {
  bool isGroup = call.getCallTargetName() == stablehlo::kGroupTarget;
  StringRef key = isGroup ? kGroup : kDirection;
  LLMC_TRY_ASSIGN(auto number,
                  read<IntegerAttr>(getTexts(call), key, call.getLoc()));
  static constexpr StringLiteral directions[] = {"NONE", "FORWARD", "BACKWARD",
                                                 "BOTH"};
  bool isKnown =
      number && number.getInt() >= 0 && (isGroup || number.getInt() < 4);
  if (!isKnown || call->getNumOperands() != 1)
    return refuse(call, "expected one operand and a number as '" + key.str() +
                            "' of '@" + call.getCallTargetName().str() +
                            "', got others");
  OpBuilder builder(call);
  Value value = call->getOperand(0);
  if (isGroup)
    sdy::ShardingGroupOp::create(builder, call.getLoc(), value,
                                 number.getInt());
  else if (number.getInt() < 3)
    value = sdy::PropagationBarrierOp::create(builder, call.getLoc(),
                                              value.getType(), value,
                                              directions[number.getInt()]);
  for (Value result : call->getResults())
    result.replaceAllUsesWith(value);
  call.erase();
  return rt::Status::success();
}

/// What an op says of its results.
static rt::Status readOp(Operation *op) {
  auto call = dyn_cast<CustomCallOp>(op);
  StringRef target = call ? call.getCallTargetName() : StringRef();
  if (target == stablehlo::kGroupTarget || target == stablehlo::kBarrierTarget)
    return readMark(call);
  DictionaryAttr texts = getTexts(op);
  LLMC_TRY_ASSIGN(auto list, read<sdy::TensorShardingPerValueAttr>(
                                 texts, kOneText, op->getLoc()));
  op->removeDiscardableAttr(kTexts);
  op->removeDiscardableAttr(kHloSharding);
  if (!list)
    return rt::Status::success();
  if (target != stablehlo::kShardingTarget &&
      target != stablehlo::kResultTarget) {
    op->setAttr(kSharding, list);
    return rt::Status::success();
  }
  if (op->getNumOperands() != 1 || list.getShardings().size() != 1 ||
      op->getOperandTypes() != op->getResultTypes())
    return refuse(op, "expected one operand, a result of its type and one "
                      "sharding of '@" +
                          target.str() + "', got others");
  replaceByOperand(call, list.getShardings().front());
  return rt::Status::success();
}

/// A boundary that is around no call.
static rt::Status checkBoundaries(ModuleOp module) {
  rt::Status status;
  module.walk([&](CustomCallOp op) {
    if (!op.getCallTargetName().starts_with(kPrefix))
      return WalkResult::advance();
    status = rt::makeError(
        ErrorKind::unsupported,
        describePlace(op.getLoc()) + "expected '@" +
            stablehlo::kLocalTarget.str() + "' and '@" +
            stablehlo::kGlobalTarget.str() +
            "' around one call of a function, as jax.export writes them, got "
            "'@" +
            op.getCallTargetName().str() + "' elsewhere");
    return WalkResult::interrupt();
  });
  return status;
}

/// Whether the text has such strings.
static bool speaks(ModuleOp module) {
  auto has = [](Operation *op) {
    auto call = dyn_cast<CustomCallOp>(op);
    DictionaryAttr texts = getTexts(op);
    return (call && call.getCallTargetName().starts_with(kPrefix)) ||
           (texts && llvm::any_of(texts, [](NamedAttribute text) {
              return text.getName().strref().starts_with(kPrefix);
            }));
  };
  return module
      .walk([&](Operation *op) {
        return has(op) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

rt::Status import::readShardyTexts(ModuleOp module) {
  if (!speaks(module))
    return rt::Status::success();
  LLMC_TRY(readMeshes(module));
  LLMC_TRY(readRegions(module));
  for (auto function : module.getOps<func::FuncOp>())
    LLMC_TRY(readPorts(function));
  SmallVector<Operation *> ops;
  module.walk([&](Operation *op) {
    if (op != module)
      ops.push_back(op);
  });
  for (Operation *op : ops)
    LLMC_TRY(readOp(op));
  module->removeDiscardableAttr(kTexts);
  LLMC_TRY(checkBoundaries(module));
  FirstError error(*module.getContext());
  return succeeded(verify(module))
             ? rt::Status::success()
             : error.status(ErrorKind::malformed, "shardings do not fit");
}
