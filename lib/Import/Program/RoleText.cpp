//===- RoleText.cpp - What a step's arguments are, and why ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   module: a whole step (arguments are donated, results are computed from
//   gradients)
//     parameters layers.* (4): replaced, and the loss depends on them
//     optimizer mu.* (4), nu.* (4): replaced, with shape and name of a
//     parameter; from zeros
//     carried count: replaced; from zeros
//     inputs x, y: named in [data]
//
// Test: test/Import/StableHLO/train-steps.mlir
//===----------------------------------------------------------------------===//

#include "Parts.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::import;

namespace {
struct RoleLine {
  Argument::Kind kind;
  const char *name, *whyInStep, *whyBesideGradients;
};
} // namespace

static constexpr RoleLine kLines[] = {
    {Argument::Kind::Parameter, "parameters",
     "replaced, and the loss depends on them", "a gradient is returned"},
    {Argument::Kind::Optimizer, "optimizer",
     "replaced, with shape and name of a parameter",
     "replaced, with shape and name of a parameter"},
    {Argument::Kind::Carried, "carried", "replaced", "replaced"},
    {Argument::Kind::Constant, "constant", "not replaced", "not replaced"},
    {Argument::Kind::Hyper, "hyper", "scalars of names that llmc knows",
     "scalars of names that llmc knows"},
    {Argument::Kind::Input, "inputs", "named in [data]", "named in [data]"}};

/// The state starts from zeros because nobody says otherwise.
static bool startsFromZeros(ModuleOp module, const Argument &argument) {
  if (argument.kind != Argument::Kind::Optimizer &&
      argument.kind != Argument::Kind::Carried)
    return false;
  auto state =
      module.lookupSymbol<dist::StateOp>(rt::escapeName(argument.name));
  auto draw = state ? dyn_cast_or_null<dist::DrawAttr>(state.getSourceAttr())
                    : dist::DrawAttr();
  return draw && draw.getKind() == dist::DrawKind::Zeros;
}

std::string import::describeRoles(const Roles &roles, ModuleOp module) {
  if (roles.kind == ModuleKind::Loss)
    return "";
  bool isStep = roles.kind == ModuleKind::Step;
  std::string text =
      std::string("module: ") +
      (isStep ? "a whole step (" : "a loss with its gradients (") +
      roles.reason + ")\n";
  for (const RoleLine &line : kLines)
    for (bool isFromZeros : {false, true}) {
      std::vector<std::string> names;
      for (const Argument &argument : roles.arguments)
        if (argument.kind == line.kind &&
            startsFromZeros(module, argument) == isFromZeros)
          names.push_back(argument.name);
      if (!names.empty())
        text += std::string("  ") + line.name + " " +
                rt::listGlobbed(names, 8) + ": " +
                (isStep ? line.whyInStep : line.whyBesideGradients) +
                (isFromZeros ? "; from zeros" : "") + "\n";
    }
  return text;
}
