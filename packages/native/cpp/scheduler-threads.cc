// What the native threads do: searches, tasks, links and exclusive work.
#include <algorithm>
#include <cassert>

#include "scheduler.h"

namespace shoal {
namespace {

using std::chrono::microseconds;

/** While searches keep coming, links get a time slice this long after the last one. */
constexpr microseconds BETWEEN_SLICES{1500};
/** So many of those in line are looked at for such as ask within the same rows. */
constexpr size_t LOOK_AHEAD = 64;

/** A thread that goes on with the next searches keeps an answer so long at most, and to the end of those it is in. */
constexpr microseconds ANSWERS_KEPT{300};

/** Searches that are known to take longer than others. (One for a vector of zeros looks at all rows, too.) */
bool isLong(const SearchRequest& request) {
  return request.audit || request.probe != nullptr || request.filtered || request.ef > 512 || request.wanted > 100;
}

bool isAlike(const SearchRequest& a, const SearchRequest& b) {
  return a.filtered && b.filtered && a.allowedHash == b.allowedHash && a.allowed.size() == b.allowed.size();
}

/**
 * Takes the first in line and some that are like it: those that ask within the same rows, wherever they stand, or without a
 * filter the next ones, up to `share`. The places in line of these stay and find nothing to do.
 */
Searches takeSearches(std::deque<std::unique_ptr<SearchRequest>>& queue, size_t share) {
  Searches taken;
  taken.push_back(std::move(queue.front()));
  queue.pop_front();
  const SearchRequest& first = *taken.front();
  if (!first.filtered) {
    const size_t most = isLong(first) ? 1 : std::min(share, UNFILTERED_TOGETHER_MAX);
    while (taken.size() < most && !queue.empty() && !queue.front()->filtered && !isLong(*queue.front())) {
      taken.push_back(std::move(queue.front()));
      queue.pop_front();
    }
    return taken;
  }
  for (size_t at = 0; at < std::min(queue.size(), LOOK_AHEAD) && taken.size() < SEARCHES_TOGETHER_MAX;) {
    const auto place = queue.begin() + static_cast<std::ptrdiff_t>(at);
    if (!isAlike(first, **place)) {
      at++;
      continue;
    }
    taken.push_back(std::move(*place));
    queue.erase(place);
  }
  return taken;
}

}  // namespace

void Scheduler::run() {
  const MutexLock lock(schedulerMutex);
  for (;;) {
    if (running_ > threads_) {
      if (!rest()) return;
      continue;
    }
    if (!linkable_.empty() && !ready_.empty() && runLinks(true)) continue;
    if (runSearches()) continue;
    if (runTask()) continue;
    if (runLinks(false)) continue;
    // The lock has been held since the last look at each of the queues.
    idle_++;
    wake_.wait(schedulerMutex);
    idle_--;
  }
}

/**
 * Whether a thread may keep answers of the index while it does the next search in line: each time that the event loop is woken
 * for answers costs it as much as some of them.
 */
bool Scheduler::mayGoOn(const Index& index, Clock::time_point since) const {
  // A search that may wait for a disk would keep them for as long.
  if (index->lane_ != nullptr) return false;
  if (ready_.empty() || !linkable_.empty() || ready_.front() != index) return false;
  if (index->queue_.empty() || isLong(*index->queue_.front())) return false;
  return Clock::now() - since < ANSWERS_KEPT;
}

bool Scheduler::runSearches() {
  // Has searched, and its answers are kept.
  Index untold;
  Clock::time_point since;
  while (!ready_.empty()) {
    Index index = std::move(ready_.front());
    ready_.pop_front();
    if (index->queue_.empty()) {
      checkClosed(index);
      continue;
    }
    if (park(index)) continue;
    if (index->linking_ > 0 || index->sliceDue_) {
      index->parked_++;
      index->slice_.searchWaits();
      continue;
    }
    // Those that sleep are awake soon, and take as many.
    Searches requests = takeSearches(index->queue_, (index->queue_.size() + idle_) / (idle_ + 1));
    assert(index->linking_ == 0);
    index->searching_++;
    {
      const MutexUnlock unlocked(schedulerMutex);
      index->search(requests);
      requests.clear();
    }
    index->searching_--;
    if (untold == nullptr) since = Clock::now();
    // Always the same one: `mayGoOn` wants the next in line to be for it.
    untold = std::move(index);
    if (!mayGoOn(untold, since)) break;
  }
  if (untold == nullptr) return false;
  {
    const MutexUnlock unlocked(schedulerMutex);
    untold->tellAnswers();
  }
  checkClosed(untold);
  return true;
}

bool Scheduler::runTask() {
  if (tasks_.empty()) return false;
  Task task = std::move(tasks_.front());
  tasks_.pop_front();
  {
    const MutexUnlock unlocked(schedulerMutex);
    task.work();
    task.work = nullptr;
  }
  assert(task.index->tasks_ > 0);
  task.index->tasks_--;
  checkClosed(task.index);
  return true;
}

bool Scheduler::runLinks(bool dueOnly) {
  const auto now = Clock::now();
  for (size_t i = linkable_.size(); i > 0; i--) {
    Index index = linkable_.front();
    linkable_.pop_front();
    if (index->closing_) {
      index->listed_ = false;
      continue;
    }
    linkable_.push_back(index);
    if (index->pins_ > 0 || index->preparing_) continue;
    if (linksHeld_ && index->exclusive_.empty()) continue;
    const bool searched = index->searching_ > 0 || !index->queue_.empty();
    if (searched && index->linking_ == 0 && now - index->lastSlice_ < BETWEEN_SLICES) continue;
    if (dueOnly && !searched) continue;
    if (index->searching_ > 0) {
      index->sliceDue_ = true;
      continue;
    }
    if (index->linking_ > 0 && (!index->exclusive_.empty() || index->slice_.over() || !index->hasLinks())) continue;
    takeSlice(index);
    // The lock was open: the queues are others now, and what came found nobody asleep to wake.
    return true;
  }
  return false;
}

void Scheduler::runExclusive(const Index& index) {
  auto work = std::move(index->exclusive_.front());
  index->exclusive_.pop_front();
  const MutexUnlock unlocked(schedulerMutex);
  work();
  work = nullptr;
}

void Scheduler::takeSlice(const Index& index) {
  assert(index->searching_ == 0 && index->pins_ == 0);
  index->linking_++;
  if (index->linking_ == 1) {
    index->preparing_ = true;
    index->slice_.begin();
    if (!index->queue_.empty()) index->slice_.searchWaits();
    while (!index->exclusive_.empty()) runExclusive(index);
    {
      const MutexUnlock unlocked(schedulerMutex);
      index->prepareLinks();
    }
    index->preparing_ = false;
    if (idle_ > 0) wake_.notifyOne();
  }
  {
    const MutexUnlock unlocked(schedulerMutex);
    if (index->hasLinks()) index->link(index->slice_);
  }
  if (index->linking_ > 1) {
    index->linking_--;
    return;
  }
  index->preparing_ = true;
  {
    const MutexUnlock unlocked(schedulerMutex);
    index->checkLinks();
  }
  index->preparing_ = false;
  assert(index->linking_ == 1 && index->searching_ == 0);
  index->linking_--;
  index->lastSlice_ = Clock::now();
  // Only now, under the lock: a `put` after this look calls `wantLinks` and lists it again.
  const bool more = index->hasLinks() || !index->exclusive_.empty();
  if (!more && index->listed_) {
    index->listed_ = false;
    linkable_.erase(std::find(linkable_.begin(), linkable_.end(), index));
  }
  unpark(index);
  {
    const MutexUnlock unlocked(schedulerMutex);
    index->linksPaused();
  }
  checkPinned(index);
  checkClosed(index);
}

}  // namespace shoal
