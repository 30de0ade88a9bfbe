// Searches: plan, collect candidates by approximate distance, rank them exactly.
#include <algorithm>
#include <cassert>
#include <deque>
#include <optional>
#include <string>

#include "candidates.h"
#include "graph-walk.h"
#include "search-plan.h"
#include "vector-index.h"

namespace shoal {
namespace {

constexpr size_t SCAN_BATCH = 64;

/** Beyond, two heaps are cheaper than moving candidates in a sorted list; as where most rows that are opened do not count. */
constexpr size_t POOL_EF_MAX = 1024;

/** One of some searches that are done together; what it allocates it keeps for the next ones. */
struct Asked {
  SearchRequest* request;
  SearchShape shape;
  SearchPlan plan;
  PreparedQuery query;
  WalkScratch walk;
  /** Rows that the walk has found. */
  std::vector<uint32_t> found;
  ScanScratch scan;
};

struct Scratch {
  std::deque<Asked> asked;
  std::vector<Asked*> walked, scanned;
  std::vector<NearestCollector> collectors;
  std::vector<SearchRequest*> alike, others;
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

/** Feeds rows to collectors, a batch at a time: the rows of a batch come from memory once for all of them. */
class Scan {
 public:
  Scan(const Rows& rows, NearestCollector* collectors, size_t count)
      : rows_(rows), allResident_(rows.allResident()), collectors_(collectors), collectorsEnd_(collectors + count) {}
  ~Scan() { flush(); }

  void add(uint32_t row) {
    if (!allResident_ && !rows_.resident(row)) return addByCodes(row);
    ids_[count_] = row;
    highs_[count_] = rows_.high(row);
    __builtin_prefetch(highs_[count_]);
    __builtin_prefetch(highs_[count_] + 32);
    if (++count_ == SCAN_BATCH) flush();
  }

 private:
  void flush() {
    for (NearestCollector* collector = collectors_; collector != collectorsEnd_; collector++) {
      simdKernels().dotHighMany(collector->query().high.data(), highs_, count_, rows_.lanes(), dots_);
      for (size_t i = 0; i < count_; i++) collector->add(1 - dots_[i], ids_[i]);
    }
    count_ = 0;
  }
  void addByCodes(uint32_t row) {
    for (NearestCollector* collector = collectors_; collector != collectorsEnd_; collector++)
      collector->addByCodes(distanceByCodes(rows_, collector->query().codes.data(), row), row);
  }

  const Rows& rows_;
  const bool allResident_;
  NearestCollector* const collectors_;
  NearestCollector* const collectorsEnd_;
  size_t count_ = 0;
  uint32_t ids_[SCAN_BATCH];
  const uint16_t* highs_[SCAN_BATCH];
  float dots_[SCAN_BATCH];
};

SearchShape shapeOf(const SearchRequest& request, const Generation& generation, size_t allowed) {
  SearchShape shape;
  shape.wanted = std::min(request.wanted, generation.rows.count());
  shape.shards = request.shards;
  shape.ef = request.ef;
  shape.lanes = generation.rows.lanes();
  shape.coded = codesTell(generation.rows, generation.graph.nearDistances());
  shape.live = generation.live.load(std::memory_order_relaxed);
  shape.filtered = request.filtered;
  shape.allowed = request.filtered ? std::min(allowed, shape.live) : shape.live;
  shape.linked = generation.graph.size();
  shape.meanDegree = std::max(4.0f, generation.graph.meanDegree());
  shape.flatSearchCutoff = request.flatSearchCutoff;
  return shape;
}

/** Searches that may see the same rows. */
class AlikeSearches {
 public:
  AlikeSearches(const Generation& generation, const SearchEffort& effort, const std::vector<SearchRequest*>& requests,
                Scratch& scratch);

  void answer(Outbox& outbox);

 private:
  bool isVisible(size_t row) const {
    return rows_.aliveAt(row, begun_.deaths) && (!filtered_ || isAllowed(rows_.document(row)));
  }
  bool isAllowed(uint32_t document) const {
    const size_t word = document >> 5;
    return word < allowed_.size() && (allowed_[word] >> (document & 31) & 1) != 0;
  }
  void walk();
  template <typename Counts>
  void walkTo(Counts counts);
  template <typename FrontierOf>
  void walkInterleaved(FrontierOf frontierOf);
  void collectFor(const std::vector<Asked*>& asked) {
    collectors_.clear();
    for (Asked* one : asked) collectors_.emplace_back(rows_, one->query, one->scan, one->shape.wanted);
  }
  void scanVisible(Scan& scan, size_t first) const;
  void scanAllowed(Scan& scan) const;
  void rank(const std::vector<Asked*>& asked, Outbox& outbox);

  const Generation& generation_;
  const SearchEffort& effort_;
  const Rows& rows_;
  const Graph& graph_;
  const RowsMoment begun_;
  const bool filtered_;
  const std::vector<uint32_t>& allowed_;
  /** Those that walk the graph, and those that look at all rows that they may see. */
  std::vector<Asked*>& walked_;
  std::vector<Asked*>& scanned_;
  std::vector<NearestCollector>& collectors_;
};

AlikeSearches::AlikeSearches(const Generation& generation, const SearchEffort& effort,
                             const std::vector<SearchRequest*>& requests, Scratch& scratch)
    : generation_(generation),
      effort_(effort),
      rows_(generation.rows),
      graph_(generation.graph),
      begun_(generation.rows.now()),
      filtered_(requests.front()->filtered),
      allowed_(requests.front()->allowed),
      walked_(scratch.walked),
      scanned_(scratch.scanned),
      collectors_(scratch.collectors) {
  if (scratch.asked.size() < requests.size()) scratch.asked.resize(requests.size());
  walked_.clear();
  scanned_.clear();
  const size_t allowed = countBits(allowed_);
  for (size_t i = 0; i < requests.size(); i++) {
    Asked& asked = scratch.asked[i];
    asked.request = requests[i];
    asked.shape = shapeOf(*asked.request, generation, allowed);
    asked.plan = planSearch(asked.shape, effort);
    asked.query.prepare(asked.request->query.data(), rows_);
    (asked.plan.flat || asked.query.zero ? scanned_ : walked_).push_back(&asked);
  }
}

void AlikeSearches::answer(Outbox& outbox) {
  walk();
  // What the walks have found, and what is not in the graph yet.
  collectFor(walked_);
  for (size_t i = 0; i < walked_.size(); i++) {
    Scan scan(rows_, &collectors_[i], 1);
    for (const uint32_t row : walked_[i]->found) scan.add(row);
  }
  if (!walked_.empty()) {
    Scan scan(rows_, collectors_.data(), collectors_.size());
    scanVisible(scan, graph_.size());
  }
  rank(walked_, outbox);
  // A scan may take much longer.
  if (!walked_.empty() && !scanned_.empty()) outbox.tell();

  collectFor(scanned_);
  if (!scanned_.empty()) {
    Scan scan(rows_, collectors_.data(), collectors_.size());
    if (filtered_) scanAllowed(scan);
    else scanVisible(scan, 0);
  }
  rank(scanned_, outbox);
}

void AlikeSearches::walk() {
  if (walked_.empty()) return;
  if (!filtered_ && begun_.deaths == 0) walkTo([](size_t) { return true; });
  else walkTo([this](size_t row) { return isVisible(row); });
  // Too far, or too few were reachable: then the scan is the answer.
  const auto failed = std::stable_partition(walked_.begin(), walked_.end(), [](const Asked* one) {
    return one->found.size() >= std::min(one->shape.wanted, one->shape.allowed);
  });
  scanned_.insert(scanned_.end(), failed, walked_.end());
  walked_.erase(failed, walked_.end());
}

template <typename Counts>
void AlikeSearches::walkTo(Counts counts) {
  const Asked* largest = *std::max_element(walked_.begin(), walked_.end(), [](const Asked* a, const Asked* b) {
    return std::max(a->plan.ef, a->plan.wanted) < std::max(b->plan.ef, b->plan.wanted);
  });
  const bool fewCount = filtered_ || largest->shape.live < largest->shape.linked / 2;
  if (fewCount || std::max(largest->plan.ef, largest->plan.wanted) > POOL_EF_MAX)
    walkInterleaved([&](Asked& one) { return HeapFrontier<Counts>(one.walk.heaps, one.plan.ef, counts); });
  else walkInterleaved([&](Asked& one) { return PoolFrontier<Counts>(one.walk.pool, one.plan.ef, counts); });
}

/** The steps of the walks, alternating, so that one goes on while memory brings what another one reads. */
template <typename FrontierOf>
void AlikeSearches::walkInterleaved(FrontierOf frontierOf) {
  const auto widenOf = [this](const SearchPlan& plan) {
    return [this, &plan](std::vector<float>& distances) { return widenedEf(plan, effort_, distances); };
  };
  using Walk = GraphWalk<decltype(frontierOf(*walked_[0])), decltype(widenOf(walked_[0]->plan))>;
  std::optional<Walk> walks[SEARCHES_TOGETHER_MAX];
  assert(walked_.size() <= SEARCHES_TOGETHER_MAX);
  for (size_t i = 0; i < walked_.size(); i++) {
    Asked& one = *walked_[i];
    const WalkBounds bounds{one.plan.ef, one.plan.distancesMax, NO_ROW};
    walks[i].emplace(graph_, rows_, one.query.point(), bounds, frontierOf(one), widenOf(one.plan), one.walk);
  }
  for (size_t left = walked_.size(); left > 0;)
    for (size_t i = 0; i < walked_.size(); i++) {
      if (!walks[i] || walks[i]->step()) continue;
      walked_[i]->found.clear();
      if (walks[i]->complete()) walks[i]->readFound(walked_[i]->found);
      walks[i].reset();
      left--;
    }
}

void AlikeSearches::scanVisible(Scan& scan, size_t first) const {
  for (size_t row = first; row < begun_.count; row++)
    if (isVisible(row)) scan.add(static_cast<uint32_t>(row));
}

void AlikeSearches::scanAllowed(Scan& scan) const {
  for (size_t word = 0; word < allowed_.size(); word++)
    for (uint32_t bits = allowed_[word]; bits != 0; bits &= bits - 1) {
      const uint32_t document = static_cast<uint32_t>(word * 32) + static_cast<uint32_t>(__builtin_ctz(bits));
      const uint32_t row = generation_.table.find(document);
      if (row != NO_ROW) scan.add(row);
    }
}

void AlikeSearches::rank(const std::vector<Asked*>& asked, Outbox& outbox) {
  for (size_t i = 0; i < asked.size(); i++) {
    uint32_t unread = 0;
    if (!collectors_[i].rank(unread)) {
      refuseUnread(outbox, asked[i]->request->id, generation_, unread);
      continue;
    }
    const ScanScratch& scan = asked[i]->scan;
    outbox.keep(asked[i]->request->id, ResultStatus::Done, scan.documents.data(), scan.distances.data(),
                scan.documents.size());
  }
}

}  // namespace

void refuseUnread(Outbox& outbox, uint32_t request, const Generation& generation, uint32_t row) {
  const uint32_t what[3] = {generation.rows.document(row), row, generation.number};
  const std::string reason =
      "vector index: the vector of document " + std::to_string(what[0]) +
      " is damaged or cannot be read from its file; the next start of the server builds the index anew";
  outbox.refuse(request, ResultStatus::Damaged, reason, what, 3);
}

void VectorIndex::search(Searches& requests) {
  const SearchRequest& first = *requests.front();
  if (first.audit) return audit();
  if (first.probe != nullptr) return probe(requests.front());
  Scratch& scratch = threadScratch();
  const std::shared_ptr<const SearchEffort> effort = std::atomic_load(&effort_);
  const auto answer = [&] { AlikeSearches(*generation_, *effort, scratch.alike, scratch).answer(*outbox_); };
  scratch.alike.clear();
  scratch.others.clear();
  for (const auto& request : requests) {
    // That filters have one hash does not make them one.
    if (request->wanted == 0 || generation_->rows.count() == 0) outbox_->keep(request->id, ResultStatus::Done);
    else (request->allowed == first.allowed ? scratch.alike : scratch.others).push_back(request.get());
  }
  if (!scratch.alike.empty()) answer();
  for (SearchRequest* request : scratch.others) {
    scratch.alike.assign(1, request);
    answer();
  }
}

}  // namespace shoal
