// One build of an index: rows, where each document is, and the graph over the first rows. A rebuild makes a new one.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "document-table.h"
#include "graph.h"
#include "rows.h"

namespace shoal {

/**
 * Counters and table change under the index's write lock; all but the documents' rows may be read at any time.
 */
struct Generation {
  Generation(size_t dimensions, size_t connectivityBase, size_t efConstruction)
      : rows(dimensions), graph(connectivityBase, efConstruction) {}

  /** No other one of the process has it. */
  const uint32_t number = nextNumber();
  Rows rows;
  DocumentTable table;
  Graph graph;
  /** Rows that linkers have taken; between slices, those that the graph holds. */
  std::atomic<size_t> taken{0};
  /** Documents that can be found. */
  std::atomic<size_t> live{0};
  /** Dead rows below `taken`: they stay in the graph, to lead searches on. */
  std::atomic<size_t> tombstones{0};
  /** Whether the index has grown beyond what is searched without a graph. It stays so until a rebuild. */
  std::atomic<bool> graphWanted{false};

  /** How many nodes the graph had when it was last looked through for unreachable ones. Under the write lock. */
  size_t audited = 0;

  /** Live rows that no graph has linked although one is wanted. */
  size_t unindexed() const {
    if (!graphWanted.load(std::memory_order_relaxed)) return 0;
    const size_t linked = taken.load(std::memory_order_relaxed) - tombstones.load(std::memory_order_relaxed);
    const size_t all = live.load(std::memory_order_relaxed);
    return all > linked ? all - linked : 0;
  }
  size_t memoryBytes() const { return rows.memoryBytes() + table.memoryBytes() + graph.memoryBytes(); }

 private:
  static uint32_t nextNumber() {
    static std::atomic<uint32_t> last{0};
    return ++last;
  }
};

}  // namespace shoal
