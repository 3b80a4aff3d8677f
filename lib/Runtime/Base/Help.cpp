//===- Help.cpp - What ends the help of a command -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Base/Help.h"

#include <fmt/format.h>

using namespace llmc;

const char *rt::meaningOf(ErrorKind kind) {
  switch (kind) {
  case ErrorKind::ok:
    return "";
  case ErrorKind::diagnosed:
    return "the program cannot be compiled as it is given; the line says where";
  case ErrorKind::usage:
    return "wrong flag, configuration or environment";
  case ErrorKind::malformed:
    return "an input file cannot be read or is not what it claims to be";
  case ErrorKind::infeasible:
    return "does not fit: memory, mesh, size limits";
  case ErrorKind::unsupported:
    return "an op, type or feature that llmc does not have";
  case ErrorKind::peerLost:
    return "another rank died or vanished";
  case ErrorKind::timeout:
    return "a step, a collective or a rendezvous did not complete in time";
  case ErrorKind::outOfMemory:
    return "the host or a device has no memory left";
  case ErrorKind::numeric:
    return "not a number, or a mismatch with the oracle";
  case ErrorKind::noCheckpoint:
    return "no whole checkpoint to resume from, its folder is held by another "
           "run, or one cannot be written (full disk, limit, permission)";
  case ErrorKind::mismatch:
    return "plan, runtime, library, mesh or machine do not fit together";
  case ErrorKind::rerunElsewhere:
    return "run again on other hardware, to tell a bad device from a bug";
  case ErrorKind::internal:
    return "a fault of llmc itself; the line says what to report";
  }
  return "";
}

/// As docs/seeing.md says at more length.
static constexpr const char *kStepWords =
    "WORDS OF A STEP'S LINE:\n"
    "  step       its number, from 0 on; a resumed run goes on counting\n"
    "  loss       of all samples of the step, before its update\n"
    "  grad_norm  norm of all gradients together, before they are clipped\n"
    "  lr         learning rate of the step\n"
    "  epoch      passes over the data so far\n"
    "  memory     bytes that the fullest device has reserved (and their "
    "share)\n"
    "  tps, sps   tokens or samples a second, of all devices together\n"
    "  mfu        flops of the model by those of the devices (machine.flops)\n"
    "  comm       share of the time in which computing waited for messages\n"
    "  data       share of the step in which the host read data\n"
    "  eta        hours, minutes and seconds until the last step\n\n";

std::string rt::printHelpTail(const HelpTail &tail) {
  std::string text = "EXAMPLES:\n";
  for (const std::string &example : tail.examples) {
    text += "  " + example + "\n";
  }
  text += tail.hasSteps ? fmt::format("\n{}", kStepWords) : "\n";
  text += "EXIT CODES:\n  0      ok\n";
  for (ErrorKind kind : tail.kinds) {
    text += fmt::format("  {:<6} {:<14} {}\n", exitCode(kind), kindName(kind),
                        meaningOf(kind));
  }
  if (tail.signals) {
    text += fmt::format("  128+n  {:<14} {}\n", "", tail.signals);
  }
  return text + "\nREAD ON: " + tail.pages + "\n";
}
