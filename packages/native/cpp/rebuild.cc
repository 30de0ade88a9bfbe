// Builds a new generation without tombstones beside the one in use, then swaps them.
#include <algorithm>
#include <cassert>

#include "search-plan.h"
#include "vector-index.h"

namespace shoal {
namespace {

constexpr std::chrono::milliseconds STEP{3};
constexpr size_t COPY_ROWS = 64;

}  // namespace

bool VectorIndex::rebuild(uint32_t request) {
  if (!usable()) return false;
  {
    const MutexLock lock(writing_);
    if (closing_) {
      outbox_->answer(request, ResultStatus::Closed);
      return true;
    }
    rebuildRequests_.push_back(request);
    if (rebuilding_) return true;
    rebuilding_ = true;
    next_ = makeGeneration(settings_);
    next_->graphWanted.store(generation_->live.load() > flatRowsMax_);
    newRowOf_.clear();
    deathLog_.clear();
  }
  Scheduler::get().task(shared_from_this(), [self = shared_from_this()] { self->rebuildStep(); });
  return true;
}

/** Copies living rows below `end` to the next generation. */
Copied VectorIndex::copyRows(Generation& to, size_t end) {
  const Generation& from = *generation_;
  for (size_t row = newRowOf_.size(); row < end; row++) {
    if (!from.rows.alive(row)) {
      newRowOf_.push_back(NO_ROW);
      continue;
    }
    const uint32_t copy = static_cast<uint32_t>(to.rows.count());
    const uint32_t document = from.rows.document(row);
    const Copied copied = to.rows.appendCopy(from.rows, row, unread_);
    if (copied != Copied::Yes) return copied;
    // A document may be copied twice: its replaced row, which the log will kill, and then the one that counts.
    if (to.table.find(document) == NO_ROW) to.live.fetch_add(1, std::memory_order_relaxed);
    if (!to.table.set(document, copy)) return Copied::NoMemory;
    newRowOf_.push_back(copy);
  }
  return Copied::Yes;
}

void VectorIndex::rebuildStep() {
  std::shared_ptr<Generation> kept;
  {
    const MutexLock lock(writing_);
    if (closing_) return;
    kept = next_;
  }
  assert(kept != nullptr);
  Generation& next = *kept;
  std::shared_lock<std::shared_timed_mutex> lock(halves_);
  const auto deadline = Clock::now() + STEP;
  // Also looks at the graph as far as it has come.
  const auto orNoMemory = [](bool done) { return done ? Copied::Yes : Copied::NoMemory; };
  Copied state = orNoMemory(!next.graphWanted.load() ||
                            next.graph.prepare(std::max(generation_->live.load(), next.rows.count()), next.rows));
  bool caughtUp = false;
  while (state == Copied::Yes && !caughtUp && Clock::now() < deadline) {
    const size_t rows = generation_->rows.count();
    if (next.graphWanted.load() && next.taken.load() < next.rows.count()) {
      const bool room = next.graph.capacity() > next.taken.load() || next.graph.prepare(next.rows.count(), next.rows);
      state = orNoMemory(room && next.graph.link(next.rows));
      next.taken.store(next.graph.size());
    } else if (newRowOf_.size() < rows) {
      state = copyRows(next, std::min(rows, newRowOf_.size() + COPY_ROWS));
    } else {
      caughtUp = true;
    }
  }
  // Here, not where everybody waits: it may read a file. What is copied from now on is in memory.
  if (state == Copied::Yes && caughtUp) state = next.rows.finishCopies(unread_);
  // Nobody else sees the next generation, and who takes halves out of memory need not wait for a look through its graph.
  lock.unlock();
  auto self = shared_from_this();
  if (state != Copied::Yes) {
    abandonRebuild(state);
  } else if (caughtUp) {
    next.graph.keepUnreachable(next.graph.findUnreachable());
    next.audited = next.graph.size();
    Scheduler::get().exclusive(self, [self] { self->swapGenerations(); });
  } else {
    Scheduler::get().task(self, [self] { self->rebuildStep(); });
  }
}

void VectorIndex::swapGenerations() {
  std::shared_ptr<Generation> old;
  std::vector<uint32_t> requests;
  Copied state;
  {
    const MutexLock lock(writing_);
    assert(rebuilding_ && next_ != nullptr);
    Generation& next = *next_;
    state = copyRows(next, generation_->rows.count());
    if (state == Copied::Yes) state = next.rows.finishCopies(unread_);
    if (state == Copied::Yes) {
      for (const uint32_t dead : deathLog_) {
        const uint32_t row = newRowOf_[dead];
        if (row == NO_ROW || !next.rows.alive(row)) continue;
        const uint32_t document = next.rows.document(row);
        next.rows.kill(row);
        if (row < next.taken.load()) next.tombstones.fetch_add(1);
        if (next.table.find(document) != row) continue;
        next.table.clear(document);
        next.live.fetch_sub(1);
      }
      next.graph.prepare(0, next.rows);
      old = std::move(generation_);
      generation_ = std::move(next_);
      generations_++;
      wantGraph(*generation_);
      linkingFailed_.store(false);
      rebuilding_ = false;
      requests.swap(rebuildRequests_);
      newRowOf_ = {};
      deathLog_ = {};
    }
  }
  if (state != Copied::Yes) return abandonRebuild(state);
  // Giving back a hundred megabytes takes a while: not here, where searches wait.
  auto self = shared_from_this();
  Scheduler::get().task(self, [old = std::move(old)]() mutable { old.reset(); });
  for (const uint32_t request : requests) outbox_->answer(request, ResultStatus::Done);
}

/** Who waits for it is to be answered. */
std::vector<uint32_t> VectorIndex::endRebuild() {
  std::vector<uint32_t> requests;
  // Its memory goes back after the lock.
  std::shared_ptr<Generation> unfinished;
  {
    const MutexLock lock(writing_);
    rebuilding_ = false;
    unfinished = std::move(next_);
    requests.swap(rebuildRequests_);
    newRowOf_ = {};
    deathLog_ = {};
  }
  return requests;
}

void VectorIndex::abandonRebuild(ResultStatus status) {
  for (const uint32_t request : endRebuild()) outbox_->answer(request, status);
}

void VectorIndex::abandonRebuild(Copied failed) {
  if (failed == Copied::NoMemory) return abandonRebuild(ResultStatus::OutOfMemory);
  uint32_t row = unread_;
  if (failed == Copied::UnreadCopy)
    row = static_cast<uint32_t>(std::find(newRowOf_.begin(), newRowOf_.end(), unread_) - newRowOf_.begin());
  // Nobody but the next rebuild replaces it.
  const std::shared_ptr<Generation> generation = generation_;
  for (const uint32_t request : endRebuild()) refuseUnread(*outbox_, request, *generation, row);
}

}  // namespace shoal
