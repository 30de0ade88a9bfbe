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
  const Lock lock(mutex_);
  index->queue_.push_back(std::move(request));
  ready_.push_back(index);
  // All threads may be linking, so that nobody comes to see this search: tell the linkers now.
  for (const Index& linking : linkable_)
    if (linking->linking_ > 0 && (linking == index || idle_ == 0)) linking->turn_.searchWaits();
}

void Scheduler::wakeForSearches() {
  Lock lock(mutex_);
  const size_t wakes = std::min(idle_, ready_.size());
  lock.unlock();
  // Without the lock: a thread that is woken while it is held wakes only to wait for it.
  for (size_t thread = 0; thread < wakes; thread++) wake_.notify_one();
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

}  // namespace shoal
