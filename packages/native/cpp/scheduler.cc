#include "scheduler.h"

#include <algorithm>
#include <thread>

namespace shoal {
namespace {

using std::chrono::microseconds;

/** How long links may keep searches of the same index waiting. */
constexpr microseconds TURN_BEFORE_SEARCHES{250};
/** How long links go on when nobody waits, before other indexes get their turn. */
constexpr microseconds TURN{5000};
/** While searches keep coming, links get a turn this long after the last one. */
constexpr microseconds BETWEEN_TURNS{1500};
/** So many of those in line are looked at for such as ask within the same rows, and so many are done together. */
constexpr size_t LOOK_AHEAD = 64;
constexpr size_t TOGETHER_MAX = 8;

bool isAlike(const SearchRequest& a, const SearchRequest& b) {
  return a.filtered && b.filtered && a.allowedHash == b.allowedHash && a.allowed.size() == b.allowed.size();
}

/** Takes the first in line and those like it. The places in line of these stay and find nothing to do. */
Searches takeSearches(std::deque<std::unique_ptr<SearchRequest>>& queue) {
  Searches taken;
  taken.push_back(std::move(queue.front()));
  queue.pop_front();
  if (!taken.front()->filtered) return taken;
  for (size_t at = 0; at < std::min(queue.size(), LOOK_AHEAD) && taken.size() < TOGETHER_MAX;) {
    const auto place = queue.begin() + static_cast<std::ptrdiff_t>(at);
    if (!isAlike(*taken.front(), **place)) {
      at++;
      continue;
    }
    taken.push_back(std::move(*place));
    queue.erase(place);
  }
  return taken;
}

}  // namespace

bool LinkTurn::over() const {
  const auto elapsed = Clock::now() - started_;
  return elapsed >= TURN || (elapsed >= TURN_BEFORE_SEARCHES && searchesWait_.load(std::memory_order_relaxed));
}

Scheduler& Scheduler::get() {
  static Scheduler* one = new Scheduler();
  return *one;
}

Scheduler::Scheduler() {
  const unsigned threads = std::max(1u, std::thread::hardware_concurrency());
  for (unsigned thread = 0; thread < threads; thread++) std::thread([this] { run(); }).detach();
}

void Scheduler::wakeOne() {
  if (idle_ > 0) wake_.notify_one();
}

void Scheduler::search(const Index& index, std::unique_ptr<SearchRequest> request) {
  Lock lock(mutex_);
  index->queue_.push_back(std::move(request));
  ready_.push_back(index);
  // All threads may be linking, so that nobody comes to see this search: tell the linkers now.
  for (const Index& linking : linkable_)
    if (linking->linking_ > 0 && (linking == index || idle_ == 0)) linking->turn_.searchWaits();
  const bool wakes = idle_ > 0;
  lock.unlock();
  // Without the lock: a thread that is woken while it is held wakes only to wait for it.
  if (wakes) wake_.notify_one();
}

bool Scheduler::cancel(const Index& index, uint32_t request) {
  const Lock lock(mutex_);
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
  const Lock lock(mutex_);
  list(index);
  wakeOne();
}

void Scheduler::task(const Index& index, std::function<void()> work) {
  const Lock lock(mutex_);
  index->tasks_++;
  tasks_.push_back({index, std::move(work)});
  wakeOne();
}

void Scheduler::exclusive(const Index& index, std::function<void()> work) {
  const Lock lock(mutex_);
  index->exclusive_.push_back(std::move(work));
  list(index);
  wakeOne();
}

void Scheduler::pin(const Index& index, std::function<void()> pinned) {
  Lock lock(mutex_);
  index->pins_++;
  // A turn that was due cannot come now, so nobody needs to wait for it.
  if (index->linking_ == 0) unpark(index);
  index->onPinned_.push_back(std::move(pinned));
  checkPinned(lock, index);
}

void Scheduler::checkPinned(Lock& lock, const Index& index) {
  if (index->onPinned_.empty() || index->linking_ > 0) return;
  auto calls = std::move(index->onPinned_);
  index->onPinned_.clear();
  lock.unlock();
  for (auto& call : calls) call();
  lock.lock();
}

void Scheduler::unpin(const Index& index) {
  const Lock lock(mutex_);
  index->pins_--;
  list(index);
  wakeOne();
}

void Scheduler::close(const Index& index, std::function<void()> closed) {
  Lock lock(mutex_);
  index->closing_ = true;
  index->exclusive_.clear();
  index->onClosed_ = std::move(closed);
  unpark(index);
  checkClosed(lock, index);
}

void Scheduler::checkClosed(Lock& lock, const Index& index) {
  if (!index->closing_ || index->closed_ || !index->queue_.empty() || index->searching_ > 0 || index->linking_ > 0 ||
      index->tasks_ > 0)
    return;
  index->closed_ = true;
  auto call = std::move(index->onClosed_);
  lock.unlock();
  call();
  lock.lock();
}

void Scheduler::unpark(const Index& index) {
  index->turnDue_ = false;
  for (; index->parked_ > 0; index->parked_--) {
    ready_.push_front(index);
    wakeOne();
  }
}

void Scheduler::run() {
  Lock lock(mutex_);
  for (;;) {
    if (!linkable_.empty() && !ready_.empty() && runLinks(lock, true)) continue;
    if (runSearch(lock)) continue;
    if (runTask(lock)) continue;
    if (runLinks(lock, false)) continue;
    idle_++;
    wake_.wait(lock);
    idle_--;
  }
}

bool Scheduler::runSearch(Lock& lock) {
  while (!ready_.empty()) {
    Index index = std::move(ready_.front());
    ready_.pop_front();
    if (index->queue_.empty()) {
      checkClosed(lock, index);
      continue;
    }
    if (index->linking_ > 0 || index->turnDue_) {
      index->parked_++;
      index->turn_.searchWaits();
      continue;
    }
    Searches requests = takeSearches(index->queue_);
    index->searching_++;
    lock.unlock();
    index->search(requests);
    requests.clear();
    lock.lock();
    index->searching_--;
    checkClosed(lock, index);
    return true;
  }
  return false;
}

bool Scheduler::runTask(Lock& lock) {
  if (tasks_.empty()) return false;
  Task task = std::move(tasks_.front());
  tasks_.pop_front();
  lock.unlock();
  task.work();
  task.work = nullptr;
  lock.lock();
  task.index->tasks_--;
  checkClosed(lock, task.index);
  return true;
}

bool Scheduler::runLinks(Lock& lock, bool dueOnly) {
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
    const bool searched = index->searching_ > 0 || !index->queue_.empty();
    if (searched && index->linking_ == 0 && now - index->lastTurn_ < BETWEEN_TURNS) continue;
    if (dueOnly && !searched) continue;
    if (index->searching_ > 0) {
      index->turnDue_ = true;
      continue;
    }
    if (index->linking_ > 0 && (!index->exclusive_.empty() || index->turn_.over() || !index->hasLinks())) continue;
    if (takeTurn(lock, index)) return true;
  }
  return false;
}

void Scheduler::runExclusive(Lock& lock, const Index& index) {
  auto work = std::move(index->exclusive_.front());
  index->exclusive_.pop_front();
  lock.unlock();
  work();
  work = nullptr;
  lock.lock();
}

bool Scheduler::takeTurn(Lock& lock, const Index& index) {
  index->linking_++;
  bool worked = false;
  if (index->linking_ == 1) {
    index->preparing_ = true;
    index->turn_.begin();
    if (!index->queue_.empty()) index->turn_.searchWaits();
    while (!index->exclusive_.empty()) {
      runExclusive(lock, index);
      worked = true;
    }
    lock.unlock();
    index->prepareLinks();
    lock.lock();
    index->preparing_ = false;
    if (idle_ > 0) wake_.notify_one();
  }
  lock.unlock();
  if (index->hasLinks()) {
    worked = true;
    index->link(index->turn_);
  }
  lock.lock();
  if (index->linking_ > 1) {
    index->linking_--;
    return true;
  }
  index->preparing_ = true;
  lock.unlock();
  index->checkLinks();
  lock.lock();
  index->preparing_ = false;
  index->linking_--;
  index->lastTurn_ = Clock::now();
  // Only now, under the lock: a `put` after this look calls `wantLinks` and lists it again.
  const bool more = index->hasLinks() || !index->exclusive_.empty();
  if (!more && index->listed_) {
    index->listed_ = false;
    linkable_.erase(std::find(linkable_.begin(), linkable_.end(), index));
  }
  unpark(index);
  lock.unlock();
  index->linksPaused();
  lock.lock();
  checkPinned(lock, index);
  checkClosed(lock, index);
  return worked;
}

}  // namespace shoal
