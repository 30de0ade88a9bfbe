// What a walk would have found of one query with any number of candidates: the measurements that the effort of searches is
// fitted to (packages/vector-index/src/fit-effort.ts).
//
// A walk with `ef` candidates opens the same nodes in the same order as one with more, and stops as soon as `ef` nodes that it
// has met are nearer than the next one to open. So one walk with many candidates shows all walks with fewer: a node that was
// met when at most n nodes had been nearer than any that was opened, and that has no more than n nearer ones in the end, is found
// with n + 1 candidates or more.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <random>
#include <vector>

#include "candidates.h"
#include "generation.h"
#include "graph-walk.h"
#include "outbox.h"
#include "search-plan.h"

namespace shoal {

/** What one walk has shown. */
struct WalkRecord {
  /** The place of the last candidate of the first stages that a search may have. */
  static constexpr std::array<size_t, 3> STAGES = {16, 32, 64};

  /** Candidates that each of the nearest takes, nearest first; NOT_FOUND where the most that were tried do not find it. */
  std::vector<uint32_t> needed;
  /** Distances that a walk measures with each of the numbers of candidates that were asked for. */
  std::vector<uint32_t> measured;
  /** After each of the stages. */
  std::array<StageDistances, STAGES.size()> stages{};
};

/**
 * Queries, each looked for exactly and by walks: without a filter, and every other one under a filter that keeps a quarter of the
 * documents at random. All are compared with a row while it is in the cache of the processor: a scan of its own for each
 * would wait for memory. A step takes about a millisecond of the scan, ranks one query, or walks once; steps run beside searches of the index
 * and not beside links.
 */
class RecallProbe {
 public:
  /** How many of the nearest are looked for, without a filter and with it. */
  static constexpr size_t RESULTS = 100;
  static constexpr size_t FILTERED_RESULTS = 10;
  static constexpr uint32_t NOT_FOUND = UINT32_MAX;
  /** So many queries together at most. */
  static constexpr size_t QUERIES_MAX = 64;

  /** `candidates`: ascending numbers; `queries`: some, one behind the other. */
  RecallProbe(std::vector<uint32_t> candidates, std::vector<float> queries);
  /**
   * `count` queries, each a row that `seed` chooses, as if it were not in the index, moved a little in a direction that `seed`
   * chooses.
   */
  RecallProbe(std::vector<uint32_t> candidates, size_t count, uint32_t seed);

  /** False when all is done, or when nothing can be said: the index has been rebuilt meanwhile, or a row cannot be read. */
  bool step(const std::shared_ptr<Generation>& generation);
  /** Answers what has been measured: see src/recall-probe.ts. */
  void answer(Outbox& outbox, uint32_t request) const;

 private:
  enum class Phase { Begin, Scan, Rank, Walk, Done, Void };

  struct Query {
    PreparedQuery prepared;
    uint32_t excluded = NO_ROW;
    bool filters = false;
    ScanScratch all, kept;
    std::unique_ptr<NearestCollector> allCollector, keptCollector;
    /** Rows, nearest first. */
    std::vector<uint32_t> nearest, nearestKept;
    WalkRecord unfiltered, filtered;
  };

  void begin(const Generation& generation);
  void prepare(const Generation& generation, const float* vector, uint32_t excluded);
  void chooseRows(const Generation& generation);
  void moveRow(const Generation& generation, uint32_t row, std::vector<float>& vector);
  void scan(const Generation& generation);
  void rankNext(const Generation& generation);
  void walkNext(const Generation& generation);
  template <typename Counts>
  void walk(const Generation& generation, const Query& query, const std::vector<uint32_t>& nearest, Counts counts,
            WalkRecord& record);

  const std::vector<uint32_t> candidates_;
  const std::vector<float> vectors_;
  const size_t rowsWanted_;
  std::mt19937 random_;
  Phase phase_ = Phase::Begin;
  std::weak_ptr<Generation> generation_;

  std::vector<std::unique_ptr<Query>> queries_;
  uint64_t deaths_ = 0;
  size_t linked_ = 0, scanned_ = 0, ranked_ = 0;
  /** Walks done: two a query, the second one under the filter. */
  size_t walks_ = 0;
};

}  // namespace shoal
