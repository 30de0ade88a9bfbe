// The scheduler alone, with indexes that only count: they come and go while searches, links, tasks and exclusive work are
// asked for. Ends with 1 and a sentence when two things overlap that must not, or something is not done in time.
//   node packages/native/stress/run.mjs scheduler [seconds] [thread|address]
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <thread>
#include <vector>

#include "../cpp/scheduler.h"

namespace {

using shoal::Clock;
using shoal::LinkSlice;
using shoal::Scheduled;
using shoal::Scheduler;

/** Nothing takes so long, on the slowest of machines. */
constexpr std::chrono::seconds PATIENCE{30};

void check(bool good, const char* what) {
  if (good) return;
  std::fprintf(stderr, "scheduler-stress: %s\n", what);
  std::_Exit(1);
}

struct CountingIndex : Scheduled {
  std::atomic<int> searching{0}, linking{0}, alone{0}, tasks{0};
  std::atomic<unsigned> searched{0}, exclusiveDone{0}, tasksDone{0}, pinned{0}, closed{0}, rows{0};
  std::atomic<unsigned> kept{0}, told{0};
  unsigned searches = 0, exclusives = 0, tasksAsked = 0, pins = 0;
  bool isPinned = false;
  /** Where it waits now and then; null: nowhere. Its searches and tasks wait until the disk moves. */
  shoal::DiskLane* disk = nullptr;
  std::atomic<bool> stands{false};

  /** Now and then: waits for the disk. */
  void read(unsigned often) {
    static thread_local unsigned reads = 0;
    if (disk == nullptr || (++reads % often != 0 && !stands)) return;
    const Scheduler::DiskWait wait(*disk);
    do std::this_thread::sleep_for(std::chrono::microseconds(200));
    while (stands);
  }
  void put(unsigned count) { rows += count; }
  void work(unsigned steps) const {
    volatile unsigned value = 0;
    for (unsigned step = 0; step < steps; step++) value = value + step;
  }

 protected:
  void search(shoal::Searches& requests) override {
    searching++;
    check(linking == 0 && alone == 0, "a search overlaps with links");
    work(300);
    read(4);
    searched += static_cast<unsigned>(requests.size());
    kept += static_cast<unsigned>(requests.size());
    searching--;
  }
  void tellAnswers() override { told += kept.exchange(0); }
  void prepareLinks() override { runAlone(); }
  void link(const LinkSlice& slice) override {
    linking++;
    check(searching == 0 && alone == 0, "links overlap with searches or exclusive work");
    for (unsigned left = rows; left > 0 && !slice.over();) {
      work(50);
      read(64);
      if (rows.compare_exchange_weak(left, left - 1)) left--;
    }
    linking--;
  }
  bool hasLinks() override { return rows > 0; }
  void checkLinks() override { runAlone(); }
  void linksPaused() override {}

 public:
  void runAlone() {
    check(alone++ == 0, "exclusive work overlaps with itself");
    check(searching == 0 && linking == 0, "exclusive work overlaps with searches or links");
    work(100);
    alone--;
  }
};

template <typename Condition>
void await(Condition condition, const char* what) {
  for (const auto end = Clock::now() + PATIENCE; !condition();) {
    check(Clock::now() < end, what);
    std::this_thread::sleep_for(std::chrono::microseconds(20));
  }
}

using Index = std::shared_ptr<CountingIndex>;

void ask(const Index& index, unsigned what) {
  Scheduler& scheduler = Scheduler::get();
  switch (what % 8) {
    case 0:
    case 1:
      index->put(1 + what % 40);
      scheduler.wantLinks(index);
      return;
    case 2:
      // Nothing to link: the slice finds no work.
      scheduler.wantLinks(index);
      return;
    case 3:
      index->exclusives++;
      scheduler.exclusive(index, [index] {
        index->runAlone();
        index->exclusiveDone++;
      });
      return;
    case 4:
      index->tasksAsked++;
      scheduler.task(index, [index] {
        index->read(8);
        index->tasksDone++;
      });
      return;
    case 5:
      if (index->isPinned) {
        await([&] { return index->pinned == index->pins; }, "a pin does not come");
        scheduler.unpin(index);
      } else {
        index->pins++;
        scheduler.pin(index, [index] { index->pinned++; });
      }
      index->isPinned = !index->isPinned;
      return;
    default:
      index->searches++;
      scheduler.search(index, std::make_unique<shoal::SearchRequest>());
      if (what % 16 < 8) scheduler.wakeForSearches();
  }
}

void settle(const Index& index) {
  Scheduler& scheduler = Scheduler::get();
  if (index->isPinned) scheduler.unpin(index);
  index->isPinned = false;
  scheduler.wakeForSearches();
  await([&] { return index->searched == index->searches; }, "a search is not done");
  await([&] { return index->told == index->searches; }, "an answer is not told");
  await([&] { return index->rows == 0; }, "rows are not linked");
  await([&] { return index->exclusiveDone == index->exclusives; }, "exclusive work is not done");
  await([&] { return index->tasksDone == index->tasksAsked; }, "a task is not done");
}

void close(const Index& index) {
  Scheduler& scheduler = Scheduler::get();
  scheduler.close(index, [index] { index->closed++; });
  scheduler.wakeForSearches();
  await([&] { return index->closed == 1; }, "an index does not close");
  await([&] { return index->told == index->searches; }, "an answer is not told before an index closes");
}

/** One of three reads a disk, 1 or 2. */
Index open(unsigned random) {
  auto index = std::make_shared<CountingIndex>();
  if (random % 3 > 0) return index;
  index->disk = &Scheduler::get().laneOf(1 + random % 2);
  Scheduler::get().readsFrom(index, *index->disk);
  return index;
}

/** While a disk stands still that more searches read than threads may wait for, all of what others ask for is done. */
void standStill(std::vector<Index>& others) {
  Scheduler& scheduler = Scheduler::get();
  Index standing = std::make_shared<CountingIndex>();
  standing->disk = &scheduler.laneOf(3);
  scheduler.readsFrom(standing, *standing->disk);
  standing->stands = true;
  for (; standing->searches < 60; standing->searches++)
    scheduler.search(standing, std::make_unique<shoal::SearchRequest>());
  for (; standing->tasksAsked < 5; standing->tasksAsked++)
    scheduler.task(standing, [standing] {
      standing->read(1);
      standing->tasksDone++;
    });
  scheduler.wakeForSearches();
  for (const Index& index : others) settle(index);
  standing->stands = false;
  settle(standing);
  close(standing);
}

}  // namespace

int main(int count, char** arguments) {
  const auto end = Clock::now() + std::chrono::seconds(count > 1 ? std::atoi(arguments[1]) : 5);
  std::mt19937 random(7);
  std::vector<Index> indexes(6);
  for (Index& index : indexes) index = open(static_cast<unsigned>(random()));
  unsigned opened = 0;
  for (unsigned round = 0; Clock::now() < end; round++) {
    Index& index = indexes[random() % indexes.size()];
    ask(index, static_cast<unsigned>(random()));
    if (round % 64 == 0) std::this_thread::sleep_for(std::chrono::microseconds(random() % 200));
    if (random() % 512 == 0) settle(index);
    if (random() % 4096 == 0) standStill(indexes);
    if (random() % 128 == 0) {
      close(index);
      index = open(static_cast<unsigned>(random()));
      opened++;
    }
  }
  for (const Index& index : indexes) {
    settle(index);
    close(index);
  }
  std::printf("scheduler-stress: %u indexes came and went\n", opened);
  return 0;
}
