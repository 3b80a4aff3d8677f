//===- PlanFields.h - The fields of a plan by name --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `fields(visitor, x)` calls `visitor(name, field)` for each field of `x`, in
// order; the visitor recurses as it likes. Printing as JSON, comparing and
// mutating plans are visitors, so a new field is written down once.
//
// Test: test/Runtime/Plan/Print/PlanPrintTest.cpp
//===----------------------------------------------------------------------===//

#ifndef LLMC_RUNTIME_PLAN_FORMAT_PLANFIELDS_H
#define LLMC_RUNTIME_PLAN_FORMAT_PLANFIELDS_H

#include "llmc/Runtime/Plan/Format/LayoutFields.h"

namespace llmc::rt::plan {

LLMC_FIELDS(Operand) {
  v("buffer", x.buffer);
  v("dtype", x.dtype);
  v("expr", x.expr);
  v("offset", x.offset);
  v("shape", x.shape);
  v("strides", x.strides);
}
LLMC_FIELDS(KernelLaunch) {
  v("kernel", x.kernel);
  v("operands", x.operands);
  v("access", x.access);
  v("scalars", x.scalars);
  v("scratch", x.scratch);
  v("operations", x.operations);
}
LLMC_FIELDS(Library) {
  v("descriptor", x.descriptor);
  v("operands", x.operands);
  v("access", x.access);
  v("workspace_bytes", x.workspaceBytes);
  v("workspace", x.workspace);
  v("form", x.form);
}
LLMC_FIELDS(Collective) {
  v("symbol", x.symbol);
  v("kind", x.kind);
  v("axes", x.axes);
  v("stages", x.stages);
  v("reduction", x.reduction);
  v("dim", x.dim);
  v("concat_dim", x.concatDim);
  v("peer", x.peer);
  v("inputs", x.inputs);
  v("outputs", x.outputs);
  v("counts", x.counts);
}
LLMC_FIELDS(Message) {
  v("transfer", x.transfer);
  v("peer", x.peer);
  v("operands", x.operands);
}
LLMC_FIELDS(Send) { fields(v, x.message); }
LLMC_FIELDS(Receive) { fields(v, x.message); }
LLMC_FIELDS(Exchange) {
  v("sends", x.sends);
  v("receives", x.receives);
}
LLMC_FIELDS(Copy) {
  v("to", x.to);
  v("from", x.from);
  v("host", x.host);
  v("index", x.index);
}
LLMC_FIELDS(Fill) {
  v("to", x.to);
  v("pattern", x.pattern);
}
LLMC_FIELDS(EventRef) {
  v("frame", x.frame);
  v("event", x.event);
}
LLMC_FIELDS(Signal) { fields(v, x.event); }
LLMC_FIELDS(Wait) { fields(v, x.event); }
LLMC_FIELDS(Call) {
  v("program", x.program);
  v("microbatch", x.microbatch);
  v("arguments", x.arguments);
}
LLMC_FIELDS(Loop) {
  v("trips", x.trips);
  v("program", x.program);
  v("arguments", x.arguments);
}
LLMC_FIELDS(Branch) {
  v("flag", x.flag);
  v("program", x.program);
}
LLMC_FIELDS(While) {
  v("flag", x.flag);
  v("program", x.program);
}
LLMC_FIELDS(Instruction) {
  v("stream", x.stream);
  v("location", x.location);
  v("action", x.action);
}
LLMC_FIELDS(Stream) {
  v("name", x.name);
  v("kind", x.kind);
  v("priority", x.priority);
}
LLMC_FIELDS(Frame) {
  v("name", x.name);
  v("kind", x.kind);
  v("stages", x.stages);
  v("offset", x.offset);
  v("size", x.size);
  v("slots", x.slots);
  v("slot", x.slot);
  v("events", x.events);
  v("chunk", x.chunk);
}
LLMC_FIELDS(Buffer) {
  v("frame", x.frame);
  v("offset", x.offset);
  v("bytes", x.bytes);
  v("name", x.name);
  v("location", x.location);
}
LLMC_FIELDS(Program) {
  v("name", x.name);
  v("phase", x.phase);
  v("chunk", x.chunk);
  v("num_parameters", x.numParameters);
  v("instructions", x.instructions);
}
LLMC_FIELDS(Cell) {
  v("program", x.program);
  v("microbatch", x.microbatch);
}
LLMC_FIELDS(Input) {
  v("name", x.name);
  v("dtype", x.dtype);
  v("layout", x.layout);
  v("stages", x.stages);
  v("source", x.source);
  v("data_offset", x.dataOffset);
  v("limit", x.limit);
}
LLMC_FIELDS(DataRule) {
  v("kind", x.kind);
  v("dtype", x.dtype);
  v("shuffle", x.shuffle);
  v("tensor", x.tensor);
  v("once", x.once);
  v("held_out", x.heldOut);
  v("weights", x.weights);
  v("finite", x.finite);
}
LLMC_FIELDS(DataSource) {
  v("name", x.name);
  v("rule", x.rule);
}
LLMC_FIELDS(HyperRule) {
  v("kind", x.kind);
  v("base", x.base);
  v("last", x.last);
  v("warmup", x.warmup);
  v("total", x.total);
}
LLMC_FIELDS(Hyper) {
  v("name", x.name);
  v("dtype", x.dtype);
  v("rule", x.rule);
}
LLMC_FIELDS(Metric) {
  v("name", x.name);
  v("dtype", x.dtype);
}
LLMC_FIELDS(Fetch) {
  v("name", x.name);
  v("dtype", x.dtype);
  v("layout", x.layout);
  v("stages", x.stages);
  v("each_microbatch", x.eachMicrobatch);
  v("of", x.of);
  v("origin", x.origin);
  v("shape", x.shape);
}
LLMC_FIELDS(Entry) {
  v("name", x.name);
  v("kind", x.kind);
  v("counts", x.counts);
  v("num_microbatches", x.numMicrobatches);
  v("num_chunks", x.numChunks);
  v("reorder", x.reorder);
  v("model_flops", x.modelFlops);
  v("prologue", x.prologue);
  v("epilogue", x.epilogue);
  v("table", x.table);
  v("inputs", x.inputs);
  v("hypers", x.hypers);
  v("metrics", x.metrics);
  v("fetches", x.fetches);
}
LLMC_FIELDS(Draw) {
  v("kind", x.kind);
  v("a", x.a);
  v("b", x.b);
}
LLMC_FIELDS(Source) {
  v("kind", x.kind);
  v("draw", x.draw);
  v("file", x.file);
  v("tensor", x.tensor);
  v("offset", x.offset);
}
LLMC_FIELDS(StatePart) {
  v("origin", x.origin);
  v("layout", x.layout);
  v("stages", x.stages);
  v("place", x.place);
}
LLMC_FIELDS(State) {
  v("name", x.name);
  v("shape", x.shape);
  v("dtype", x.dtype);
  v("role", x.role);
  v("of", x.of);
  v("source", x.source);
  v("parts", x.parts);
}
LLMC_FIELDS(KernelObject) {
  v("file", x.file);
  v("hash", x.hash);
  v("features", x.features);
}
LLMC_FIELDS(Kernel) {
  v("name", x.name);
  v("object", x.object);
}
LLMC_FIELDS(MachineLink) {
  v("name", x.name);
  v("latency", x.latency);
  v("bandwidth", x.bandwidth);
}
LLMC_FIELDS(MachineRate) {
  v("type", x.type);
  v("flops", x.flops);
}
LLMC_FIELDS(Machine) {
  v("flops", x.flops);
  v("memory", x.memory);
  v("memory_bandwidth", x.memoryBandwidth);
  v("links", x.links);
  v("axis_links", x.axisLinks);
  v("rates", x.rates);
}
LLMC_FIELDS(Plan) {
  v("name", x.name);
  v("producer", x.producer);
  v("target", x.target);
  v("seed", x.seed);
  v("mesh", x.mesh);
  v("machine", x.machine);
  v("streams", x.streams);
  v("expressions", x.expressions);
  v("frames", x.frames);
  v("buffers", x.buffers);
  v("symbols", x.symbols);
  v("transfers", x.transfers);
  v("objects", x.objects);
  v("kernels", x.kernels);
  v("programs", x.programs);
  v("sources", x.sources);
  v("entries", x.entries);
  v("states", x.states);
  v("files", x.files);
  v("locations", x.locations);
  v("arenas", x.arenas);
  v("threads", x.threads);
}

#undef LLMC_FIELDS

} // namespace llmc::rt::plan

#endif // LLMC_RUNTIME_PLAN_FORMAT_PLANFIELDS_H
