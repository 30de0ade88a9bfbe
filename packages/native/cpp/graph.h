// The neighbour graph over rows: a hierarchical navigable small world (Malkov and Yashunin, arXiv 1603.09320).
#pragma once
#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "graph-nodes.h"
#include "row-distances.h"
#include "rows.h"

namespace shoal {

/** Orders of heaps, as types so that the heap functions are compiled with them: the farthest in front, the nearest in front. */
struct FarthestFirst {
  bool operator()(const Candidate& a, const Candidate& b) const { return a.distance < b.distance; }
};
struct NearestFirst {
  bool operator()(const Candidate& a, const Candidate& b) const { return a.distance > b.distance; }
};

/** What a walk needs; each native thread keeps one and uses it for all graphs. */
struct WalkScratch {
  std::vector<uint64_t> visited;
  std::vector<uint32_t> touched;
  std::vector<Candidate> open;
  std::vector<Candidate> found;
  /** Seen, but too far for the first ef: neither opened nor found; and found, but later pushed out. */
  std::vector<Candidate> far;
  std::vector<Candidate> evicted;
  std::vector<Candidate> again;
  size_t distances = 0;
};

/** How far the near neighbours of rows are: what a query's are measured by. */
struct NearDistances {
  float mean = 0;
  float deviation = 1;
};

/**
 * Node n is row n. `link` may run on several threads at once; `walk` on any number of threads, but not while anyone links,
 * prepares or imports: the caller keeps these phases apart.
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
   * Leaves the `ef` nearest nodes that `allowed(row)` accepts in `scratch.found`, in no order. False when it gave up
   * because it had computed `distancesMax` distances. When the walk is over, `widen(found)` may ask for a larger ef: it
   * goes on with that as if it had been so from the beginning.
   */
  template <typename Allowed, typename Widen>
  bool walk(const Rows& rows, const Point& query, size_t ef, size_t distancesMax, Allowed allowed, Widen widen,
            WalkScratch& scratch) const;

  /** Appends nodes from `first` while they fit into `bytesMax`; returns the first one that did not. */
  size_t exportNodes(size_t first, std::vector<uint8_t>& out, size_t bytesMax) const;
  /** Reads what `exportNodes` wrote, into memory of its own; an empty text or what is wrong with it. */
  std::string importNodes(const uint8_t* bytes, size_t length, size_t count);
  /** Makes the graph of all imported nodes, if their links are sound. */
  std::string finishImport(const Rows& rows);

  size_t memoryBytes() const;

 private:
  class Linker;

  bool reserve(size_t nodes);
  void sample(const Rows& rows);
  /** From `entry` in layer `from` down to the nearest that is found in the layer above `to`. */
  Candidate descend(RowDistances& distances, const Point& point, uint32_t entry, int from, int to,
                    size_t& computed) const;

  const size_t connectivity_;
  const size_t connectivityBase_;
  const size_t efConstruction_;
  GraphNodes nodes_;
  std::atomic<size_t> size_{0};
  /** Guards the two below while anyone links. */
  std::mutex entryMutex_;
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

template <typename Allowed, typename Widen>
bool Graph::walk(const Rows& rows, const Point& query, size_t ef, size_t distancesMax, Allowed allowed, Widen widen,
                 WalkScratch& scratch) const {
  scratch.visited.resize((size() + 63) / 64 > scratch.visited.size() ? (size() + 63) / 64 : scratch.visited.size());
  scratch.touched.clear();
  scratch.open.clear();
  scratch.found.clear();
  scratch.far.clear();
  scratch.evicted.clear();
  scratch.distances = 0;
  if (size() == 0) return true;
  RowDistances distances(rows, nearDistances_.mean, query.coarse);
  auto visit = [&scratch](uint32_t slot) {
    uint64_t& word = scratch.visited[slot >> 6];
    const uint64_t bit = uint64_t{1} << (slot & 63);
    if ((word & bit) != 0) return false;
    word |= bit;
    scratch.touched.push_back(slot);
    return true;
  };

  float radius = 3e38f;
  const auto find = [&](const Candidate& candidate) {
    scratch.found.push_back(candidate);
    std::push_heap(scratch.found.begin(), scratch.found.end(), FarthestFirst());
    if (scratch.found.size() > ef) {
      std::pop_heap(scratch.found.begin(), scratch.found.end(), FarthestFirst());
      scratch.evicted.push_back(scratch.found.back());
      scratch.found.pop_back();
    }
    if (scratch.found.size() == ef) radius = scratch.found.front().distance;
  };
  const auto meet = [&](const Candidate& candidate) {
    if (candidate.distance >= radius) {
      scratch.far.push_back(candidate);
      return;
    }
    scratch.open.push_back(candidate);
    std::push_heap(scratch.open.begin(), scratch.open.end(), NearestFirst());
    if (allowed(candidate.row)) find(candidate);
  };

  const Candidate start = descend(distances, query, entry_, entryLevel_, 0, scratch.distances);
  visit(start.row);
  meet(start);
  Candidate batch[DISTANCES_AT_ONCE];
  // Those of some rows that have not been met.
  const auto meetAll = [&](auto at, auto end) {
    while (at != end) {
      size_t count = 0;
      for (; at != end && count < DISTANCES_AT_ONCE; ++at) {
        if (!visit(*at)) continue;
        distances.prefetch(*at);
        batch[count++].row = *at;
      }
      distances.measure(query, batch, count);
      scratch.distances += count;
      for (size_t i = 0; i < count; i++) meet(batch[i]);
    }
  };
  const auto unreachable = std::atomic_load(&unreachable_);
  meetAll(unreachable->begin(), unreachable->end());

  bool complete = true;
  bool widened = false;
  for (;;) {
    if (scratch.open.empty() || scratch.open.front().distance > radius) {
      const size_t wider = widened ? ef : widen(scratch.found);
      if (wider <= ef) break;
      widened = true;
      ef = wider;
      radius = 3e38f;
      // Both lists grow again where they must.
      scratch.again.swap(scratch.evicted);
      for (const Candidate& candidate : scratch.again) find(candidate);
      scratch.again.clear();
      scratch.again.swap(scratch.far);
      for (const Candidate& candidate : scratch.again) meet(candidate);
      scratch.again.clear();
      continue;
    }
    const Candidate next = scratch.open.front();
    if (scratch.distances >= distancesMax) {
      complete = false;
      break;
    }
    std::pop_heap(scratch.open.begin(), scratch.open.end(), NearestFirst());
    scratch.open.pop_back();
    // Most likely the next one: its links come while this one is worked on.
    if (!scratch.open.empty()) nodes_.links(scratch.open.front().row, 0).prefetch();
    const LinkList neighbours = nodes_.links(next.row, 0);
    meetAll(neighbours.begin(), neighbours.end());
  }
  for (const uint32_t slot : scratch.touched) scratch.visited[slot >> 6] = 0;
  return complete;
}

}  // namespace shoal
