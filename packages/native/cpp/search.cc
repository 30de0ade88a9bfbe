// One search: plan, collect candidates by approximate distance, rank them exactly.
#include <algorithm>
#include <deque>

#include "candidates.h"
#include "search-plan.h"
#include "vector-index.h"

namespace shoal {
namespace {

constexpr size_t SCAN_BATCH = 64;

struct QueryScratch {
  PreparedQuery query;
  ScanScratch scan;
};

struct Scratch {
  /** One for a search that is done alone. */
  std::deque<QueryScratch> queries{1};
  std::vector<NearestCollector> collectors;
  std::vector<SearchRequest*> together;
  WalkScratch walk;
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

/** Feeds rows to the collectors, a batch at a time: the rows of a batch come from memory once for all of them. */
class Scan {
 public:
  Scan(const Rows& rows, std::vector<NearestCollector>& collectors) : rows_(rows), collectors_(collectors) {}
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
    for (NearestCollector& collector : collectors_) {
      simdKernels().dotHighMany(collector.query().high.data(), highs_, count_, rows_.lanes(), dots_);
      for (size_t i = 0; i < count_; i++) collector.add(1 - dots_[i], ids_[i]);
    }
    count_ = 0;
  }

  const Rows& rows_;
  std::vector<NearestCollector>& collectors_;
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

SearchShape shapeOf(const SearchRequest& request, const Generation& generation, size_t connectivityBase) {
  SearchShape shape;
  shape.wanted = std::min(request.wanted, generation.rows.count());
  shape.shards = request.shards;
  shape.ef = request.ef;
  shape.lanes = generation.rows.lanes();
  shape.coded = codesTell(generation.rows, generation.graph.nearDistances().mean);
  shape.live = generation.live.load(std::memory_order_relaxed);
  shape.filtered = request.filtered;
  shape.allowed = request.filtered ? std::min(countBits(request.allowed), shape.live) : shape.live;
  shape.linked = generation.graph.size();
  shape.meanDegree = std::max(4.0f, generation.graph.meanDegree());
  shape.connectivityBase = connectivityBase;
  shape.flatSearchCutoff = request.flatSearchCutoff;
  return shape;
}

}  // namespace

void VectorIndex::search(Searches& requests) {
  SearchRequest& first = *requests.front();
  if (first.audit) return audit();
  if (requests.size() == 1) return searchAlone(first);
  auto& together = threadScratch().together;
  together.clear();
  const Generation& generation = *generation_;
  for (const auto& request : requests) {
    const bool same = request->wanted > 0 && request->allowed == first.allowed;
    const bool flat = same && planSearch(shapeOf(*request, generation, settings_.connectivityBase)).flat;
    if (flat) together.push_back(request.get());
    else searchAlone(*request);
  }
  if (!together.empty()) scanTogether(together);
}

void VectorIndex::scanTogether(const std::vector<SearchRequest*>& requests) {
  Scratch& scratch = threadScratch();
  const Generation& generation = *generation_;
  const Rows& rows = generation.rows;
  if (scratch.queries.size() < requests.size()) scratch.queries.resize(requests.size());
  scratch.collectors.clear();
  for (size_t i = 0; i < requests.size(); i++) {
    QueryScratch& own = scratch.queries[i];
    own.query.prepare(requests[i]->query.data(), rows);
    scratch.collectors.emplace_back(rows, own.query, own.scan, requests[i]->wanted);
  }
  {
    Scan scan(rows, scratch.collectors);
    scanAllowed(generation, *requests.front(), scan);
  }
  for (size_t i = 0; i < requests.size(); i++) {
    scratch.collectors[i].rank();
    const ScanScratch& found = scratch.queries[i].scan;
    outbox_->keep(requests[i]->id, AnswerStatus::Done, found.documents.data(), found.distances.data(),
                  found.documents.size());
  }
}

void VectorIndex::searchAlone(SearchRequest& request) {
  Scratch& scratch = threadScratch();
  QueryScratch& own = scratch.queries.front();
  const Generation& generation = *generation_;
  const Rows& rows = generation.rows;
  const uint64_t deaths = rows.deaths();
  const size_t count = rows.count();
  const size_t wanted = std::min(request.wanted, count);
  if (wanted == 0) return outbox_->keep(request.id, AnswerStatus::Done);
  own.query.prepare(request.query.data(), rows);
  const SearchShape shape = shapeOf(request, generation, settings_.connectivityBase);
  const SearchPlan plan = planSearch(shape);

  const auto visible = [&](size_t row) {
    return rows.aliveAt(row, deaths) && (!request.filtered || isAllowed(request, rows.document(row)));
  };
  bool flat = plan.flat || own.query.zero;
  if (!flat) {
    const Point query = own.query.point();
    const bool all = !request.filtered && deaths == 0;
    const Graph& graph = generation.graph;
    const auto widen = [&](std::vector<Candidate>& found) {
      return plan.adaptive && !found.empty()
                 ? widenedEf(plan, distancesOf(found, own.scan.nearest), graph.nearDistances().mean,
                             graph.nearDistances().deviation)
                 : size_t{0};
    };
    const auto any = [](size_t) { return true; };
    const bool complete = all ? graph.walk(rows, query, plan.ef, plan.distancesMax, any, widen, scratch.walk)
                              : graph.walk(rows, query, plan.ef, plan.distancesMax, visible, widen, scratch.walk);
    // Too far, or too few were reachable: then the scan is the answer.
    flat = !complete || scratch.walk.found.size() < std::min(wanted, shape.allowed);
  }

  scratch.collectors.clear();
  NearestCollector& collector = scratch.collectors.emplace_back(rows, own.query, own.scan, wanted);
  {
    Scan scan(rows, scratch.collectors);
    if (flat && request.filtered) {
      scanAllowed(generation, request, scan);
    } else {
      const size_t first = flat ? 0 : shape.linked;
      if (!flat)
        for (const Candidate& found : scratch.walk.found) scan.add(found.row);
      for (size_t row = first; row < count; row++)
        if (visible(row)) scan.add(static_cast<uint32_t>(row));
    }
  }
  collector.rank();
  outbox_->keep(request.id, AnswerStatus::Done, own.scan.documents.data(), own.scan.distances.data(),
                own.scan.documents.size());
}

}  // namespace shoal
