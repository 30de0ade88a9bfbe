// The candidates of a walk: which node is opened next, and which ones are found. Two ways to keep them.
#pragma once
#include <algorithm>
#include <vector>

#include "graph.h"
#include "nearest-pool.h"

namespace shoal {

/** For walks on which most nodes count: those that wait to be opened stand among the found ones. */
template <typename Counts>
class PoolFrontier {
 public:
  PoolFrontier(NearestPool& memory, size_t ef, Counts counts) : pool_(memory), counts_(counts) {
    pool_.reserve(ef);
    pool_.clear(ef);
  }

  /** Whether a node at this distance is opened, if it is not too far when its turn comes. */
  bool accepts(float distance) const { return pool_.accepts(distance); }
  void add(const Candidate& candidate) { pool_.insert(candidate, counts_(candidate.row)); }
  /** The nearest that waits to be opened, or NO_LINK. */
  uint32_t peek() { return pool_.peek(); }
  void open() { pool_.open(); }
  /** Goes on with a larger ef when all are opened; `met` are all nodes that there were, and come in another order. */
  void widen(size_t ef, std::vector<Candidate>& met) {
    const float opened = pool_.widen(ef);
    const auto first =
        std::partition(met.begin(), met.end(), [opened](const Candidate& one) { return one.distance < opened; });
    for (auto from = first; pool_.counted() < ef && from != met.end();) {
      // At least as many as before: where few of them count, all are sorted in a few rounds.
      const auto more = std::max<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(ef - pool_.counted()), from - first);
      const auto to = from + std::min(more, met.end() - from);
      std::nth_element(from, to, met.end(), Nearer());
      std::sort(from, to, Nearer());
      for (; from != to && pool_.counted() < ef; ++from) pool_.append(*from, counts_(from->row));
    }
  }

  template <typename Each>
  void eachFound(Each each) const {
    for (size_t i = 0; i < pool_.count(); i++)
      if (pool_.counts(i)) each(pool_.at(i));
  }

 private:
  NearestPool& pool_;
  const Counts counts_;
};

/** What a HeapFrontier needs. */
struct FrontierHeaps {
  std::vector<Candidate> open;
  std::vector<Candidate> found;
};

/** For walks that open many nodes which do not count, or that look for a great many: two heaps. */
template <typename Counts>
class HeapFrontier {
 public:
  HeapFrontier(FrontierHeaps& memory, size_t ef, Counts counts)
      : open_(memory.open), found_(memory.found), ef_(ef), counts_(counts) {
    open_.clear();
    found_.clear();
  }

  bool accepts(float distance) const { return distance < radius_; }
  void add(const Candidate& candidate) {
    open_.push_back(candidate);
    std::push_heap(open_.begin(), open_.end(), Farther());
    if (!counts_(candidate.row)) return;
    found_.push_back(candidate);
    std::push_heap(found_.begin(), found_.end(), Nearer());
    if (found_.size() > ef_) {
      std::pop_heap(found_.begin(), found_.end(), Nearer());
      found_.pop_back();
    }
    if (found_.size() == ef_) radius_ = found_.front().distance;
  }
  uint32_t peek() const { return open_.empty() || open_.front().distance > radius_ ? NO_LINK : open_.front().row; }
  void open() {
    std::pop_heap(open_.begin(), open_.end(), Farther());
    open_.pop_back();
  }
  void widen(size_t ef, std::vector<Candidate>& met) {
    const float opened = radius_;
    ef_ = ef;
    radius_ = UNBOUNDED;
    open_.clear();
    const auto isAgain = [opened](const Candidate& one) { return one.distance >= opened; };
    found_.erase(std::remove_if(found_.begin(), found_.end(), isAgain), found_.end());
    std::make_heap(found_.begin(), found_.end(), Nearer());
    for (const Candidate& one : met)
      if (isAgain(one) && accepts(one.distance)) add(one);
  }

  template <typename Each>
  void eachFound(Each each) const {
    for (const Candidate& one : found_) each(one);
  }

 private:
  std::vector<Candidate>& open_;
  std::vector<Candidate>& found_;
  size_t ef_;
  const Counts counts_;
  /** Found are nodes nearer than this, from when there are enough. */
  float radius_ = UNBOUNDED;
};

}  // namespace shoal
