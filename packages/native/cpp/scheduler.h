// The native threads, as many as the machine has cores, shared by all indexes of the process. Searches go first; links
// run in short time slices between them, so that a search never waits long and links never wait for ever.
#pragma once
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "thread-safety.h"

namespace shoal {

using Clock = std::chrono::steady_clock;

class RecallProbe;

/** Guards all that the scheduler knows. Never destroyed, for the threads end with the process. */
extern Mutex& schedulerMutex;

/** A search that waits for a thread. */
struct SearchRequest {
  /** No search, but a look at the whole graph: it needs what searches need. */
  bool audit = false;
  /** No search, but a step of a measurement. */
  std::shared_ptr<RecallProbe> probe;
  uint32_t id = 0;
  size_t wanted = 0;
  /** Shards that the results are merged over, this one among them. */
  uint32_t shards = 1;
  /** -1 is automatic. */
  int32_t ef = -1;
  size_t flatSearchCutoff = 0;
  std::vector<float> query;
  bool filtered = false;
  std::vector<uint32_t> allowed;
  /** Equal sets have equal ones. */
  uint64_t allowedHash = 0;
};

using Searches = std::vector<std::unique_ptr<SearchRequest>>;

/** So many searches of an index are done together at most: with one filter, and without. */
constexpr size_t SEARCHES_TOGETHER_MAX = 8;
constexpr size_t UNFILTERED_TOGETHER_MAX = 4;
static_assert(UNFILTERED_TOGETHER_MAX <= SEARCHES_TOGETHER_MAX);

/** When a linker gives way; one for each time slice. */
class LinkSlice {
 public:
  void begin() {
    started_ = Clock::now();
    searchesWait_.store(false, std::memory_order_relaxed);
  }
  void searchWaits() { searchesWait_.store(true, std::memory_order_relaxed); }
  bool over() const;

 private:
  Clock::time_point started_;
  std::atomic<bool> searchesWait_{false};
};

class Scheduled;

/** A disk, by the threads that wait for it. */
struct DiskLane {
  size_t waiting GUARDED_BY(schedulerMutex) = 0;
  /** Searches that begin when fewer wait. */
  std::deque<std::shared_ptr<Scheduled>> parked GUARDED_BY(schedulerMutex);
};

/**
 * An index as the scheduler sees it. Its searches run beside each other; its links run beside each other; the two never
 * overlap, and exclusive work overlaps with neither. Tasks overlap with anything.
 */
class Scheduled {
 public:
  virtual ~Scheduled() = default;

 protected:
  /** One, or several that all have no filter, or likely the same. The answers may be kept until `tellAnswers`. */
  virtual void search(Searches& requests) = 0;
  /** Beside anything: a thread that has searched turns to something else. */
  virtual void tellAnswers() = 0;
  /** Alone, before the links of a slice. */
  virtual void prepareLinks() = 0;
  /** Links until the slice is over or nothing is left. */
  virtual void link(const LinkSlice& slice) = 0;
  virtual bool hasLinks() = 0;
  /** Alone, after the links of a slice. */
  virtual void checkLinks() = 0;
  /** After each slice, beside anything. */
  virtual void linksPaused() = 0;

 private:
  friend class Scheduler;
  std::deque<std::unique_ptr<SearchRequest>> queue_ GUARDED_BY(schedulerMutex);
  std::deque<std::function<void()>> exclusive_ GUARDED_BY(schedulerMutex);
  std::vector<std::function<void()>> onPinned_ GUARDED_BY(schedulerMutex);
  std::function<void()> onClosed_ GUARDED_BY(schedulerMutex);
  /** Begun by the first linker, alone; those that link read it. */
  LinkSlice slice_;
  /** Where its searches may have to read a file. */
  DiskLane* lane_ GUARDED_BY(schedulerMutex) = nullptr;
  Clock::time_point lastSlice_ GUARDED_BY(schedulerMutex){};
  size_t parked_ GUARDED_BY(schedulerMutex) = 0;
  size_t searching_ GUARDED_BY(schedulerMutex) = 0;
  size_t linking_ GUARDED_BY(schedulerMutex) = 0;
  size_t tasks_ GUARDED_BY(schedulerMutex) = 0;
  size_t pins_ GUARDED_BY(schedulerMutex) = 0;
  bool listed_ GUARDED_BY(schedulerMutex) = false;
  bool preparing_ GUARDED_BY(schedulerMutex) = false;
  bool sliceDue_ GUARDED_BY(schedulerMutex) = false;
  bool closing_ GUARDED_BY(schedulerMutex) = false;
  bool closed_ GUARDED_BY(schedulerMutex) = false;
};

class Scheduler {
 public:
  /** The one of the process; it is never destroyed, since its threads end with the process. */
  static Scheduler& get();

  /** Puts a search in line. Threads that are busy come to it; those that sleep do not, until `wakeForSearches`. */
  void search(const std::shared_ptr<Scheduled>& index, std::unique_ptr<SearchRequest> request);
  /** Wakes as many threads as there are searches in line. */
  void wakeForSearches();
  /** Takes a search back that has not begun. */
  bool cancel(const std::shared_ptr<Scheduled>& index, uint32_t request);
  /** Tells that there may be rows to link, or exclusive work. */
  void wantLinks(const std::shared_ptr<Scheduled>& index);
  /** No index begins to link while `held`; searches scan what is not linked. */
  void holdLinks(bool held);
  void task(const std::shared_ptr<Scheduled>& index, std::function<void()> work);
  void exclusive(const std::shared_ptr<Scheduled>& index, std::function<void()> work);
  /** No links and no exclusive work from when `pinned` is called until `unpin`. */
  void pin(const std::shared_ptr<Scheduled>& index, std::function<void()> pinned);
  void unpin(const std::shared_ptr<Scheduled>& index);
  /** Finishes accepted searches and running work, then calls `closed`, once. */
  void close(const std::shared_ptr<Scheduled>& index, std::function<void()> closed);

  /** The lane of the disk with this number (`stat`, `dev`). */
  DiskLane& laneOf(uint64_t disk);
  /** Searches of the index may read files of this disk from now on. */
  void readsFrom(const std::shared_ptr<Scheduled>& index, DiskLane& lane);
  /**
   * While there is one, its thread waits for a disk: another thread does what there is to do. So a disk that stands still holds up
   * nobody else; of searches that may read it, no more begin than some.
   */
  class DiskWait {
   public:
    explicit DiskWait(DiskLane& lane) : lane_(lane) { get().beginWait(lane_); }
    ~DiskWait() { get().endWait(lane_); }
    DiskWait(const DiskWait&) = delete;
    DiskWait& operator=(const DiskWait&) = delete;

   private:
    DiskLane& lane_;
  };

 private:
  using Index = std::shared_ptr<Scheduled>;
  struct Task {
    Index index;
    std::function<void()> work;
  };

  Scheduler();
  void run() EXCLUDES(schedulerMutex);
  bool runSearches() REQUIRES(schedulerMutex);
  bool mayGoOn(const Index& index, Clock::time_point since) const REQUIRES(schedulerMutex);
  bool runTask() REQUIRES(schedulerMutex);
  bool runLinks(bool dueOnly) REQUIRES(schedulerMutex);
  void takeSlice(const Index& index) REQUIRES(schedulerMutex);
  void runExclusive(const Index& index) REQUIRES(schedulerMutex);
  void list(const Index& index) REQUIRES(schedulerMutex);
  void unpark(const Index& index) REQUIRES(schedulerMutex);
  void checkPinned(const Index& index) REQUIRES(schedulerMutex);
  void checkClosed(const Index& index) REQUIRES(schedulerMutex);
  void wakeOne() REQUIRES(schedulerMutex);
  void addThread() REQUIRES(schedulerMutex);
  bool rest() REQUIRES(schedulerMutex);
  bool park(const Index& index) REQUIRES(schedulerMutex);
  void beginWait(DiskLane& lane) EXCLUDES(schedulerMutex);
  void endWait(DiskLane& lane) EXCLUDES(schedulerMutex);

  Condition wake_;
  size_t idle_ GUARDED_BY(schedulerMutex) = 0;
  /** So many threads run beside each other; `running_` counts those that do, or are idle. */
  const size_t threads_;
  size_t running_ GUARDED_BY(schedulerMutex);
  /** Threads beyond: those of them that rest, and those that were called and have not come yet. */
  size_t spares_ GUARDED_BY(schedulerMutex) = 0;
  size_t resting_ GUARDED_BY(schedulerMutex) = 0;
  size_t called_ GUARDED_BY(schedulerMutex) = 0;
  Condition call_;
  std::map<uint64_t, DiskLane> lanes_ GUARDED_BY(schedulerMutex);
  /** One entry a waiting search, in order of arrival. */
  std::deque<Index> ready_ GUARDED_BY(schedulerMutex);
  std::deque<Task> tasks_ GUARDED_BY(schedulerMutex);
  std::deque<Index> linkable_ GUARDED_BY(schedulerMutex);
  bool linksHeld_ GUARDED_BY(schedulerMutex) = false;
};

}  // namespace shoal
