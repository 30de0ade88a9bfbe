// A walk through the graph to the nodes nearest to a query (Malkov and Yashunin, arXiv 1603.09320, algorithm 2), in steps:
// between two of them memory brings what the next one reads, so that several interleaved walks wait less than one after the other.
#pragma once
#include <algorithm>
#include <memory>
#include <vector>

#include "document-table.h"
#include "graph.h"
#include "walk-frontier.h"

namespace shoal {

/** What a walk needs; native threads keep some and use them for all graphs. */
struct WalkScratch {
  std::vector<uint64_t> visited;
  /** All nodes whose distances are known. */
  std::vector<Candidate> met;
  NearestPool pool;
  FrontierHeaps heaps;
  std::vector<float> distances;
};

struct WalkBounds {
  /** So many of the nearest nodes are found. */
  size_t ef;
  /** The walk gives up when it has computed so many distances. */
  size_t distancesMax;
  /** A row that the walk passes over as if it had never been linked; NO_ROW for none. */
  uint32_t excluded;
};

/**
 * When the walk is over, `widen(distances)`, with those of what is found, may ask for a larger ef: it goes on with that as if
 * it had been so from the beginning. All references live as long as the walk.
 */
template <typename Frontier, typename Widen>
class GraphWalk {
 public:
  GraphWalk(const Graph& graph, const Rows& rows, const Point& query, const WalkBounds& bounds, Frontier frontier,
            Widen widen, WalkScratch& scratch)
      : graph_(graph),
        query_(query),
        bounds_(bounds),
        widen_(widen),
        scratch_(scratch),
        frontier_(frontier),
        distances_(rows, graph.nearDistances_, query.coarse),
        unreachable_(std::atomic_load(&graph.unreachable_)) {
    if (scratch.visited.size() < words()) scratch.visited.resize(words());
    scratch.met.clear();
    if (graph.size() == 0) return;
    const Candidate entry = graph.descend(distances_, query, graph.entry_, graph.entryLevel_, 0, computed_);
    if (entry.row == bounds.excluded) {
      // Its links take its place.
      links_ = graph.nodes_.links(entry.row, 0);
    } else {
      batch_[count_++] = entry;
      visit(entry.row);
    }
    if (bounds.excluded != NO_ROW) visit(bounds.excluded);
  }
  ~GraphWalk() {
    auto& visited = scratch_.visited;
    if (scratch_.met.size() * WORDS_AS_FAST > words()) {
      std::fill_n(visited.begin(), words(), 0);
    } else {
      for (const Candidate& one : scratch_.met) visited[one.row >> 6] = 0;
    }
    if (bounds_.excluded != NO_ROW) visited[bounds_.excluded >> 6] = 0;
  }
  GraphWalk(const GraphWalk&) = delete;
  GraphWalk& operator=(const GraphWalk&) = delete;

  /** Not when it gave up. */
  bool complete() const { return complete_; }
  /** Appends what was found, in no order. */
  void readFound(std::vector<uint32_t>& rows) const {
    frontier_.eachFound([&rows](const Candidate& one) { rows.push_back(one.row); });
  }

  /** Goes on until it would wait for memory. False when the walk is over. */
  bool step() {
    measure();
    gather(nextUnreachable_,
           [this](size_t place) { return place < unreachable_->size() ? (*unreachable_)[place] : NO_LINK; });
    gather(nextLink_, [this](size_t place) { return links_.at(place); });
    return count_ > 0 || open();
  }

 private:
  /** Takes rows from `place` on that have not been met, as many as are measured at once, and has them brought. */
  template <typename RowAt>
  void gather(size_t& place, RowAt rowAt) {
    size_t count = count_;
    for (uint32_t row; count < DISTANCES_AT_ONCE && (row = rowAt(place)) != NO_LINK; place++) {
      // No branch: nobody could foretell it.
      batch_[count].row = row;
      count += visit(row) ? 1 : 0;
    }
    for (; count_ < count; count_++) distances_.prefetch(batch_[count_].row);
  }
  void measure() {
    if (count_ == 0) return;
    distances_.measure(query_, batch_, count_);
    computed_ += count_;
    scratch_.met.insert(scratch_.met.end(), batch_, batch_ + count_);
    for (size_t i = 0; i < count_; i++)
      if (frontier_.accepts(batch_[i].distance)) frontier_.add(batch_[i]);
    count_ = 0;
  }
  /** Turns to the nearest node that waits, and has its links brought. */
  bool open() {
    uint32_t next = frontier_.peek();
    if (next == NO_LINK && widen()) next = frontier_.peek();
    if (next == NO_LINK) return false;
    if (computed_ >= bounds_.distancesMax) {
      complete_ = false;
      return false;
    }
    links_ = graph_.nodes_.links(next, 0);
    links_.prefetch();
    nextLink_ = 0;
    frontier_.open();
    // Most likely the one after it: its links come while this one is worked on.
    const uint32_t later = frontier_.peek();
    if (later != NO_LINK) graph_.nodes_.links(later, 0).prefetch();
    return true;
  }
  bool widen() {
    if (widened_) return false;
    widened_ = true;
    auto& distances = scratch_.distances;
    distances.clear();
    frontier_.eachFound([&distances](const Candidate& one) { distances.push_back(one.distance); });
    const size_t wider = widen_(distances);
    if (wider <= bounds_.ef) return false;
    frontier_.widen(wider, scratch_.met);
    return true;
  }
  size_t words() const { return (graph_.size() + 63) / 64; }
  /** Whether for the first time. */
  bool visit(uint32_t row) {
    uint64_t& word = scratch_.visited[row >> 6];
    const uint64_t bit = uint64_t{1} << (row & 63);
    const bool isFirst = (word & bit) == 0;
    word |= bit;
    return isFirst;
  }

  /** So many words are forgotten together in the time that one alone takes. */
  static constexpr size_t WORDS_AS_FAST = 8;

  const Graph& graph_;
  const Point query_;
  const WalkBounds bounds_;
  const Widen widen_;
  WalkScratch& scratch_;
  Frontier frontier_;
  RowDistances distances_;
  bool widened_ = false;
  bool complete_ = true;
  size_t computed_ = 0;

  const std::shared_ptr<const std::vector<uint32_t>> unreachable_;
  size_t nextUnreachable_ = 0;
  /** Of the node that is open. */
  LinkList links_;
  size_t nextLink_ = 0;
  /** Rows whose distances are measured next. */
  Candidate batch_[DISTANCES_AT_ONCE];
  size_t count_ = 0;
};

}  // namespace shoal
