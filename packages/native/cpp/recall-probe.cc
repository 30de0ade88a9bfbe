#include "recall-probe.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "scheduler.h"
#include "vector-index.h"

namespace shoal {
namespace {

constexpr std::chrono::microseconds STEP{1000};
constexpr size_t SCAN_BATCH = 64;

/** A row that stands for a query is moved by so much of the distance at which it has near neighbours. */
constexpr float MOVED = 0.15f;
/** So many rows are tried when a living one is chosen at random. */
constexpr int TRIES = 64;

/** The filter: a quarter of the documents, at random, always the same ones. */
bool isKept(uint32_t document) { return (document * 0x9E3779B1u >> 16 & 3) == 0; }

struct Met {
  uint32_t row;
  uint32_t needed;
};

struct Observation {
  const std::vector<uint32_t>& candidates;
  WalkRecord& record;
  std::vector<Met> met;
  /** Candidates that a walk needs to come so far. */
  size_t level = 0;
  uint32_t measured = 0;
  size_t nextCandidates = 0, nextStage = 0;
};

/** The candidates of a walk, observed. */
template <typename Counts>
class ObservedFrontier {
 public:
  ObservedFrontier(NearestPool& pool, Counts counts, Observation& observation)
      : pool_(pool), counts_(counts), observation_(observation) {
    pool_.reserve(observation.candidates.back());
    pool_.clear(observation.candidates.back());
  }

  bool accepts(float distance) const {
    observation_.measured++;
    return pool_.accepts(distance);
  }
  void add(const Candidate& candidate) {
    const bool counts = counts_(candidate.row);
    pool_.insert(candidate, counts);
    if (counts) observation_.met.push_back({candidate.row, static_cast<uint32_t>(std::max<size_t>(1, observation_.level))});
  }
  uint32_t peek() { return pool_.peek(); }
  void open() {
    const size_t level = pool_.countedBeforeNext() + 1;
    if (level > observation_.level) reach(level);
    pool_.open();
  }
  void widen(size_t, std::vector<Candidate>&) {}
  template <typename Each>
  void eachFound(Each) const {}

  /** Calls `each(row, rank)` with what is kept at the end; the nearest has rank 1. */
  template <typename Each>
  void eachKept(Each each) const {
    uint32_t rank = 0;
    for (size_t place = 0; place < pool_.count(); place++)
      if (pool_.counts(place)) each(pool_.at(place).row, ++rank);
  }

  /** The walk is over: it has come as far as with any number of candidates. */
  void finish() { reach(SIZE_MAX); }

 private:
  /** A walk with fewer than `level` candidates ends here. */
  void reach(size_t level) {
    Observation& seen = observation_;
    while (seen.nextCandidates < seen.candidates.size() && seen.candidates[seen.nextCandidates] < level)
      seen.record.measured[seen.nextCandidates++] = seen.measured;
    while (seen.nextStage < WalkRecord::STAGES.size() && WalkRecord::STAGES[seen.nextStage] < level) {
      seen.record.stages[seen.nextStage] = distancesAt(WalkRecord::STAGES[seen.nextStage]);
      seen.nextStage++;
    }
    seen.level = level;
  }
  StageDistances distancesAt(size_t stage) const {
    std::vector<float> distances;
    for (size_t place = 0; place < pool_.count() && distances.size() < stage; place++)
      if (pool_.counts(place)) distances.push_back(pool_.at(place).distance);
    return distances.empty() ? StageDistances{0, 1} : stageDistances(distances, stage);
  }

  NearestPool& pool_;
  const Counts counts_;
  Observation& observation_;
};

}  // namespace

RecallProbe::RecallProbe(std::vector<uint32_t> candidates, std::vector<float> query, uint32_t seed)
    : candidates_(std::move(candidates)), vector_(std::move(query)), seed_(seed) {}

bool RecallProbe::step(const std::shared_ptr<Generation>& generation) {
  if (phase_ != Phase::Begin && generation_.lock() != generation) phase_ = Phase::Void;
  const Rows& rows = generation->rows;
  switch (phase_) {
    case Phase::Begin:
      generation_ = generation;
      begin(*generation);
      break;
    case Phase::Scan:
      scan(*generation);
      break;
    case Phase::Walk:
      walk(*generation, nearest_, [&rows, this](uint32_t row) { return rows.aliveAt(row, deaths_); }, unfiltered_);
      phase_ = Phase::WalkFiltered;
      break;
    case Phase::WalkFiltered:
      walk(*generation, nearestKept_,
           [&rows, this](uint32_t row) { return rows.aliveAt(row, deaths_) && isKept(rows.document(row)); }, filtered_);
      phase_ = Phase::Done;
      break;
    case Phase::Done:
    case Phase::Void:
      break;
  }
  return phase_ != Phase::Done && phase_ != Phase::Void;
}

bool RecallProbe::chooseRow(const Generation& generation) {
  const Rows& rows = generation.rows;
  std::mt19937 random(seed_);
  std::uniform_int_distribution<size_t> anyRow(0, linked_ - 1);
  for (int tries = 0; tries < TRIES && excluded_ == NO_ROW; tries++) {
    const size_t row = anyRow(random);
    if (rows.aliveAt(row, deaths_) && !rows.isZero(row)) excluded_ = static_cast<uint32_t>(row);
  }
  if (excluded_ == NO_ROW) return false;
  vector_.resize(rows.dimensions());
  if (!rows.read(excluded_, vector_.data())) return false;
  std::normal_distribution<float> anywhere;
  std::vector<float> direction(vector_.size());
  double squares = 0;
  for (float& value : direction) {
    value = anywhere(random);
    squares += double{value} * value;
  }
  // Of vectors of length one at the cosine distance d, the difference is sqrt(2 d) long.
  const float near = std::sqrt(2 * std::max(0.0f, generation.graph.nearDistance(rows, excluded_)));
  const float step = MOVED * near / static_cast<float>(std::sqrt(std::max(1e-30, squares)));
  for (size_t i = 0; i < vector_.size(); i++) vector_[i] += step * direction[i];
  return true;
}

void RecallProbe::begin(const Generation& generation) {
  deaths_ = generation.rows.deaths();
  linked_ = generation.graph.size();
  if (linked_ == 0 || (vector_.empty() && !chooseRow(generation))) {
    phase_ = Phase::Void;
    return;
  }
  query_.prepare(vector_.data(), generation.rows);
  allCollector_ = std::make_unique<NearestCollector>(generation.rows, query_, all_, RESULTS);
  keptCollector_ = std::make_unique<NearestCollector>(generation.rows, query_, kept_, FILTERED_RESULTS);
  phase_ = query_.zero ? Phase::Void : Phase::Scan;
}

void RecallProbe::scan(const Generation& generation) {
  const Rows& rows = generation.rows;
  const auto deadline = Clock::now() + STEP;
  const uint16_t* highs[SCAN_BATCH];
  const int8_t* codes[SCAN_BATCH];
  uint32_t batch[SCAN_BATCH];
  float dots[SCAN_BATCH];
  while (scanned_ < linked_ && Clock::now() < deadline) {
    size_t count = 0;
    // Rows whose halves are not in memory by their codes: their collectors know what those leave out.
    const bool resident = rows.resident(scanned_);
    for (; scanned_ < linked_ && count < SCAN_BATCH && rows.resident(scanned_) == resident; scanned_++) {
      if (scanned_ == excluded_ || !rows.aliveAt(scanned_, deaths_)) continue;
      if (resident) highs[count] = rows.high(scanned_);
      else codes[count] = rows.codes(scanned_);
      batch[count++] = static_cast<uint32_t>(scanned_);
    }
    if (resident) simdKernels().dotHighMany(query_.high.data(), highs, count, rows.lanes(), dots);
    else simdKernels().dotCodesMany(query_.codes.data(), codes, count, rows.codeBytes(), dots);
    const auto add = [resident](NearestCollector& to, float distance, uint32_t row) {
      if (resident) to.add(distance, row);
      else to.addByCodes(distance, row);
    };
    for (size_t i = 0; i < count; i++) {
      add(*allCollector_, 1 - dots[i], batch[i]);
      if (isKept(rows.document(batch[i]))) add(*keptCollector_, 1 - dots[i], batch[i]);
    }
  }
  if (scanned_ == linked_) finishScan(generation);
}

void RecallProbe::finishScan(const Generation& generation) {
  const auto rowsOf = [&](NearestCollector& collector, const ScanScratch& scratch, std::vector<uint32_t>& rows) {
    uint32_t unread = 0;
    if (!collector.rank(unread)) return false;
    for (const uint32_t document : scratch.documents) {
      const uint32_t row = generation.table.find(document);
      // Replaced or removed meanwhile.
      if (row < linked_) rows.push_back(row);
    }
    return true;
  };
  const bool known = rowsOf(*allCollector_, all_, nearest_) && rowsOf(*keptCollector_, kept_, nearestKept_);
  phase_ = known ? Phase::Walk : Phase::Void;
}

template <typename Counts>
void RecallProbe::walk(const Generation& generation, const std::vector<uint32_t>& nearest, Counts counts,
                       WalkRecord& record) {
  static thread_local WalkScratch scratch;
  record.measured.assign(candidates_.size(), 0);
  Observation observation{candidates_, record, {}};
  ObservedFrontier<Counts> frontier(scratch.pool, counts, observation);
  const auto widen = [](std::vector<float>&) { return size_t{0}; };
  {
    const WalkBounds bounds{candidates_.back(), SIZE_MAX, excluded_};
    GraphWalk walk(generation.graph, generation.rows, query_.point(), bounds, frontier, widen, scratch);
    while (walk.step()) {
    }
  }
  frontier.finish();
  std::vector<std::pair<uint32_t, size_t>> places;
  for (size_t place = 0; place < nearest.size(); place++) places.emplace_back(nearest[place], place);
  std::sort(places.begin(), places.end());
  record.needed.assign(nearest.size(), NOT_FOUND);
  const auto each = [&](uint32_t row, auto found) {
    const auto at = std::lower_bound(places.begin(), places.end(), std::make_pair(row, size_t{0}));
    if (at != places.end() && at->first == row) found(record.needed[at->second]);
  };
  for (const Met& met : observation.met) each(met.row, [&](uint32_t& needed) { needed = met.needed; });
  // Distances of a walk are rounded: a row is forgotten again by walks with fewer candidates than seem nearer.
  std::vector<bool> kept(nearest.size());
  frontier.eachKept([&](uint32_t row, uint32_t rank) {
    each(row, [&](uint32_t& needed) {
      needed = std::max(needed, rank);
      kept[static_cast<size_t>(&needed - record.needed.data())] = true;
    });
  });
  for (size_t place = 0; place < kept.size(); place++)
    if (!kept[place]) record.needed[place] = NOT_FOUND;
}

void RecallProbe::answer(Outbox& outbox, uint32_t request) const {
  if (phase_ != Phase::Done) return outbox.answer(request, AnswerStatus::Cancelled);
  std::vector<uint32_t> integers{static_cast<uint32_t>(linked_), static_cast<uint32_t>(unfiltered_.needed.size()),
                                 static_cast<uint32_t>(filtered_.needed.size())};
  std::vector<float> floats;
  for (const WalkRecord* record : {&unfiltered_, &filtered_}) {
    integers.insert(integers.end(), record->needed.begin(), record->needed.end());
    for (const StageDistances& stage : record->stages) floats.insert(floats.end(), {stage.contrast, stage.tenth});
  }
  integers.insert(integers.end(), unfiltered_.measured.begin(), unfiltered_.measured.end());
  floats.resize(std::max(floats.size(), integers.size()));
  integers.resize(floats.size());
  outbox.answer(request, AnswerStatus::Done, integers.data(), floats.data(), integers.size());
}

void VectorIndex::probe(std::unique_ptr<SearchRequest>& request) {
  {
    const std::lock_guard<std::mutex> lock(writing_);
    if (closing_) return outbox_->answer(request->id, AnswerStatus::Cancelled);
  }
  if (!request->probe->step(generation_)) return request->probe->answer(*outbox_, request->id);
  // To the end of the line: what waits goes first.
  Scheduler::get().search(shared_from_this(), std::move(request));
  Scheduler::get().wakeForSearches();
}

}  // namespace shoal
