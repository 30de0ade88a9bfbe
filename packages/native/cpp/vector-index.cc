#include "vector-index.h"

#include <algorithm>
#include <cassert>
#include <new>

#include "search-plan.h"

namespace shoal {

VectorIndex::VectorIndex(const IndexSettings& settings, std::shared_ptr<Outbox> outbox)
    : settings_(settings),
      outbox_(std::move(outbox)),
      flatRowsMax_(flatRowsMax(paddedLanes(settings.dimensions))),
      generation_(makeGeneration(settings)),
      normalised_(paddedLanes(settings.dimensions)) {}

std::shared_ptr<Generation> makeGeneration(const IndexSettings& settings) {
  return std::make_shared<Generation>(settings.dimensions, settings.connectivityBase, settings.efConstruction);
}

bool VectorIndex::put(const uint32_t* documents, const float* vectors, size_t count, bool anew) {
  fresh_ = false;
  bool links;
  {
    const MutexLock lock(writing_);
    Generation& generation = *generation_;
    for (size_t i = 0; i < count; i++) {
      normalise(vectors + i * settings_.dimensions, settings_.dimensions, normalised_.size(), normalised_.data());
      const uint32_t old = generation.table.find(documents[i]);
      // The same direction again costs nothing.
      if (old != NO_ROW && !anew && generation.rows.equals(old, normalised_.data())) continue;
      const size_t row = generation.rows.count();
      if (row >= ROWS_MAX || !generation.rows.append(documents[i], normalised_.data())) return false;
      // First the new row, then the death of the old one: a search sees at least one of them.
      if (!generation.table.set(documents[i], static_cast<uint32_t>(row))) {
        generation.rows.kill(row);
        return false;
      }
      if (old == NO_ROW) generation.live.fetch_add(1, std::memory_order_relaxed);
      else kill(generation, old);
    }
    wantGraph(generation);
    linkingFailed_.store(false, std::memory_order_relaxed);
    links = hasLinks();
  }
  if (links) Scheduler::get().wantLinks(shared_from_this());
  return true;
}

void VectorIndex::wantGraph(Generation& generation) {
  if (generation.live.load(std::memory_order_relaxed) > flatRowsMax_)
    generation.graphWanted.store(true, std::memory_order_relaxed);
}

void VectorIndex::kill(Generation& generation, uint32_t row) {
  generation.rows.kill(row);
  if (row < generation.taken.load(std::memory_order_relaxed))
    generation.tombstones.fetch_add(1, std::memory_order_relaxed);
  if (rebuilding_) deathLog_.push_back(row);
}

void VectorIndex::remove(const uint32_t* documents, size_t count) {
  {
    const MutexLock lock(writing_);
    Generation& generation = *generation_;
    for (size_t i = 0; i < count; i++) {
      const uint32_t row = generation.table.find(documents[i]);
      if (row == NO_ROW) continue;
      generation.table.clear(documents[i]);
      kill(generation, row);
      generation.live.fetch_sub(1, std::memory_order_relaxed);
    }
  }
  // The unindexed vectors may have become shorter.
  answerWaiters();
}

bool VectorIndex::holds(uint32_t document, uint32_t row, uint32_t generation) {
  const MutexLock lock(writing_);
  return generation_->number == generation && generation_->table.find(document) == row;
}

IndexCounts VectorIndex::counts() {
  const MutexLock lock(writing_);
  const Generation& generation = *generation_;
  IndexCounts counts{};
  counts.live = generation.live.load();
  counts.unindexed = generation.unindexed();
  counts.tombstones = generation.tombstones.load();
  counts.rows = generation.rows.count();
  counts.linked = generation.taken.load();
  counts.memoryBytes = generation.memoryBytes() + (next_ == nullptr ? 0 : next_->memoryBytes());
  counts.resident = generation.rows.residentCount();
  return counts;
}

void VectorIndex::submit(std::unique_ptr<SearchRequest> request) {
  Scheduler::get().search(shared_from_this(), std::move(request));
}

void VectorIndex::setEffort(const SearchEffort& effort) {
  std::atomic_store(&effort_, std::shared_ptr<const SearchEffort>(std::make_shared<SearchEffort>(effort)));
}

void VectorIndex::cancel(uint32_t request) {
  if (Scheduler::get().cancel(shared_from_this(), request)) outbox_->answer(request, ResultStatus::Cancelled);
}

bool VectorIndex::awaitUnindexed(uint32_t request, size_t unindexedMax) {
  if (!usable()) return false;
  {
    const MutexLock lock(writing_);
    waiters_.push_back({request, unindexedMax});
  }
  Scheduler::get().holdLinks(false);
  answerWaiters();
  return true;
}

void VectorIndex::answerWaiters() {
  const MutexLock lock(writing_);
  if (waiters_.empty()) return;
  const size_t unindexed = generation_->unindexed();
  const bool auditing = auditing_;
  const auto done = std::partition(waiters_.begin(), waiters_.end(), [unindexed, auditing](const Waiter& waiter) {
    return unindexed > waiter.unindexedMax || (waiter.unindexedMax == 0 && auditing);
  });
  for (auto waiter = done; waiter != waiters_.end(); ++waiter) outbox_->answer(waiter->request, ResultStatus::Done);
  waiters_.erase(done, waiters_.end());
}

bool VectorIndex::close(uint32_t request) {
  if (closed_) return false;
  closed_ = true;
  {
    const MutexLock lock(writing_);
    closing_ = true;
    for (const Waiter& waiter : waiters_) outbox_->answer(waiter.request, ResultStatus::Closed);
    waiters_.clear();
  }
  auto self = shared_from_this();
  Scheduler::get().close(self, [self, request] {
    self->abandonRebuild(ResultStatus::Closed);
    std::shared_ptr<Generation> last = makeGeneration(self->settings_);
    {
      const MutexLock lock(self->writing_);
      std::swap(last, self->generation_);
    }
    last.reset();
    self->outbox_->answer(request, ResultStatus::Done);
  });
  return true;
}

// Links.

bool VectorIndex::hasLinks() {
  const Generation& generation = *generation_;
  return generation.graphWanted.load(std::memory_order_relaxed) && !linkingFailed_.load(std::memory_order_relaxed) &&
         generation.taken.load(std::memory_order_relaxed) < generation.rows.count();
}

void VectorIndex::prepareLinks() {
  Generation& generation = *generation_;
  // After a failure, what was taken but not linked is there to be taken again.
  if (generation.taken.load(std::memory_order_relaxed) != generation.graph.size()) {
    const MutexLock lock(writing_);
    size_t tombstones = 0;
    for (size_t row = 0; row < generation.graph.size(); row++) tombstones += generation.rows.alive(row) ? 0 : 1;
    generation.tombstones.store(tombstones);
    generation.taken.store(generation.graph.size());
  }
  if (hasLinks() && !generation.graph.prepare(generation.rows.count(), generation.rows)) linkingFailed_.store(true);
}

bool VectorIndex::takeRow() {
  const MutexLock lock(writing_);
  Generation& generation = *generation_;
  const size_t row = generation.taken.load(std::memory_order_relaxed);
  if (row >= generation.rows.count() || row >= generation.graph.capacity()) return false;
  if (!generation.rows.alive(row)) generation.tombstones.fetch_add(1, std::memory_order_relaxed);
  generation.taken.store(row + 1, std::memory_order_relaxed);
  return true;
}

void VectorIndex::link(const LinkSlice& slice) {
  Generation& generation = *generation_;
  do {
    if (!takeRow()) return;
    if (!generation.graph.link(generation.rows)) {
      linkingFailed_.store(true);
      return;
    }
  } while (!slice.over() && !linkingFailed_.load(std::memory_order_relaxed));
}

void VectorIndex::checkLinks() { generation_->graph.checkNewest(); }

void VectorIndex::linksPaused() {
  bool due = false;
  {
    const MutexLock lock(writing_);
    Generation& generation = *generation_;
    // Following all links costs as much as linking a hundred or two rows: so after each 32nd part more.
    const size_t linked = generation.taken.load(std::memory_order_relaxed);
    due = !auditing_ && !closing_ && !hasLinks() && linked > generation.audited + generation.audited / 32;
    if (due) {
      auditing_ = true;
      generation.audited = linked;
    }
  }
  if (due) {
    auto request = std::make_unique<SearchRequest>();
    request->audit = true;
    Scheduler::get().search(shared_from_this(), std::move(request));
    Scheduler::get().wakeForSearches();
  }
  answerWaiters();
}

void VectorIndex::audit() {
  Graph& graph = generation_->graph;
  graph.keepUnreachable(graph.findUnreachable());
  {
    const MutexLock lock(writing_);
    assert(auditing_);
    auditing_ = false;
  }
  answerWaiters();
}

}  // namespace shoal
