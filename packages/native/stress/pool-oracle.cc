// The sorted list of a walk against a list that is sorted anew each time.
//   node packages/native/stress/run.mjs pool [rounds] [thread|address]
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include "../cpp/nearest-pool.h"

namespace {

using shoal::Candidate;
using shoal::NearestPool;

void check(bool good, const char* what) {
  if (good) return;
  std::fprintf(stderr, "pool-oracle: %s\n", what);
  std::_Exit(1);
}

struct Kept {
  Candidate candidate;
  bool counts;
  bool opened;
};

/** What the pool promises, the plain way. */
class Oracle {
 public:
  explicit Oracle(size_t most) : most_(most) {}

  bool accepts(float distance) const { return counted() < most_ || distance < kept_.back().candidate.distance; }
  void insert(const Candidate& candidate, bool counts) {
    // Behind those at the same distance.
    const auto place =
        std::upper_bound(kept_.begin(), kept_.end(), candidate.distance,
                         [](float distance, const Kept& one) { return distance < one.candidate.distance; });
    kept_.insert(place, {candidate, counts, false});
    while (counted() > most_) kept_.pop_back();
    if (counted() == most_)
      while (!kept_.back().counts) kept_.pop_back();
  }
  Kept* nearestUnopened() {
    const auto one = std::find_if(kept_.begin(), kept_.end(), [](const Kept& each) { return !each.opened; });
    return one == kept_.end() ? nullptr : &*one;
  }
  float widen(size_t most) {
    const float last = counted() < most_ ? shoal::UNBOUNDED : kept_.back().candidate.distance;
    while (!kept_.empty() && kept_.back().candidate.distance >= last) kept_.pop_back();
    most_ = most;
    return last;
  }
  void compareWith(const NearestPool& pool) const {
    check(pool.count() == kept_.size(), "another number is kept");
    check(pool.counted() == counted(), "another number counts");
    for (size_t place = 0; place < kept_.size(); place++) {
      const Candidate& expected = kept_[place].candidate;
      check(pool.at(place).row == expected.row && pool.at(place).distance == expected.distance, "another one is kept");
      check(pool.counts(place) == kept_[place].counts, "it counts, or not");
    }
  }

 private:
  size_t counted() const {
    return static_cast<size_t>(std::count_if(kept_.begin(), kept_.end(), [](const Kept& one) { return one.counts; }));
  }

  size_t most_;
  std::vector<Kept> kept_;
};

class Round {
 public:
  Round(NearestPool& pool, std::mt19937& random)
      : pool_(pool),
        random_(random),
        most_(1 + random() % 200),
        oracle_(most_),
        distances_(4 + random() % 1000),
        passing_(random() % 3 == 0 ? 2 + random() % 6 : 0) {
    pool_.reserve(most_);
    pool_.clear(most_);
  }

  void run() {
    meet(random_() % 800);
    while (open() && random_() % 100 != 0) meet(random_() % 20);
    while (open()) continue;
    most_ += random_() % 300;
    const float last = oracle_.widen(most_);
    check(pool_.widen(most_) == last, "it is widened from another distance");
    oracle_.compareWith(pool_);
    append(last);
    meet(random_() % 400);
    while (open()) meet(random_() % 3);
  }

 private:
  Candidate draw() {
    // Few distances: many are equal.
    return {static_cast<float>(random_() % distances_) / 64, next_++};
  }
  bool counts() { return passing_ == 0 || random_() % passing_ != 0; }
  void meet(size_t count) {
    for (size_t i = 0; i < count; i++) {
      const Candidate one = draw();
      check(pool_.accepts(one.distance) == oracle_.accepts(one.distance), "one is accepted, or not");
      if (!pool_.accepts(one.distance)) continue;
      const bool itCounts = counts();
      pool_.insert(one, itCounts);
      oracle_.insert(one, itCounts);
    }
    oracle_.compareWith(pool_);
  }
  void append(float from) {
    std::vector<Candidate> more(random_() % 100);
    for (Candidate& one : more) {
      one = draw();
      one.distance += from < shoal::UNBOUNDED ? from : static_cast<float>(distances_);
    }
    std::stable_sort(more.begin(), more.end(),
                     [](const Candidate& a, const Candidate& b) { return a.distance < b.distance; });
    for (const Candidate& one : more) {
      if (pool_.counted() == most_) return;
      const bool itCounts = counts();
      pool_.append(one, itCounts);
      oracle_.insert(one, itCounts);
    }
    oracle_.compareWith(pool_);
  }
  bool open() {
    Kept* expected = oracle_.nearestUnopened();
    const uint32_t next = pool_.peek();
    check(next == (expected == nullptr ? shoal::NO_LINK : expected->candidate.row), "another one is opened");
    if (expected == nullptr) return false;
    pool_.open();
    expected->opened = true;
    return true;
  }

  NearestPool& pool_;
  std::mt19937& random_;
  size_t most_;
  Oracle oracle_;
  const unsigned distances_;
  /** One in so many leads on without counting; 0: all count. */
  const unsigned passing_;
  uint32_t next_ = 0;
};

}  // namespace

int main(int count, char** arguments) {
  const int rounds = count > 1 ? std::atoi(arguments[1]) : 1000;
  std::mt19937 random(11);
  // One for all, as a thread keeps one.
  NearestPool pool;
  for (int round = 0; round < rounds; round++) Round(pool, random).run();
  std::printf("pool-oracle: %d rounds\n", rounds);
  return 0;
}
