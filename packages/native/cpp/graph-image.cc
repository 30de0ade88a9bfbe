// The graph as bytes, and back.
#include <cstring>

#include "graph.h"

namespace shoal {
namespace {

using unum::usearch::index_limits_t;
using unum::usearch::index_serialized_header_t;

template <typename Number>
void put(std::vector<uint8_t>& out, Number value) {
  const size_t at = out.size();
  out.resize(at + sizeof(Number));
  std::memcpy(out.data() + at, &value, sizeof(Number));
}

}  // namespace

// A node is written as its level (u16) and, for each layer from the lowest, the number of neighbours (u16) and their
// rows (u32 each), all little-endian.
size_t Graph::exportNodes(size_t first, std::vector<uint8_t>& out, size_t bytesMax) const {
  size_t slot = first;
  for (; slot < size(); slot++) {
    const size_t levels = index_.level_of(static_cast<uint32_t>(slot));
    size_t bytes = 2;
    for (size_t level = 0; level <= levels; level++)
      bytes += 2 + 4 * index_.neighbors(static_cast<uint32_t>(slot), level).size();
    if (out.size() + bytes > bytesMax) break;
    put(out, static_cast<uint16_t>(levels));
    for (size_t level = 0; level <= levels; level++) {
      const auto neighbours = index_.neighbors(static_cast<uint32_t>(slot), level);
      put(out, static_cast<uint16_t>(neighbours.size()));
      for (auto at = neighbours.begin(); at != neighbours.end(); ++at) put(out, at.slot());
    }
  }
  return slot;
}

std::string Graph::importNodes(const uint8_t* bytes, size_t length, size_t count) {
  size_t at = 0;
  auto take16 = [&](uint16_t& value) {
    if (length - at < 2) return false;
    std::memcpy(&value, bytes + at, 2);
    at += 2;
    return true;
  };
  for (size_t node = 0; node < count; node++) {
    uint16_t levels;
    if (!take16(levels) || levels > 64) return "a graph node has an impossible level";
    importedLevels_.push_back(static_cast<int16_t>(levels));
    for (size_t level = 0; level <= levels; level++) {
      uint16_t links;
      if (!take16(links)) return "a graph node is cut short";
      if (links > (level == 0 ? connectivityBase_ : connectivity_)) return "a graph node has too many neighbours";
      if ((length - at) / 4 < links) return "a graph node is cut short";
      const size_t old = importedLinks_.size();
      importedLinks_.resize(old + 1 + links);
      importedLinks_[old] = links;
      std::memcpy(importedLinks_.data() + old + 1, bytes + at, size_t{links} * 4);
      at += size_t{links} * 4;
    }
  }
  return at == length ? "" : "graph nodes are followed by unknown bytes";
}

std::string Graph::finishImport(const Rows& rows) {
  const size_t nodes = importedLevels_.size();
  if (nodes == 0) return "";
  if (nodes > rows.count()) return "the graph has more nodes than there are vectors";
  // Every link leads to a node that exists in that layer.
  size_t at = 0, entry = 0;
  for (size_t node = 0; node < nodes; node++) {
    if (importedLevels_[node] > importedLevels_[entry]) entry = node;
    for (int level = 0; level <= importedLevels_[node]; level++) {
      const size_t links = importedLinks_[at++];
      for (size_t i = 0; i < links; i++, at++)
        if (importedLinks_[at] >= nodes || importedLevels_[importedLinks_[at]] < level)
          return "a graph link leads nowhere";
    }
  }
  if (!index_.try_reserve(index_limits_t(0, threads_))) return "out of memory";
  // USearch reads its own stream: a header, all levels, then each node with room for all the links it may get.
  index_serialized_header_t header;
  header.size = nodes;
  header.connectivity = connectivity_;
  header.connectivity_base = connectivityBase_;
  header.max_level = static_cast<uint64_t>(importedLevels_[entry]);
  header.entry_slot = entry;
  size_t part = 0, node = 0, links = 0;
  auto input = [&](void* target, size_t length) {
    if (target == nullptr) return false;
    if (part == 0) {
      std::memcpy(target, &header, sizeof(header));
    } else if (part == 1) {
      std::memcpy(target, importedLevels_.data(), length);
    } else {
      uint8_t* out = static_cast<uint8_t*>(target);
      std::memset(out, 0, length);
      const int16_t levels = importedLevels_[node++];
      std::memcpy(out + sizeof(uint32_t), &levels, sizeof(levels));
      out += sizeof(uint32_t) + sizeof(levels);
      for (int level = 0; level <= levels; level++) {
        const uint32_t count = importedLinks_[links];
        std::memcpy(out, importedLinks_.data() + links, (size_t{count} + 1) * sizeof(uint32_t));
        out += level == 0 ? index_.neighbors_base_bytes() : index_.neighbors_bytes();
        links += size_t{count} + 1;
      }
    }
    part++;
    return true;
  };
  auto result = index_.load_from_stream(input);
  if (!result) {
    result.error.release();
    return "out of memory";
  }
  importedLevels_ = {};
  importedLinks_ = {};
  entry_ = static_cast<uint32_t>(entry);
  entryLevel_.store(static_cast<int>(header.max_level), std::memory_order_relaxed);
  sample(rows);
  keepUnreachable(findUnreachable());
  checkedUpTo_ = nodes;
  return "";
}

}  // namespace shoal
