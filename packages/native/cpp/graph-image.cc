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
constexpr const char* FOLLOWED = "graph nodes are followed by unknown bytes";
/** Beside the level of a node. */
constexpr uint16_t LEFT_NODE = 0x8000;

}  // namespace

// A node is written as its level (u16; with the highest bit where it was left out) and, for each layer from the lowest, the
// number of neighbours (u16) and their rows (u32 each), all little-endian.
size_t Graph::nodeBytes(uint32_t row) const {
  const size_t levels = nodes_.level(row);
  size_t bytes = 2;
  for (size_t layer = 0; layer <= levels; layer++) bytes += 2 + 4 * nodes_.links(row, layer).size();
  return bytes;
}

void Graph::exportNode(uint32_t row, std::vector<uint8_t>& out) {
  const size_t levels = nodes_.level(row);
  put(out, static_cast<uint16_t>(levels | (nodes_.left(row) ? LEFT_NODE : 0)));
  for (size_t layer = 0; layer <= levels; layer++) {
    const LinkList links = nodes_.links(row, layer);
    put(out, static_cast<uint16_t>(links.size()));
    for (const uint32_t link : links) put(out, link);
  }
  nodes_.forgetChange(row);
}

size_t Graph::exportNodes(size_t first, size_t end, std::vector<uint8_t>& out, size_t bytesMax) {
  size_t row = first;
  for (; row < end && out.size() + nodeBytes(static_cast<uint32_t>(row)) <= bytesMax; row++)
    exportNode(static_cast<uint32_t>(row), out);
  return row;
}

size_t Graph::exportChanged(size_t first, size_t end, std::vector<uint8_t>& out, size_t bytesMax, size_t& count) {
  count = 0;
  for (size_t slot = first; slot < end; slot++) {
    const uint32_t row = static_cast<uint32_t>(slot);
    if (!nodes_.changed(row)) continue;
    if (out.size() + 4 + nodeBytes(row) > bytesMax) return slot;
    put(out, row);
    exportNode(row, out);
    count++;
  }
  return end;
}

/** Reads nodes from bytes that may be anything. */
class Graph::NodeReader {
 public:
  NodeReader(GraphNodes& nodes, const uint8_t* bytes, size_t length) : nodes_(nodes), bytes_(bytes), length_(length) {}

  bool atEnd() const { return at_ == length_; }
  template <typename Number>
  bool take(Number& value) {
    if (length_ - at_ < sizeof(value)) return false;
    std::memcpy(&value, bytes_ + at_, sizeof(value));
    at_ += sizeof(value);
    return true;
  }
  /** Appends a node, or reads one anew; an empty text or what is wrong with it. */
  std::string read(uint32_t row) {
    uint16_t head;
    if (!take(head)) return CUT_SHORT;
    const unsigned levels = head & ~LEFT_NODE;
    if (levels > GraphNodes::LEVEL_MAX) return "a graph node has an impossible level";
    const bool anew = row < nodes_.capacity();
    if (anew && nodes_.level(row) != levels) return "a graph node has another level than before";
    if (!anew && !nodes_.append(levels)) return "out of memory";
    for (size_t layer = 0; layer <= levels; layer++) {
      const std::string wrong = readLinks(nodes_.links(row, layer), anew);
      if (!wrong.empty()) return wrong;
    }
    if ((head & LEFT_NODE) != 0) nodes_.leave(row);
    return "";
  }

 private:
  static constexpr const char* CUT_SHORT = "a graph node is cut short";

  std::string readLinks(LinkList list, bool anew) {
    uint16_t links;
    if (!take(links)) return CUT_SHORT;
    if (links > list.most()) return "a graph node has too many neighbours";
    if ((length_ - at_) / 4 < links) return CUT_SHORT;
    const size_t before = anew ? list.size() : 0;
    for (size_t i = 0; i < links; i++) {
      uint32_t link = NO_LINK;
      take(link);
      if (link == NO_LINK) return NOWHERE;
      list.append(i, link);
    }
    for (size_t i = links; i < before; i++) list.append(i, NO_LINK);
    return "";
  }

  GraphNodes& nodes_;
  const uint8_t* const bytes_;
  const size_t length_;
  size_t at_ = 0;
};

std::string Graph::importNodes(const uint8_t* bytes, size_t length, size_t count) {
  NodeReader reader(nodes_, bytes, length);
  for (size_t node = 0; node < count; node++) {
    const std::string wrong = reader.read(static_cast<uint32_t>(capacity()));
    if (!wrong.empty()) return wrong;
  }
  return reader.atEnd() ? "" : FOLLOWED;
}

std::string Graph::importChanged(const uint8_t* bytes, size_t length, size_t count) {
  NodeReader reader(nodes_, bytes, length);
  for (size_t node = 0; node < count; node++) {
    uint32_t row;
    if (!reader.take(row) || row >= capacity()) return "a changed graph node is none of those before it";
    const std::string wrong = reader.read(row);
    if (!wrong.empty()) return wrong;
  }
  return reader.atEnd() ? "" : FOLLOWED;
}

std::string Graph::finishImport(const Rows& rows) {
  const size_t nodes = capacity();
  if (nodes == 0) return "";
  if (nodes > rows.count()) return "the graph has more nodes than there are vectors";
  uint32_t entry = 0;
  int entryLevel = -1;
  for (uint32_t row = 0; row < nodes; row++) {
    if (nodes_.left(row)) continue;
    if (static_cast<int>(nodes_.level(row)) > entryLevel) {
      entry = row;
      entryLevel = static_cast<int>(nodes_.level(row));
    }
    // Every link leads to a node that exists in that layer.
    for (size_t layer = 0; layer <= nodes_.level(row); layer++)
      for (const uint32_t link : nodes_.links(row, layer))
        if (link >= nodes || nodes_.level(link) < layer || nodes_.left(link)) return NOWHERE;
  }
  entry_ = entry;
  entryLevel_ = entryLevel;
  size_.store(nodes, std::memory_order_relaxed);
  sample(rows);
  keepUnreachable(findUnreachable());
  checkedUpTo_ = nodes;
  return "";
}

}  // namespace shoal
