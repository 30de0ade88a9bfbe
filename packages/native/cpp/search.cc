// One search: plan, collect candidates by approximate distance, rank them exactly.
#include <algorithm>

#include "candidates.h"
#include "search-plan.h"
#include "vector-index.h"

namespace shoal {
namespace {

constexpr size_t SCAN_BATCH = 64;

struct Scratch {
  PreparedQuery query;
  WalkScratch walk;
  ScanScratch scan;
};

/** Not inlined: the compiler would look up the thread's own memory again and again in the loops of a search. */
__attribute__((noinline)) Scratch& threadScratch() {
  static thread_local Scratch scratch;
  return scratch;
}

size_t countBits(const std::vector<uint32_t>& words) {
  size_t bits = 0;
  for (const uint32_t word : words) bits += static_cast<size_t>(__builtin_popcount(word));
  return bits;
}

bool isAllowed(const SearchRequest& request, uint32_t document) {
  const size_t word = document >> 5;
  return word < request.allowed.size() && (request.allowed[word] >> (document & 31) & 1) != 0;
}

/** Feeds rows to the collector, a batch at a time. */
class Scan {
 public:
  Scan(const Rows& rows, const PreparedQuery& query, NearestCollector& collector)
      : rows_(rows), query_(query), collector_(collector) {}
  ~Scan() { flush(); }

  void add(uint32_t row) {
    ids_[count_] = row;
    highs_[count_] = rows_.high(row);
    __builtin_prefetch(highs_[count_]);
    __builtin_prefetch(highs_[count_] + 32);
    if (++count_ == SCAN_BATCH) flush();
  }

 private:
  void flush() {
    simdKernels().dotHighMany(query_.high.data(), highs_, count_, rows_.lanes(), dots_);
    for (size_t i = 0; i < count_; i++) collector_.add(1 - dots_[i], ids_[i]);
    count_ = 0;
  }

  const Rows& rows_;
  const PreparedQuery& query_;
  NearestCollector& collector_;
  size_t count_ = 0;
  uint32_t ids_[SCAN_BATCH];
  const uint16_t* highs_[SCAN_BATCH];
  float dots_[SCAN_BATCH];
};

FoundDistances distancesOf(const std::vector<Candidate>& found, std::vector<float>& distances) {
  distances.clear();
  for (const Candidate& candidate : found) distances.push_back(candidate.distance);
  const size_t place = std::min<size_t>(9, distances.size() - 1);
  const auto tenth = distances.begin() + static_cast<std::ptrdiff_t>(place);
  std::nth_element(distances.begin(), tenth, distances.end());
  return {*std::min_element(distances.begin(), tenth + 1), *tenth};
}

void scanAllowed(const Generation& generation, const SearchRequest& request, Scan& scan) {
  for (size_t word = 0; word < request.allowed.size(); word++)
    for (uint32_t bits = request.allowed[word]; bits != 0; bits &= bits - 1) {
      const uint32_t document = static_cast<uint32_t>(word * 32) + static_cast<uint32_t>(__builtin_ctz(bits));
      const uint32_t row = generation.table.find(document);
      if (row != NO_ROW) scan.add(row);
    }
}

}  // namespace

void VectorIndex::search(SearchRequest& request) {
  if (request.audit) return audit();
  Scratch& scratch = threadScratch();
  const Generation& generation = *generation_;
  const Rows& rows = generation.rows;
  const uint64_t deaths = rows.deaths();
  const size_t count = rows.count();
  const size_t wanted = std::min(request.wanted, count);
  if (wanted == 0) return outbox_->answer(request.id, AnswerStatus::Done);
  scratch.query.prepare(request.query.data(), rows);

  SearchShape shape;
  shape.wanted = wanted;
  shape.ef = request.ef;
  shape.lanes = rows.lanes();
  shape.live = generation.live.load(std::memory_order_relaxed);
  shape.filtered = request.filtered;
  shape.allowed = request.filtered ? std::min(countBits(request.allowed), shape.live) : shape.live;
  shape.linked = generation.graph.size();
  shape.meanDegree = std::max(4.0f, generation.graph.meanDegree());
  shape.connectivityBase = settings_.connectivityBase;
  shape.flatSearchCutoff = request.flatSearchCutoff;
  const SearchPlan plan = planSearch(shape);

  const auto visible = [&](size_t row) {
    return rows.aliveAt(row, deaths) && (!request.filtered || isAllowed(request, rows.document(row)));
  };
  bool flat = plan.flat || scratch.query.zero;
  if (!flat) {
    const uint16_t* high = scratch.query.high.data();
    const bool all = !request.filtered && deaths == 0;
    const Graph& graph = generation.graph;
    const auto widen = [&](std::vector<Candidate>& found) {
      return plan.adaptive && !found.empty()
                 ? widenedEf(plan, distancesOf(found, scratch.scan.nearest), graph.nearDistances().mean,
                             graph.nearDistances().deviation)
                 : size_t{0};
    };
    const auto any = [](size_t) { return true; };
    const bool complete = all ? graph.walk(rows, high, plan.ef, plan.distancesMax, any, widen, scratch.walk)
                              : graph.walk(rows, high, plan.ef, plan.distancesMax, visible, widen, scratch.walk);
    // Too far, or too few were reachable: then the scan is the answer.
    flat = !complete || scratch.walk.found.size() < std::min(wanted, shape.allowed);
  }

  NearestCollector collector(rows, scratch.query, scratch.scan, wanted);
  {
    Scan scan(rows, scratch.query, collector);
    if (flat && request.filtered) {
      scanAllowed(generation, request, scan);
    } else {
      const size_t first = flat ? 0 : shape.linked;
      if (!flat)
        for (const Candidate& found : scratch.walk.found) collector.add(found.distance, found.row);
      for (size_t row = first; row < count; row++)
        if (visible(row)) scan.add(static_cast<uint32_t>(row));
    }
  }
  collector.rank();
  outbox_->answer(request.id, AnswerStatus::Done, scratch.scan.documents.data(), scratch.scan.distances.data(),
                  scratch.scan.documents.size());
}

}  // namespace shoal
