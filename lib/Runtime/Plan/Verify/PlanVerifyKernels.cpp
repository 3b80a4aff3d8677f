//===- PlanVerifyKernels.cpp - Launches against the manifest --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel is trusted to stay within the extents that its manifest states, for
// scalars within the stated ranges and arguments that do not overlap but where
// tied. So a launch whose operands and scalars respect the manifest cannot
// write outside its operands.
//
// Test: test/Runtime/Plan/Verify/PlanVerifyKernelsTest.cpp
//===----------------------------------------------------------------------===//

#include "PlanChecks.h"

#include "llmc/Runtime/Base/CheckedMath.h"
#include "llmc/Runtime/Base/Log.h"

#include <algorithm>
#include <fmt/format.h>

namespace llmc::rt::plan {

static Status checkFeatures(const std::vector<std::string> &needed,
                            const std::vector<std::string> &present,
                            std::string_view file) {
  for (const std::string &feature : needed) {
    if (std::find(present.begin(), present.end(), feature) == present.end()) {
      return mismatch(fmt::format("kernel object '{}' needs processor feature "
                                  "'{}', which this machine lacks",
                                  escape(file), escape(feature)));
    }
  }
  return Status::success();
}

Status checkEnvironment(const Plan &plan, const Environment &environment) {
  if (environment.maxThreads > 0 && plan.threads > environment.maxThreads) {
    return mismatch(fmt::format("the plan uses {} threads for each device, "
                                "this runtime has {}",
                                plan.threads, environment.maxThreads));
  }
  if (!environment.manifest) {
    return Status::success();
  }
  for (const KernelObject &object : plan.objects) {
    LLMC_TRY(checkFeatures(object.features, environment.features, object.file));
  }
  LLMC_TRY(checkFeatures(environment.manifest->features, environment.features,
                         "manifest"));
  const std::string &target =
      environment.kernelTarget.empty() ? plan.target : environment.kernelTarget;
  for (const Kernel &kernel : plan.kernels) {
    const KernelInfo *info = environment.manifest->find(kernel.name);
    if (!info) {
      return mismatch(fmt::format("kernel '{}' is not in the kernel objects",
                                  escape(kernel.name)));
    }
    if (info->target != target) {
      return mismatch(fmt::format("expected kernel '{}' for target '{}', got "
                                  "'{}'",
                                  escape(kernel.name), escape(target),
                                  escape(info->target)));
    }
  }
  return Status::success();
}

/// Frames and their slots are aligned for all kernels; what is left is the
/// operand's place in its slot.
static bool isAligned(const Scene &scene, const Operand &operand,
                      int64_t bytes) {
  const Buffer &buffer = scene.plan.buffers[operand.buffer];
  return (buffer.offset + operand.offset) % bytes == 0 &&
         (operand.expr == noExpr ||
          isMultipleOf(scene.plan.expressions, operand.expr, scene.scope,
                       bytes));
}

static Status checkArgument(const Scene &scene, const KernelInfo &info,
                            size_t number, const Operand &operand,
                            Access access) {
  const KernelArgument &argument = info.arguments[number];
  if (argument.dtype != operand.dtype || argument.access != access) {
    return mismatch(fmt::format(
        "expected argument {} of kernel '{}' to be {} {}, got {} {}", number,
        escape(info.name), nameOf(argument.access), nameOf(argument.dtype),
        nameOf(access), nameOf(operand.dtype)));
  }
  int64_t span = *spanOf(operand);
  if (argument.extentBytes > span) {
    return mismatch(fmt::format("kernel '{}' touches {} bytes of argument {}, "
                                "which has {}",
                                escape(info.name), argument.extentBytes, number,
                                span));
  }
  if (argument.alignment > 1 &&
      !isAligned(scene, operand, argument.alignment)) {
    return mismatch(fmt::format("expected argument {} of kernel '{}' to be "
                                "aligned to {} bytes",
                                number, escape(info.name), argument.alignment));
  }
  return Status::success();
}

/// A written operand is apart from the others, or lies exactly on one to which
/// the manifest ties it.
static Status checkAliases(const Scene &scene, const KernelInfo *info,
                           const KernelLaunch &launch) {
  for (size_t w = 0; w < launch.operands.size(); ++w) {
    if (launch.access[w] == Access::read) {
      continue;
    }
    for (size_t r = 0; r < launch.operands.size(); ++r) {
      if (r == w ||
          !mayOverlap(scene, launch.operands[w], launch.operands[r])) {
        continue;
      }
      std::pair<int32_t, int32_t> tie(r, w);
      bool tied = launch.access[r] == Access::read &&
                  sameStart(scene, launch.operands[w], launch.operands[r]);
      if (info && tied) {
        tied = std::find(info->ties.begin(), info->ties.end(), tie) !=
               info->ties.end();
      }
      if (!tied) {
        return mismatch(fmt::format(
            "operand {} is written and overlaps operand {}, to which it is not "
            "tied",
            w, r));
      }
    }
  }
  return Status::success();
}

static Status checkScalars(const Scene &scene, const KernelInfo &info,
                           const KernelLaunch &launch) {
  if (launch.scalars.size() != info.scalars.size()) {
    return mismatch(fmt::format("kernel '{}' has {} scalars, got {}",
                                escape(info.name), info.scalars.size(),
                                launch.scalars.size()));
  }
  for (size_t i = 0; i < info.scalars.size(); ++i) {
    auto value = bound(scene.plan.expressions, launch.scalars[i], scene.scope);
    if (!value || value->low < info.scalars[i].low ||
        value->high > info.scalars[i].high) {
      return mismatch(fmt::format(
          "expected scalar {} of kernel '{}' to be between {} and {}, got {}",
          i, escape(info.name), info.scalars[i].low, info.scalars[i].high,
          value ? fmt::format("{} to {}", value->low, value->high)
                : std::string("an overflow")));
    }
  }
  return Status::success();
}

Status checkKernel(const Scene &scene, const KernelLaunch &launch) {
  const Manifest *manifest = scene.environment.manifest;
  if (!manifest) {
    return checkAliases(scene, nullptr, launch);
  }
  const KernelInfo &info =
      *manifest->find(scene.plan.kernels[launch.kernel].name);
  if (launch.operands.size() != info.arguments.size()) {
    return mismatch(fmt::format("kernel '{}' has {} arguments, got {}",
                                escape(info.name), info.arguments.size(),
                                launch.operands.size()));
  }
  for (size_t i = 0; i < launch.operands.size(); ++i) {
    LLMC_TRY(
        checkArgument(scene, info, i, launch.operands[i], launch.access[i]));
  }
  LLMC_TRY(checkScalars(scene, info, launch));
  LLMC_TRY(checkAliases(scene, &info, launch));
  Checked needed = alignUp(info.scratchBytes, alignment) * scene.plan.threads;
  int64_t scratch = launch.scratch.present() ? *spanOf(launch.scratch) : 0;
  if (!needed.within(0, scratch)) {
    return mismatch(fmt::format(
        "kernel '{}' needs {} bytes of scratch on {} threads, got {}",
        escape(info.name), needed.valid() ? needed.value() : -1,
        scene.plan.threads, scratch));
  }
  return Status::success();
}

} // namespace llmc::rt::plan
