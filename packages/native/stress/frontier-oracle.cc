// The candidates of a walk: the sorted list against one that is sorted anew each time, and what either frontier finds
// against the nearest of all.
//   node packages/native/stress/run.mjs frontier [rounds] [thread|address]
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <vector>

#include "../cpp/walk-frontier.h"

namespace {

using shoal::Candidate;
using shoal::NearestPool;

void check(bool good, const char* what) {
  if (good) return;
  std::fprintf(stderr, "frontier-oracle: %s\n", what);
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

class ListRound {
 public:
  ListRound(NearestPool& pool, std::mt19937& random)
      : pool_(pool),
        random_(random),
        most_(1 + random() % (random() % 2 == 0 ? 4 : 200)),
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

/** Rows at distances that are all different, of which some count; met in any order, opened as a walk opens them. */
class WalkRound {
 public:
  explicit WalkRound(std::mt19937& random) : ef_(1 + random() % 60), wider_(ef_ + random() % 200) {
    const unsigned share = random() % 4 == 0 ? 1 + random() % 20 : 100;
    distances_.resize(1 + random() % 2000);
    counts_.resize(distances_.size());
    for (size_t row = 0; row < distances_.size(); row++) {
      distances_[row] = static_cast<float>(row) / 64;
      counts_[row] = random() % 100 < share;
    }
    std::shuffle(distances_.begin(), distances_.end(), random);
  }

  template <typename Frontier, typename Memory>
  void run(Memory& memory) const {
    const auto counts = [this](uint32_t row) { return static_cast<bool>(counts_[row]); };
    Frontier frontier(memory, ef_, counts);
    std::vector<Candidate> met;
    for (uint32_t row = 0; row < distances_.size(); row++) meet(frontier, met, row);
    openAll(frontier);
    compare(frontier, ef_);
    frontier.widen(wider_, met);
    check(met.size() == distances_.size(), "not all that were met are left");
    openAll(frontier);
    compare(frontier, wider_);
  }

 private:
  template <typename Frontier>
  void meet(Frontier& frontier, std::vector<Candidate>& met, uint32_t row) const {
    met.push_back({distances_[row], row});
    if (frontier.accepts(distances_[row])) frontier.add(met.back());
    if (row % 7 != 0) return;
    if (frontier.peek() != shoal::NO_LINK) frontier.open();
  }
  /** The nearest first, and none twice. */
  template <typename Frontier>
  void openAll(Frontier& frontier) const {
    float last = -1;
    for (uint32_t row = frontier.peek(); row != shoal::NO_LINK; row = frontier.peek()) {
      check(distances_[row] > last, "a farther one is opened before a nearer one");
      last = distances_[row];
      frontier.open();
    }
  }
  template <typename Frontier>
  void compare(const Frontier& frontier, size_t ef) const {
    std::vector<float> found, expected;
    frontier.eachFound([&](const Candidate& one) {
      check(counts_[one.row] && one.distance == distances_[one.row], "what is found does not count, or is another one");
      found.push_back(one.distance);
    });
    for (size_t row = 0; row < distances_.size(); row++)
      if (counts_[row]) expected.push_back(distances_[row]);
    std::sort(found.begin(), found.end());
    std::sort(expected.begin(), expected.end());
    expected.resize(std::min(expected.size(), ef));
    check(found == expected, "others than the nearest are found");
  }

  const size_t ef_;
  const size_t wider_;
  std::vector<float> distances_;
  std::vector<bool> counts_;
};

using Counts = std::function<bool(uint32_t)>;

}  // namespace

int main(int count, char** arguments) {
  const int rounds = count > 1 ? std::atoi(arguments[1]) : 1000;
  std::mt19937 random(11);
  // One for all rounds but some, as a thread keeps one.
  NearestPool pool;
  shoal::FrontierHeaps heaps;
  for (int round = 0; round < rounds; round++) {
    if (random() % 8 == 0) pool = NearestPool();
    ListRound(pool, random).run();
    const WalkRound walk(random);
    walk.run<shoal::PoolFrontier<Counts>>(pool);
    walk.run<shoal::HeapFrontier<Counts>>(heaps);
  }
  std::printf("frontier-oracle: %d rounds\n", rounds);
  return 0;
}
