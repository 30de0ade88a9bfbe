// The neighbour graph over rows: a hierarchical navigable small world (Malkov and Yashunin, arXiv 1603.09320).
#pragma once
#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "graph-nodes.h"
#include "row-distances.h"
#include "rows.h"
#include "thread-safety.h"

namespace shoal {

/**
 * Node n is row n. `link` may run on several threads at once; a GraphWalk on any number of threads, but not while anyone
 * links, prepares or imports: the caller keeps these phases apart.
 */
class Graph {
 public:
  /** A node gets links to half of `connectivityBase` nodes, and as many more may link back in the lowest layer. */
  Graph(size_t connectivityBase, size_t efConstruction);

  size_t size() const { return size_.load(std::memory_order_relaxed); }
  size_t capacity() const { return nodes_.capacity(); }
  /** Mean number of neighbours in the lowest layer: few where the data has few dimensions of its own. */
  float meanDegree() const { return meanDegree_; }
  const NearDistances& nearDistances() const { return nearDistances_; }
  /** How far the near neighbours of a row are, by its links; 0 without any. While nobody links. */
  float nearDistance(const Rows& rows, uint32_t row) const;

  /** Makes room for `nodes` and, when it has grown, looks at its degree and distances anew. False: no memory. */
  bool prepare(size_t nodes, const Rows& rows);
  /** Links the next row; all rows below the new size are complete. False when there is no memory. */
  bool link(const Rows& rows);

  /**
   * Pruning may take the last links to a node away. Such nodes are kept in a list, and every walk begins with them, too.
   * `checkNewest` looks whether the nodes since its last call have a link, while nobody links or walks; `findUnreachable`
   * follows all links, beside walks (nodes with hardly a link count, too), and `keepUnreachable` takes its answer.
   */
  void checkNewest();
  std::vector<uint32_t> findUnreachable() const;
  void keepUnreachable(std::vector<uint32_t> nodes);

  /**
   * Appends nodes from `first` to `end` while they fit into `bytesMax`; returns the first one that did not. While nobody
   * links: they count as unchanged from then on.
   */
  size_t exportNodes(size_t first, size_t end, std::vector<uint8_t>& out, size_t bytesMax);
  /** The same of those that have changed, `count` of them, each behind its row (u32). */
  size_t exportChanged(size_t first, size_t end, std::vector<uint8_t>& out, size_t bytesMax, size_t& count);
  /** Reads what `exportNodes` wrote, into memory of its own; an empty text or what is wrong with it. */
  std::string importNodes(const uint8_t* bytes, size_t length, size_t count);
  /** Reads what `exportChanged` wrote, in place of what those nodes were. */
  std::string importChanged(const uint8_t* bytes, size_t length, size_t count);
  /** Makes the graph of all imported nodes, if their links are sound. */
  std::string finishImport(const Rows& rows);

  size_t memoryBytes() const;

 private:
  class Linker;
  class NodeReader;
  template <typename Frontier, typename Widen>
  friend class GraphWalk;

  void enterAt(uint32_t row, int level) REQUIRES(entryMutex_) {
    entry_ = row;
    entryLevel_ = level;
    rising_ = false;
  }
  bool reserve(size_t nodes);
  size_t nodeBytes(uint32_t row) const;
  void exportNode(uint32_t row, std::vector<uint8_t>& out);
  void sample(const Rows& rows);
  /** Whether codes order the neighbours of a row; unknown where too few are in memory, or far enough for codes. */
  enum class Order { Kept, Lost, Unknown };
  Order orderOfCodes(const Rows& rows, uint32_t row) const;
  /** From `entry` in layer `from` down to the nearest that is found in the layer above `to`. */
  Candidate descend(RowDistances& distances, const Point& point, uint32_t entry, int from, int to,
                    size_t& computed) const;

  const size_t connectivity_;
  const size_t connectivityBase_;
  const size_t efConstruction_;
  GraphNodes nodes_;
  std::atomic<size_t> size_{0};
  /** Guards the three below while anyone links; without links, anyone may read where walks enter. */
  Mutex entryMutex_;
  /** Whether a node of a new highest layer is being linked, which is the entry then. */
  bool rising_ GUARDED_BY(entryMutex_) = false;
  uint32_t entry_ = 0;
  /** Below 0 while there is no node. */
  int entryLevel_ = -1;
  float meanDegree_ = 0;
  NearDistances nearDistances_;
  size_t sampledAt_ = 0;
  size_t checkedUpTo_ = 0;
  /**
   * Swapped as a whole, by std::atomic_store: walks may be reading. C++17 has no std::atomic<std::shared_ptr>; the lock
   * that these functions take is held for the copy of one pointer, once a walk.
   */
  std::shared_ptr<const std::vector<uint32_t>> unreachable_ = std::make_shared<std::vector<uint32_t>>();
};

}  // namespace shoal
