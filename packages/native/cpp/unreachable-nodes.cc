// Nodes that pruning has left no link to, or hardly one.
#include "graph.h"

namespace shoal {
namespace {

/** A node with fewer links to it is often missed although it can be reached; there are 350 in 100,000 words. */
constexpr uint8_t FIRM_LINKS = 8;
constexpr size_t WEAK_NODES_MIN = 32;
constexpr size_t WEAK_NODES_SHARE = 250;

}  // namespace

void Graph::checkNewest() {
  std::vector<uint32_t> lost;
  for (; checkedUpTo_ < size(); checkedUpTo_++) {
    const uint32_t slot = static_cast<uint32_t>(checkedUpTo_);
    // Only those that it links to can have linked back so far; later ones linked to it because they had reached it.
    bool reached = slot == entry_;
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
  std::vector<uint32_t> lost;
  std::vector<uint32_t> open;
  std::vector<bool> seen(size());
  std::vector<uint8_t> linked(size());
  const auto follow = [&](uint32_t first) {
    seen[first] = true;
    open.push_back(first);
    while (!open.empty()) {
      const uint32_t from = open.back();
      open.pop_back();
      for (const uint32_t slot : nodes_.links(from, 0)) {
        if (linked[slot] < FIRM_LINKS) linked[slot]++;
        if (seen[slot]) continue;
        seen[slot] = true;
        open.push_back(slot);
      }
    }
  };
  if (size() > 0) follow(entry_);
  for (size_t slot = 0; slot < size(); slot++) {
    if (seen[slot]) continue;
    lost.push_back(static_cast<uint32_t>(slot));
    // What hangs on this one is reached through it.
    follow(static_cast<uint32_t>(slot));
    linked[slot] = FIRM_LINKS;
  }
  const size_t most = lost.size() + WEAK_NODES_MIN + size() / WEAK_NODES_SHARE;
  // The weakest first.
  for (uint8_t links = 0; links < FIRM_LINKS; links++)
    for (size_t slot = 0; slot < size() && lost.size() < most; slot++)
      if (linked[slot] == links) lost.push_back(static_cast<uint32_t>(slot));
  return lost;
}

void Graph::keepUnreachable(std::vector<uint32_t> nodes) {
  std::atomic_store(&unreachable_, std::shared_ptr<const std::vector<uint32_t>>(
                                       std::make_shared<std::vector<uint32_t>>(std::move(nodes))));
}

}  // namespace shoal
