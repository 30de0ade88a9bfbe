// Nearest vectors by document: rows, graph and their upkeep.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "generation.h"
#include "outbox.h"
#include "scheduler.h"

namespace shoal {

struct IndexSettings {
  size_t dimensions;
  size_t connectivityBase;
  size_t efConstruction;
};

struct IndexCounts {
  size_t live, tail, tombstones, rows, linked, memoryBytes;
};

/**
 * `put`, `remove` and everything with a request number is called on the event loop; requests are answered through the
 * outbox. A replaced or removed row stays as a tombstone until a rebuild.
 */
class VectorIndex final : public Scheduled, public std::enable_shared_from_this<VectorIndex> {
 public:
  VectorIndex(const IndexSettings& settings, std::shared_ptr<Outbox> outbox);

  const IndexSettings& settings() const { return settings_; }
  Outbox& outbox() { return *outbox_; }

  /** `vectors` are finite. False when there is no memory: documents before the failing one are stored. */
  bool put(const uint32_t* documents, const float* vectors, size_t count);
  void remove(const uint32_t* documents, size_t count);
  IndexCounts counts();

  void submit(std::unique_ptr<SearchRequest> request);
  bool cancel(uint32_t request);
  void awaitTail(uint32_t request, size_t tailMax);
  void rebuild(uint32_t request);
  void close(uint32_t request);

  // Snapshots, in snapshot-blocks.cc. Between pin's answer and unpin the graph stands still; `freeze` names the moment.
  void pin(uint32_t request);
  void unpin();
  /** Remembers what is alive now and tells how many rows and linked rows there are. */
  void freeze(size_t& rows, size_t& linked);
  /** Writes one block with as many rows or nodes from `first` as fit; answers [bytes written, next row or node]. */
  void exportBlock(uint32_t request, uint32_t kind, size_t first, uint8_t* out, size_t capacity);
  /** Verifies one block and takes it in; refuses when it is damaged or not the one expected. */
  void importBlock(uint32_t request, uint32_t kind, size_t first, const uint8_t* bytes, size_t length);
  /** Makes the index usable when all blocks of so many rows and nodes have come. */
  void finishImport(uint32_t request, size_t rows, size_t linked);

 protected:
  void search(Searches& requests) override;
  void tellAnswers() override { outbox_->tell(); }
  void prepareLinks() override;
  void link(const LinkTurn& turn) override;
  bool hasLinks() override;
  void checkLinks() override;
  void linksPaused() override;

 private:
  struct Waiter {
    uint32_t request;
    size_t tailMax;
  };

  bool takeRow();
  void kill(Generation& generation, uint32_t row);
  void wantGraph(Generation& generation);
  std::string importRows(Generation& generation, const uint8_t* payload, size_t count);
  void answerWaiters();
  void audit();
  void rebuildStep();
  bool copyRows(size_t end);
  void swapGenerations();
  void abandonRebuild(AnswerStatus status);
  std::shared_ptr<Generation> makeGeneration() const;

  const IndexSettings settings_;
  const std::shared_ptr<Outbox> outbox_;
  const size_t flatRowsMax_;
  /** Guards writing, and the generation against being swapped by anyone who is in no phase of the scheduler. */
  std::mutex writing_;
  std::shared_ptr<Generation> generation_;
  std::vector<float> normalised_;
  std::vector<Waiter> waiters_;
  bool closing_ = false;
  /** An audit of the graph has been asked for; who waits until everything is linked waits for it, too. */
  bool auditing_ = false;
  std::atomic<bool> linkingFailed_{false};
  uint64_t frozenDeaths_ = 0;
  size_t frozenRows_ = 0;

  // A rebuild under way.
  bool rebuilding_ = false;
  std::shared_ptr<Generation> next_;
  /** Row of the next generation for each copied row, or NO_ROW. */
  std::vector<uint32_t> newRowOf_;
  /** Rows that died since the rebuild began. */
  std::vector<uint32_t> deathLog_;
  std::vector<uint32_t> rebuildRequests_;
};

}  // namespace shoal
