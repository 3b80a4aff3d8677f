//===- MachineWrite.cpp - The table of the machine ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MachineWrite.h"

#include <vector>

namespace llmc::rt::plan {

using flatbuffers::Offset;

Offset<fb::Machine> writeMachine(flatbuffers::FlatBufferBuilder &builder,
                                 const Machine &machine) {
  std::vector<Offset<fb::MachineLink>> links;
  for (const MachineLink &link : machine.links) {
    auto name = builder.CreateSharedString(link.name);
    links.push_back(
        fb::CreateMachineLink(builder, name, link.latency, link.bandwidth));
  }
  std::vector<Offset<fb::MachineRate>> rates;
  for (const MachineRate &rate : machine.rates) {
    auto type = builder.CreateSharedString(rate.type);
    rates.push_back(fb::CreateMachineRate(builder, type, rate.flops));
  }
  auto linkList = builder.CreateVector(links);
  auto axes = builder.CreateVector(machine.axisLinks);
  return fb::CreateMachine(builder, machine.flops, machine.memory,
                           machine.memoryBandwidth, linkList, axes,
                           builder.CreateVector(rates));
}

} // namespace llmc::rt::plan
