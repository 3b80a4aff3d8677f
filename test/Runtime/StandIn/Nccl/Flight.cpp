//===- Flight.cpp - Operations of a group that are under way --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Nccl/Flight.h"
#include "Nccl/Reduction.h"

#include <algorithm>
#include <cstring>

using namespace llmc::standin;

static bool reduces(CallKind kind) {
  return kind == CallKind::AllReduce || kind == CallKind::Reduce ||
         kind == CallKind::ReduceScatter;
}

std::string llmc::standin::describe(const Terms &terms) {
  static const char *const names[] = {
      "all_reduce",     "reduce", "broadcast", "all_gather",
      "reduce_scatter", "send",   "receive"};
  std::string text = format(
      "%s of %llu %s", names[static_cast<int>(terms.kind)],
      static_cast<unsigned long long>(terms.count), nameOfType(terms.type));
  if (reduces(terms.kind))
    text += format(" by %s", nameOfOp(terms.op));
  if (terms.kind == CallKind::Reduce || terms.kind == CallKind::Broadcast)
    text += format(" with root %d", terms.root);
  return text;
}

static bool agree(const Terms &a, const Terms &b) {
  return a.kind == b.kind && a.type == b.type && a.op == b.op &&
         a.root == b.root && a.count == b.count;
}

namespace {
/// What a message begins with.
struct Header {
  Terms terms;
  uint64_t completed; // collectives that the rank had completed
  Turn turn;
};
} // namespace

static std::string pairName(const Communicator &comm, int from, int to,
                            uint64_t number) {
  return comm.clique + ".pair." + std::to_string(from) + "." +
         std::to_string(to) + "." + std::to_string(number);
}

/// Numbers of this run of the calls.
static FlightRef number(Communicator &comm,
                        const std::vector<CollectiveCall> &calls) {
  auto flight = std::make_shared<Flight>();
  for (const CollectiveCall &call : calls) {
    Flight::Leg leg{call, "", 0};
    if (call.terms.kind == CallKind::Send) {
      leg.number = comm.sent[call.peer]++;
      leg.mine = pairName(comm, comm.rank, call.peer, leg.number);
    } else if (call.terms.kind == CallKind::Receive) {
      leg.number = comm.received[call.peer]++;
    } else {
      leg.number = comm.collectives++;
      leg.mine = comm.name("all", leg.number, comm.rank);
    }
    flight->legs.push_back(std::move(leg));
  }
  return flight;
}

/// Leaves the terms, and the elements that others want from this rank.
static void leaveMessage(Communicator &comm, const Flight::Leg &leg,
                         const Turn &turn) {
  const Terms &terms = leg.call.terms;
  uint64_t elements = terms.count;
  if (terms.kind == CallKind::ReduceScatter)
    elements *= comm.ranks;
  if (terms.kind == CallKind::Broadcast && comm.rank != terms.root)
    elements = 0;
  Header header = {terms, comm.completed, turn};
  Message message(sizeof header + elements * bytesOfType(terms.type));
  std::memcpy(message.data(), &header, sizeof header);
  if (message.size() > sizeof header)
    std::memcpy(message.data() + sizeof header, leg.call.from,
                message.size() - sizeof header);
  comm.mailbox->leave(leg.mine, message);
}

static Header headerOf(const Message &message) {
  Header header;
  std::memcpy(&header, message.data(), sizeof header);
  return header;
}

static bool receive(Communicator &comm, const Flight::Leg &leg,
                    const Turn &turn) {
  std::string name = pairName(comm, leg.call.peer, comm.rank, leg.number);
  Message message;
  if (!comm.mailbox->read(name, message))
    return false;
  Terms given = headerOf(message).terms;
  meetInOrder(turn, headerOf(message).turn, describe(given));
  if (given.count != leg.call.terms.count || given.type != leg.call.terms.type)
    violation("nccl: rank %d calls %s to rank %d, which calls %s",
              leg.call.peer, describe(given).c_str(), comm.rank,
              describe(leg.call.terms).c_str());
  if (message.size() > sizeof(Header))
    std::memcpy(leg.call.to, message.data() + sizeof(Header),
                message.size() - sizeof(Header));
  comm.mailbox->remove(name);
  return true;
}

/// What the collective gives this rank, of what all have left.
static void compute(const Communicator &comm, const CollectiveCall &call,
                    const std::vector<const char *> &data) {
  const Terms &terms = call.terms;
  size_t bytes = terms.count * bytesOfType(terms.type);
  size_t ranks = comm.ranks;
  switch (terms.kind) {
  case CallKind::AllReduce:
  case CallKind::Reduce:
    if (terms.kind == CallKind::AllReduce || comm.rank == terms.root)
      reduce(terms.type, terms.op, data, call.to, terms.count,
             (terms.count + ranks - 1) / ranks, 0);
    return;
  case CallKind::ReduceScatter: {
    std::vector<const char *> parts;
    for (const char *part : data)
      parts.push_back(part + comm.rank * bytes);
    reduce(terms.type, terms.op, parts, call.to, terms.count, terms.count,
           comm.rank * terms.count);
    return;
  }
  case CallKind::Broadcast:
    std::memcpy(call.to, data[terms.root], bytes);
    return;
  case CallKind::AllGather:
    for (size_t rank = 0; rank < ranks; ++rank)
      std::memcpy(call.to + rank * bytes, data[rank], bytes);
    return;
  default:
    violation("a pair is no collective");
  }
}

/// Removes the own messages that all ranks have read.
static void removeRead(Communicator &comm, uint64_t readByAll) {
  for (; comm.removed < readByAll; ++comm.removed)
    comm.mailbox->remove(comm.name("all", comm.removed, comm.rank));
}

static bool meetAll(Communicator &comm, const Flight::Leg &leg,
                    const Turn &turn) {
  for (int rank = 0; rank < comm.ranks; ++rank)
    if (!comm.mailbox->holds(comm.name("all", leg.number, rank)))
      return false;
  std::vector<Message> messages(comm.ranks);
  std::vector<const char *> data;
  uint64_t readByAll = leg.number;
  for (int rank = 0; rank < comm.ranks; ++rank) {
    comm.mailbox->read(comm.name("all", leg.number, rank), messages[rank]);
    Header given = headerOf(messages[rank]);
    if (!agree(given.terms, leg.call.terms))
      violation("nccl: collective %llu of a communicator: rank %d calls %s, "
                "rank %d calls %s",
                static_cast<unsigned long long>(leg.number), comm.rank,
                describe(leg.call.terms).c_str(), rank,
                describe(given.terms).c_str());
    meetInOrder(turn, given.turn, describe(given.terms));
    readByAll = std::min(readByAll, given.completed);
    data.push_back(messages[rank].data() + sizeof given);
  }
  compute(comm, leg.call, data);
  ++comm.completed;
  removeRead(comm, readByAll);
  return true;
}

/// Whether the leg is over now.
static bool advance(Communicator &comm, const Flight::Leg &leg,
                    const Turn &turn) {
  switch (leg.call.terms.kind) {
  case CallKind::Send:
    return !comm.mailbox->holds(leg.mine);
  case CallKind::Receive:
    return receive(comm, leg, turn);
  default:
    return meetAll(comm, leg, turn);
  }
}

static bool advanceAll(Communicator &comm, Flight &flight) {
  bool all = true;
  for (Flight::Leg &leg : flight.legs) {
    leg.done = leg.done || advance(comm, leg, flight.turn);
    all &= leg.done;
    // A collective is not over for all before this: the next one waits for it.
    bool collective = leg.call.terms.kind != CallKind::Send &&
                      leg.call.terms.kind != CallKind::Receive;
    if (collective && !leg.done)
      break;
  }
  return all;
}

static void begin(const CommunicatorRef &comm, const FlightRef &flight) {
  if (comm->aborted) {
    Scheduler::get().finish(flight->op);
    return;
  }
  comm->flights.push_back(flight);
  for (const Flight::Leg &leg : flight->legs)
    if (!leg.mine.empty())
      leaveMessage(*comm, leg, flight->turn);
  Scheduler::get().poll([comm, flight] {
    if (!comm->aborted && !advanceAll(*comm, *flight)) {
      lookForLostRanks(*comm);
      return false;
    }
    auto &flights = comm->flights;
    flights.erase(std::find(flights.begin(), flights.end(), flight));
    Scheduler::get().finish(flight->op);
    return true;
  });
}

WorkRef llmc::standin::makeFlightWork(const CommunicatorRef &comm,
                                      std::vector<CollectiveCall> calls,
                                      std::vector<AllocationRef> uses,
                                      uint64_t group) {
  auto work = std::make_shared<Work>();
  work->name = "nccl " + describe(calls[0].terms);
  work->type = CU_GRAPH_NODE_TYPE_KERNEL;
  work->context = &primaryContext(comm->device);
  work->uses = std::move(uses);
  work->keeps = comm.get();
  work->meet = [comm, group, calls = std::move(calls)](const OpRef &op) {
    FlightRef flight = number(*comm, calls);
    flight->op = op;
    flight->turn = takeTurn(comm->device, group, comm.get());
    Scheduler::get().order(op, comm->last);
    comm->last = op;
    return [comm, flight] { begin(comm, flight); };
  };
  return work;
}
