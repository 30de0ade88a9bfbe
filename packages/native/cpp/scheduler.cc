#include "scheduler.h"

#include <algorithm>
#include <cassert>
#include <system_error>
#include <thread>

namespace shoal {
namespace {

using std::chrono::microseconds;

/** How long links may keep searches of the same index waiting. */
constexpr microseconds SLICE_BEFORE_SEARCHES{250};
/** How long links go on when nobody waits, before other indexes get a slice. */
constexpr microseconds SLICE{5000};

/** While so many threads wait for a disk, no search begins that may have to, too. */
constexpr size_t WAITS_MAX = 16;
/** More threads in place of waiting ones there are not. */
constexpr size_t SPARES_MAX = 256;
/** A thread that was there for another one ends when it has not been needed for so long. */
constexpr std::chrono::seconds REST{10};

size_t cores() { return std::max(1u, std::thread::hardware_concurrency()); }

}  // namespace

Mutex& schedulerMutex = *new Mutex();

bool LinkSlice::over() const {
  const auto elapsed = Clock::now() - started_;
  return elapsed >= SLICE || (elapsed >= SLICE_BEFORE_SEARCHES && searchesWait_.load(std::memory_order_relaxed));
}

Scheduler& Scheduler::get() {
  static Scheduler* one = new Scheduler();
  return *one;
}

Scheduler::Scheduler() : threads_(cores()), running_(cores()) {
  for (size_t thread = 0; thread < threads_; thread++) std::thread([this] { run(); }).detach();
}

void Scheduler::wakeOne() {
  if (idle_ > 0) wake_.notifyOne();
  else addThread();
}

/** Has another thread run where one waits for a disk. */
void Scheduler::addThread() {
  if (running_ >= threads_) return;
  if (resting_ > called_) {
    called_++;
    running_++;
    call_.notifyOne();
    return;
  }
  if (spares_ >= SPARES_MAX) return;
  try {
    std::thread([this] { run(); }).detach();
    spares_++;
    running_++;
  } catch (const std::system_error&) {
    // Those that there are have to do.
  }
}

/** For a thread that is one too many. False: it is to end. */
bool Scheduler::rest() {
  running_--;
  // It may have been woken for something.
  if (idle_ > 0) wake_.notifyOne();
  resting_++;
  for (const auto end = Clock::now() + REST; called_ == 0 && Clock::now() < end;) call_.waitUntil(schedulerMutex, end);
  resting_--;
  if (called_ > 0) {
    called_--;
    return true;
  }
  spares_--;
  return false;
}

DiskLane& Scheduler::laneOf(uint64_t disk) {
  const MutexLock lock(schedulerMutex);
  return lanes_[disk];
}

void Scheduler::readsFrom(const Index& index, DiskLane& lane) {
  const MutexLock lock(schedulerMutex);
  index->lane_ = &lane;
}

void Scheduler::beginWait(DiskLane& lane) {
  const MutexLock lock(schedulerMutex);
  lane.waiting++;
  running_--;
  // What comes later wakes a thread itself.
  if (!ready_.empty() || !tasks_.empty() || !linkable_.empty()) wakeOne();
}

void Scheduler::endWait(DiskLane& lane) {
  const MutexLock lock(schedulerMutex);
  assert(lane.waiting > 0);
  lane.waiting--;
  running_++;
  if (lane.waiting >= WAITS_MAX) return;
  // The last one lets all begin: nobody comes after it.
  for (size_t room = lane.waiting == 0 ? lane.parked.size() : WAITS_MAX - lane.waiting;
       room > 0 && !lane.parked.empty(); room--) {
    ready_.push_back(std::move(lane.parked.front()));
    lane.parked.pop_front();
    wakeOne();
  }
}

/** Whether a search of the index has to wait because too many threads wait for the disk that it may read. */
bool Scheduler::park(const Index& index) {
  DiskLane* const lane = index->lane_;
  if (lane == nullptr || lane->waiting < WAITS_MAX) return false;
  lane->parked.push_back(index);
  return true;
}

void Scheduler::search(const Index& index, std::unique_ptr<SearchRequest> request) {
  const MutexLock lock(schedulerMutex);
  index->queue_.push_back(std::move(request));
  ready_.push_back(index);
  // All threads may be linking, so that nobody comes to see this search: tell the linkers now.
  for (const Index& linking : linkable_)
    if (linking->linking_ > 0 && (linking == index || idle_ == 0)) linking->slice_.searchWaits();
}

void Scheduler::wakeForSearches() {
  size_t wakes = 0;
  {
    const MutexLock lock(schedulerMutex);
    wakes = std::min(idle_, ready_.size());
    for (size_t more = ready_.size() - wakes; more > 0 && running_ < threads_; more--) {
      const size_t before = running_;
      addThread();
      if (running_ == before) break;
    }
  }
  // Without the lock: a thread that is woken while it is held wakes only to wait for it.
  for (size_t thread = 0; thread < wakes; thread++) wake_.notifyOne();
}

bool Scheduler::cancel(const Index& index, uint32_t request) {
  const MutexLock lock(schedulerMutex);
  auto& queue = index->queue_;
  const auto found = std::find_if(queue.begin(), queue.end(), [&](const auto& entry) { return entry->id == request; });
  if (found == queue.end()) return false;
  // Its place in line stays and finds nothing to do.
  queue.erase(found);
  return true;
}

void Scheduler::list(const Index& index) {
  if (index->listed_ || index->closing_) return;
  index->listed_ = true;
  linkable_.push_back(index);
}

void Scheduler::wantLinks(const Index& index) {
  const MutexLock lock(schedulerMutex);
  list(index);
  wakeOne();
}

void Scheduler::holdLinks(bool held) {
  const MutexLock lock(schedulerMutex);
  if (linksHeld_ == held) return;
  linksHeld_ = held;
  if (!held && !linkable_.empty()) wakeOne();
}

void Scheduler::task(const Index& index, std::function<void()> work) {
  const MutexLock lock(schedulerMutex);
  index->tasks_++;
  tasks_.push_back({index, std::move(work)});
  wakeOne();
}

void Scheduler::exclusive(const Index& index, std::function<void()> work) {
  const MutexLock lock(schedulerMutex);
  index->exclusive_.push_back(std::move(work));
  list(index);
  wakeOne();
}

void Scheduler::pin(const Index& index, std::function<void()> pinned) {
  const MutexLock lock(schedulerMutex);
  index->pins_++;
  // A slice that was due cannot come now, so nobody needs to wait for it.
  if (index->linking_ == 0) unpark(index);
  index->onPinned_.push_back(std::move(pinned));
  checkPinned(index);
}

void Scheduler::checkPinned(const Index& index) {
  if (index->onPinned_.empty() || index->linking_ > 0) return;
  auto calls = std::move(index->onPinned_);
  index->onPinned_.clear();
  const MutexUnlock unlocked(schedulerMutex);
  for (auto& call : calls) call();
}

void Scheduler::unpin(const Index& index) {
  const MutexLock lock(schedulerMutex);
  assert(index->pins_ > 0);
  index->pins_--;
  list(index);
  wakeOne();
}

void Scheduler::close(const Index& index, std::function<void()> closed) {
  const MutexLock lock(schedulerMutex);
  assert(!index->closing_);
  index->closing_ = true;
  index->exclusive_.clear();
  index->onClosed_ = std::move(closed);
  unpark(index);
  checkClosed(index);
}

void Scheduler::checkClosed(const Index& index) {
  if (!index->closing_ || index->closed_ || !index->queue_.empty() || index->searching_ > 0 || index->linking_ > 0 ||
      index->tasks_ > 0)
    return;
  index->closed_ = true;
  auto call = std::move(index->onClosed_);
  const MutexUnlock unlocked(schedulerMutex);
  call();
}

void Scheduler::unpark(const Index& index) {
  index->sliceDue_ = false;
  for (; index->parked_ > 0; index->parked_--) {
    ready_.push_front(index);
    wakeOne();
  }
}

}  // namespace shoal
