// The graph as bytes, and back.
#include <cstring>

#include "graph.h"

namespace shoal {
namespace {

template <typename Number>
void put(std::vector<uint8_t>& out, Number value) {
  const size_t at = out.size();
  out.resize(at + sizeof(Number));
  std::memcpy(out.data() + at, &value, sizeof(Number));
}

constexpr const char* NOWHERE = "a graph link leads nowhere";

}  // namespace

// A node is written as its level (u16) and, for each layer from the lowest, the number of neighbours (u16) and their
// rows (u32 each), all little-endian.
size_t Graph::exportNodes(size_t first, std::vector<uint8_t>& out, size_t bytesMax) const {
  size_t slot = first;
  for (; slot < size(); slot++) {
    const uint32_t row = static_cast<uint32_t>(slot);
    const size_t levels = nodes_.level(row);
    size_t bytes = 2;
    for (size_t layer = 0; layer <= levels; layer++) bytes += 2 + 4 * nodes_.links(row, layer).size();
    if (out.size() + bytes > bytesMax) break;
    put(out, static_cast<uint16_t>(levels));
    for (size_t layer = 0; layer <= levels; layer++) {
      const LinkList links = nodes_.links(row, layer);
      put(out, static_cast<uint16_t>(links.size()));
      for (const uint32_t link : links) put(out, link);
    }
  }
  return slot;
}

std::string Graph::importNodes(const uint8_t* bytes, size_t length, size_t count) {
  size_t at = 0;
  const auto take16 = [&](uint16_t& value) {
    if (length - at < 2) return false;
    std::memcpy(&value, bytes + at, 2);
    at += 2;
    return true;
  };
  for (size_t node = 0; node < count; node++) {
    const uint32_t row = static_cast<uint32_t>(capacity());
    uint16_t levels;
    if (!take16(levels) || levels > GraphNodes::LEVEL_MAX) return "a graph node has an impossible level";
    if (!nodes_.append(levels)) return "out of memory";
    for (size_t layer = 0; layer <= levels; layer++) {
      LinkList list = nodes_.links(row, layer);
      uint16_t links;
      if (!take16(links)) return "a graph node is cut short";
      if (links > list.most()) return "a graph node has too many neighbours";
      if ((length - at) / 4 < links) return "a graph node is cut short";
      for (size_t i = 0; i < links; i++, at += 4) {
        uint32_t link;
        std::memcpy(&link, bytes + at, 4);
        if (link == NO_LINK) return NOWHERE;
        list.append(i, link);
      }
    }
  }
  return at == length ? "" : "graph nodes are followed by unknown bytes";
}

std::string Graph::finishImport(const Rows& rows) {
  const size_t nodes = capacity();
  if (nodes == 0) return "";
  if (nodes > rows.count()) return "the graph has more nodes than there are vectors";
  uint32_t entry = 0;
  for (uint32_t row = 0; row < nodes; row++) {
    if (nodes_.level(row) > nodes_.level(entry)) entry = row;
    // Every link leads to a node that exists in that layer.
    for (size_t layer = 0; layer <= nodes_.level(row); layer++)
      for (const uint32_t link : nodes_.links(row, layer))
        if (link >= nodes || nodes_.level(link) < layer) return NOWHERE;
  }
  entry_ = entry;
  entryLevel_ = static_cast<int>(nodes_.level(entry));
  size_.store(nodes, std::memory_order_relaxed);
  sample(rows);
  keepUnreachable(findUnreachable());
  checkedUpTo_ = nodes;
  return "";
}

}  // namespace shoal
