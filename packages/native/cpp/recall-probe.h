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
  std::array<StageDistances, STAGES.size()> stages;
};

/**
 * One query, looked for exactly and by walks: without a filter, and under one that keeps a quarter of the documents at random.
 * The work is done in steps of about a millisecond, beside searches of the index and not beside links.
 */
class RecallProbe {
 public:
  /** How many of the nearest are looked for, without a filter and with it. */
  static constexpr size_t RESULTS = 100;
  static constexpr size_t FILTERED_RESULTS = 10;
  static constexpr uint32_t NOT_FOUND = UINT32_MAX;

  /**
   * `candidates`: ascending numbers. An empty query: a row that `seed` chooses, as if it were not in the index, moved a
   * little in a direction that `seed` chooses.
   */
  RecallProbe(std::vector<uint32_t> candidates, std::vector<float> query, uint32_t seed);

  /** False when all is done, or when nothing can be said: the index has been rebuilt meanwhile, or a row cannot be read. */
  bool step(const std::shared_ptr<Generation>& generation);
  /** Answers what has been measured: see src/recall-probe.ts. */
  void answer(Outbox& outbox, uint32_t request) const;

 private:
  enum class Phase { Begin, Scan, Walk, WalkFiltered, Done, Void };

  void begin(const Generation& generation);
  void scan(const Generation& generation);
  void finishScan(const Generation& generation);
  template <typename Counts>
  void walk(const Generation& generation, const std::vector<uint32_t>& nearest, Counts counts, WalkRecord& record);
  bool chooseRow(const Generation& generation);

  const std::vector<uint32_t> candidates_;
  std::vector<float> vector_;
  const uint32_t seed_;
  Phase phase_ = Phase::Begin;
  std::weak_ptr<Generation> generation_;

  PreparedQuery query_;
  uint32_t excluded_ = NO_ROW;
  uint64_t deaths_ = 0;
  size_t linked_ = 0, scanned_ = 0;
  ScanScratch all_, kept_;
  std::unique_ptr<NearestCollector> allCollector_, keptCollector_;
  /** Rows, nearest first. */
  std::vector<uint32_t> nearest_, nearestKept_;
  WalkRecord unfiltered_, filtered_;
};

}  // namespace shoal
