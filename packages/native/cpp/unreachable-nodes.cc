// Nodes that pruning has left no link to, or hardly one.
#include "graph.h"

namespace shoal {
namespace {

/** A node with fewer links to it is often missed although it can be reached; there are 350 in 100,000 words. */
constexpr uint8_t FIRM_LINKS = 8;
constexpr size_t WEAK_NODES_MIN = 32;
constexpr size_t WEAK_NODES_SHARE = 250;
/**
 * Links are followed in the order of the nodes first, so often: their memory comes without waiting then. What can be reached
 * is mostly reached by that; the rest is followed from link to link.
 */
constexpr int PASSES_MAX = 8;

}  // namespace

void Graph::checkNewest() {
  std::vector<uint32_t> lost;
  for (; checkedUpTo_ < size(); checkedUpTo_++) {
    const uint32_t slot = static_cast<uint32_t>(checkedUpTo_);
    // Only those that it links to can have linked back so far; later ones linked to it because they had reached it.
    bool reached = slot == entry_ || nodes_.left(slot);
    for (const uint32_t neighbour : nodes_.links(slot, 0)) {
      if (reached) break;
      for (const uint32_t back : nodes_.links(neighbour, 0)) reached = reached || back == slot;
    }
    if (!reached) lost.push_back(slot);
  }
  if (lost.empty()) return;
  lost.insert(lost.begin(), unreachable_->begin(), unreachable_->end());
  keepUnreachable(std::move(lost));
}

std::vector<uint32_t> Graph::findUnreachable() const {
  enum State : uint8_t { UNSEEN, SEEN, FOLLOWED };
  const size_t count = size();
  std::vector<uint32_t> lost;
  std::vector<uint32_t> open;
  std::vector<State> states(count, UNSEEN);
  std::vector<uint8_t> linked(count);
  const auto follow = [&](uint32_t from, auto found) {
    states[from] = FOLLOWED;
    for (const uint32_t slot : nodes_.links(from, 0)) {
      if (linked[slot] < FIRM_LINKS) linked[slot]++;
      if (states[slot] != UNSEEN) continue;
      states[slot] = SEEN;
      found(slot);
    }
  };
  const auto followAll = [&](uint32_t first) {
    open.push_back(first);
    while (!open.empty()) {
      const uint32_t from = open.back();
      open.pop_back();
      follow(from, [&](uint32_t slot) { open.push_back(slot); });
    }
  };
  if (count > 0) states[entry_] = SEEN;
  bool more = true;
  for (int pass = 0; pass < PASSES_MAX && more; pass++) {
    more = false;
    for (size_t slot = 0; slot < count; slot++)
      if (states[slot] == SEEN) follow(static_cast<uint32_t>(slot), [&](uint32_t other) { more |= other < slot; });
  }
  for (size_t slot = 0; slot < count && more; slot++)
    if (states[slot] == SEEN) followAll(static_cast<uint32_t>(slot));
  for (size_t slot = 0; slot < count; slot++) {
    if (nodes_.left(static_cast<uint32_t>(slot))) linked[slot] = FIRM_LINKS;
    else if (states[slot] == UNSEEN) {
      lost.push_back(static_cast<uint32_t>(slot));
      // What hangs on this one is reached through it.
      followAll(static_cast<uint32_t>(slot));
      linked[slot] = FIRM_LINKS;
    }
  }
  const size_t most = lost.size() + WEAK_NODES_MIN + count / WEAK_NODES_SHARE;
  // The weakest first.
  for (uint8_t links = 0; links < FIRM_LINKS; links++)
    for (size_t slot = 0; slot < count && lost.size() < most; slot++)
      if (linked[slot] == links) lost.push_back(static_cast<uint32_t>(slot));
  return lost;
}

void Graph::keepUnreachable(std::vector<uint32_t> nodes) {
  std::atomic_store(&unreachable_, std::shared_ptr<const std::vector<uint32_t>>(
                                       std::make_shared<std::vector<uint32_t>>(std::move(nodes))));
}

}  // namespace shoal
