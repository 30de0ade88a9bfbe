#include "recall-probe.h"

#include <algorithm>
#include <cmath>

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
    const size_t place = pool_.insert(candidate, counts);
    if (place < talliedEnd_) {
      // What stood there stands one place further on now.
      tally_ -= pool_.countedIn(place + 1, talliedEnd_ + 1);
      talliedEnd_ = place;
    }
    if (counts)
      observation_.met.push_back({candidate.row, static_cast<uint32_t>(std::max<size_t>(1, observation_.level))});
  }
  uint32_t peek() { return pool_.peek(); }
  void open() {
    const size_t level = countedBeforeNext() + 1;
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
  /** How many that count are in front of what is opened next. */
  size_t countedBeforeNext() {
    const size_t next = pool_.next();
    if (next < talliedEnd_) tally_ -= pool_.countedIn(next, talliedEnd_);
    else tally_ += pool_.countedIn(talliedEnd_, next);
    talliedEnd_ = next;
    return tally_;
  }
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
  /** How many of the places before `talliedEnd_` count. */
  size_t tally_ = 0, talliedEnd_ = 0;
};

}  // namespace

RecallProbe::RecallProbe(std::vector<uint32_t> candidates, std::vector<float> queries)
    : candidates_(std::move(candidates)), vectors_(std::move(queries)), rowsWanted_(0) {}

RecallProbe::RecallProbe(std::vector<uint32_t> candidates, size_t count, uint32_t seed)
    : candidates_(std::move(candidates)), rowsWanted_(count), random_(seed) {}

bool RecallProbe::step(const std::shared_ptr<Generation>& generation) {
  if (phase_ != Phase::Begin && generation_.lock() != generation) phase_ = Phase::Void;
  switch (phase_) {
    case Phase::Begin:
      generation_ = generation;
      begin(*generation);
      break;
    case Phase::Scan:
      scan(*generation);
      break;
    case Phase::Rank:
      rankNext(*generation);
      break;
    case Phase::Walk:
      walkNext(*generation);
      break;
    case Phase::Done:
    case Phase::Void:
      break;
  }
  return phase_ != Phase::Done && phase_ != Phase::Void;
}

void RecallProbe::begin(const Generation& generation) {
  deaths_ = generation.rows.deaths();
  linked_ = generation.graph.size();
  const size_t dimensions = generation.rows.dimensions();
  if (linked_ > 0 && vectors_.empty()) chooseRows(generation);
  if (linked_ > 0)
    for (size_t at = 0; at < vectors_.size(); at += dimensions) prepare(generation, vectors_.data() + at, NO_ROW);
  if (phase_ == Phase::Begin) phase_ = queries_.empty() ? Phase::Void : Phase::Scan;
}

void RecallProbe::prepare(const Generation& generation, const float* vector, uint32_t excluded) {
  auto query = std::make_unique<Query>();
  query->prepared.prepare(vector, generation.rows);
  if (query->prepared.zero) return;
  query->excluded = excluded;
  query->filters = queries_.size() % 2 == 0;
  query->allCollector = std::make_unique<NearestCollector>(generation.rows, query->prepared, query->all, RESULTS);
  query->keptCollector =
      std::make_unique<NearestCollector>(generation.rows, query->prepared, query->kept, FILTERED_RESULTS);
  queries_.push_back(std::move(query));
}

void RecallProbe::chooseRows(const Generation& generation) {
  const Rows& rows = generation.rows;
  std::uniform_int_distribution<size_t> anyRow(0, linked_ - 1);
  std::vector<float> vector(rows.dimensions());
  for (size_t chosen = 0; chosen < rowsWanted_; chosen++) {
    uint32_t excluded = NO_ROW;
    for (int tries = 0; tries < TRIES && excluded == NO_ROW; tries++) {
      const size_t row = anyRow(random_);
      if (rows.aliveAt(row, deaths_) && !rows.isZero(row)) excluded = static_cast<uint32_t>(row);
    }
    if (excluded == NO_ROW) continue;
    if (!rows.read(excluded, vector.data())) {
      phase_ = Phase::Void;
      return;
    }
    moveRow(generation, excluded, vector);
    prepare(generation, vector.data(), excluded);
  }
}

void RecallProbe::moveRow(const Generation& generation, uint32_t row, std::vector<float>& vector) {
  std::normal_distribution<float> anywhere;
  std::vector<float> direction(vector.size());
  double squares = 0;
  for (float& value : direction) {
    value = anywhere(random_);
    squares += double{value} * value;
  }
  // Of vectors of length one at the cosine distance d, the difference is sqrt(2 d) long.
  const float near = std::sqrt(2 * std::max(0.0f, generation.graph.nearDistance(generation.rows, row)));
  const float step = MOVED * near / static_cast<float>(std::sqrt(std::max(1e-30, squares)));
  for (size_t i = 0; i < vector.size(); i++) vector[i] += step * direction[i];
}

void RecallProbe::scan(const Generation& generation) {
  const Rows& rows = generation.rows;
  const auto deadline = Clock::now() + STEP;
  const uint16_t* highs[SCAN_BATCH];
  const int8_t* codes[SCAN_BATCH];
  uint32_t batch[SCAN_BATCH];
  bool isBatchKept[SCAN_BATCH];
  float dots[SCAN_BATCH];
  while (scanned_ < linked_ && Clock::now() < deadline) {
    size_t count = 0;
    // Rows whose halves are not in memory by their codes: their collectors know what those leave out.
    const bool resident = rows.resident(scanned_);
    for (; scanned_ < linked_ && count < SCAN_BATCH && rows.resident(scanned_) == resident; scanned_++) {
      if (!rows.aliveAt(scanned_, deaths_)) continue;
      if (resident) highs[count] = rows.high(scanned_);
      else codes[count] = rows.codes(scanned_);
      isBatchKept[count] = isKept(rows.document(scanned_));
      batch[count++] = static_cast<uint32_t>(scanned_);
    }
    const auto add = [resident](NearestCollector& to, float distance, uint32_t row) {
      if (resident) to.add(distance, row);
      else to.addByCodes(distance, row);
    };
    for (const auto& query : queries_) {
      const PreparedQuery& prepared = query->prepared;
      if (resident) simdKernels().dotHighMany(prepared.high.data(), highs, count, rows.lanes(), dots);
      else simdKernels().dotCodesMany(prepared.codes.data(), codes, count, rows.codeBytes(), dots);
      for (size_t i = 0; i < count; i++) {
        if (batch[i] == query->excluded) continue;
        add(*query->allCollector, 1 - dots[i], batch[i]);
        if (query->filters && isBatchKept[i]) add(*query->keptCollector, 1 - dots[i], batch[i]);
      }
    }
  }
  if (scanned_ == linked_) phase_ = Phase::Rank;
}

void RecallProbe::rankNext(const Generation& generation) {
  const auto rowsOf = [&](NearestCollector& collector, ScanScratch& scratch, std::vector<uint32_t>& rows) {
    uint32_t unread = 0;
    if (!collector.rank(unread)) return false;
    for (const uint32_t document : scratch.documents) {
      const uint32_t row = generation.table.find(document);
      // Replaced or removed meanwhile.
      if (row < linked_) rows.push_back(row);
    }
    scratch = {};
    return true;
  };
  Query& query = *queries_[ranked_++];
  const bool known = rowsOf(*query.allCollector, query.all, query.nearest) &&
                     rowsOf(*query.keptCollector, query.kept, query.nearestKept);
  if (!known) phase_ = Phase::Void;
  else if (ranked_ == queries_.size()) phase_ = Phase::Walk;
}

void RecallProbe::walkNext(const Generation& generation) {
  const Rows& rows = generation.rows;
  Query& query = *queries_[walks_ / 2];
  if (walks_ % 2 == 0) {
    walk(
        generation, query, query.nearest, [&rows, this](uint32_t row) { return rows.aliveAt(row, deaths_); },
        query.unfiltered);
    walks_ += query.filters ? 1 : 2;
  } else {
    walk(
        generation, query, query.nearestKept,
        [&rows, this](uint32_t row) { return rows.aliveAt(row, deaths_) && isKept(rows.document(row)); },
        query.filtered);
    walks_++;
  }
  if (walks_ == 2 * queries_.size()) phase_ = Phase::Done;
}

template <typename Counts>
void RecallProbe::walk(const Generation& generation, const Query& query, const std::vector<uint32_t>& nearest,
                       Counts counts, WalkRecord& record) {
  static thread_local WalkScratch scratch;
  record.measured.assign(candidates_.size(), 0);
  Observation observation{candidates_, record, {}};
  ObservedFrontier<Counts> frontier(scratch.pool, counts, observation);
  const auto widen = [](std::vector<float>&) { return size_t{0}; };
  {
    const WalkBounds bounds{candidates_.back(), SIZE_MAX, query.excluded};
    GraphWalk walk(generation.graph, generation.rows, query.prepared.point(), bounds, frontier, widen, scratch);
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
  if (phase_ != Phase::Done) return outbox.answer(request, ResultStatus::Cancelled);
  std::vector<uint32_t> integers{static_cast<uint32_t>(linked_), static_cast<uint32_t>(queries_.size())};
  std::vector<float> floats;
  for (const auto& query : queries_) {
    for (const WalkRecord* record : {&query->unfiltered, &query->filtered}) {
      integers.push_back(static_cast<uint32_t>(record->needed.size()));
      integers.insert(integers.end(), record->needed.begin(), record->needed.end());
      for (const StageDistances& stage : record->stages) floats.insert(floats.end(), {stage.contrast, stage.tenth});
    }
    integers.insert(integers.end(), query->unfiltered.measured.begin(), query->unfiltered.measured.end());
  }
  floats.resize(std::max(floats.size(), integers.size()));
  integers.resize(floats.size());
  outbox.answer(request, ResultStatus::Done, integers.data(), floats.data(), integers.size());
}

void VectorIndex::probe(std::unique_ptr<SearchRequest>& request) {
  {
    const MutexLock lock(writing_);
    if (closing_) return outbox_->answer(request->id, ResultStatus::Cancelled);
  }
  if (!request->probe->step(generation_)) return request->probe->answer(*outbox_, request->id);
  // To the end of the line: what waits goes first.
  Scheduler::get().search(shared_from_this(), std::move(request));
  Scheduler::get().wakeForSearches();
}

}  // namespace shoal
