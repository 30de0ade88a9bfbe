// Nearest vectors by document: rows, graph and their upkeep.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <shared_mutex>
#include <string>
#include <vector>

#include "generation.h"
#include "lent-bytes.h"
#include "outbox.h"
#include "scheduler.h"
#include "search-effort.h"
#include "thread-safety.h"

namespace shoal {

struct IndexSettings {
  size_t dimensions;
  size_t connectivityBase;
  size_t efConstruction;
};

std::shared_ptr<Generation> makeGeneration(const IndexSettings& settings);

struct IndexCounts {
  size_t live, unindexed, tombstones, rows, linked, memoryBytes;
  /** Rows whose float32 values are in memory. */
  size_t resident;
};

/** Kinds of blocks; src/native-vector-index.ts knows them, too. 1 was that of rows. */
constexpr uint32_t BLOCK_OF_NODES = 2;
constexpr uint32_t BLOCK_OF_CHANGED = 3;

/** What is there when an index is frozen. Rows and nodes of one generation stay where they are. */
struct FrozenCounts {
  size_t rows, linked, generation;
  /** Whether codes are precise enough to walk the graph by, so that halves need not be in memory. */
  bool codesSuffice;
};

/** Answers that a row cannot be read from its file: with its document, itself, and the number of its generation. */
void refuseUnread(Outbox& outbox, uint32_t request, const Generation& generation, uint32_t row);

/** A file of rows, and the chain of its records so far (row-records.h). */
struct RowFile {
  uint64_t seed, chain;
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

  // The caller asks first; the states change on the event loop, or before the answer that tells of it.
  /** Not being filled from blocks. What is closed answers so. */
  bool usable() const { return filling_.load(std::memory_order_acquire) == Filling::No; }

  /**
   * `vectors` are finite. False when there is no memory: documents before the failing one are stored. What a document has already is
   * stored again only `anew`: in place of a row that cannot be read.
   */
  bool put(const uint32_t* documents, const float* vectors, size_t count, bool anew = false);
  void remove(const uint32_t* documents, size_t count);
  /** Whether this row, of the generation with this number, is what the document has now. */
  bool holds(uint32_t document, uint32_t row, uint32_t generation);
  IndexCounts counts();

  void submit(std::unique_ptr<SearchRequest> request);
  /** Counts for all automatic searches that begin from now on. */
  void setEffort(const SearchEffort& effort);
  void cancel(uint32_t request);
  // These, and `pin`, are false while the index is not usable.
  bool awaitUnindexed(uint32_t request, size_t unindexedMax);
  /** Answers `Damaged` with the document when a row cannot be read: a rebuild after its next `put` may succeed. */
  bool rebuild(uint32_t request);
  /** False when it was closed before. */
  bool close(uint32_t request);

  // Snapshots, in snapshot-blocks.cc. Between pin's answer and unpin the graph stands still; `freeze` names the moment.
  bool pin(uint32_t request);
  /** False when there is no pin to end. */
  bool unpin();
  /** Remembers what is alive now and tells what there is. False when it is not pinned. */
  bool freeze(FrozenCounts& counts);
  // The calls below are false when nothing is frozen, or nothing of that kind is there from `first` on. They write to `out`, which
  // nobody else touches until the answer.
  /**
   * Writes one block of nodes from `first` on, all or those that have changed since they were last written, as many below
   * `end` as fit; answers [bytes written, next node]. Without a changed one nothing is written.
   */
  bool exportBlock(uint32_t request, uint32_t kind, size_t first, size_t end, LentBytes out);
  /** Writes records of rows from `first` on, as many as fit; answers [bytes written, next row, chain in two parts]. */
  bool exportRows(uint32_t request, size_t first, RowFile file, LentBytes out);
  /** Writes a bit for each row, set when it is dead. */
  bool exportDeaths(uint32_t request, LentBytes out);
  /**
   * Takes rows from `keep` to `end` out of memory, which a synced file holds from row 0 to `end`, unless the rows are of another
   * generation, codes do not tell these rows or the graph has not linked them. Answers when that is done, `Damaged` when the file
   * cannot be opened. False while the index is not usable.
   */
  bool release(uint32_t request, std::string path, RowFile file, size_t generation, size_t keep, size_t end);
  // The calls below verify bytes and take them in; they answer `Damaged` when those are not as they were written or not the
  // ones expected. False when something is in the index that came otherwise, or the call before has no answer yet.
  /** One block; answers [next row or node]. */
  bool importBlock(uint32_t request, uint32_t kind, size_t first, LentBytes bytes);
  /** Whole records; answers [next row, chain in two parts]. */
  bool importRows(uint32_t request, size_t first, RowFile file, LentBytes records);
  /** After the last record. */
  bool importDeaths(uint32_t request, LentBytes bits);
  /** Before the first row: rows from `keep` on are not kept in memory while they come, but read from the file. False as above. */
  bool fillFrom(std::string path, RowFile file, size_t keep);
  /** Makes the index usable when all blocks of so many rows and nodes have come; false as for `importBlock`. */
  bool finishImport(uint32_t request, size_t rows, size_t linked);

 protected:
  void search(Searches& requests) override;
  void tellAnswers() override { outbox_->tell(); }
  void prepareLinks() override;
  void link(const LinkSlice& slice) override;
  bool hasLinks() override;
  void checkLinks() override;
  void linksPaused() override;

 private:
  struct Waiter {
    uint32_t request;
    size_t unindexedMax;
  };

  bool mayFill();
  bool takeRow();
  void kill(Generation& generation, uint32_t row) REQUIRES(writing_);
  void wantGraph(Generation& generation);
  std::string takeBlock(uint32_t kind, size_t first, const LentBytes& bytes);
  std::string takeVector(uint32_t document, const uint8_t* vector);
  void dropTaken(size_t end);
  std::string takeDeath(size_t row, bool dead);
  /** What `release` was asked for, with the file open. */
  struct Release {
    uint32_t request;
    std::shared_ptr<const RowReader> file;
    size_t generation, keep, end;
  };
  void continueRelease(const Release& release);
  void releaseStep(const Release& release);
  void answerWaiters() EXCLUDES(writing_);
  void audit();
  void probe(std::unique_ptr<SearchRequest>& request);
  void rebuildStep();
  Copied copyRows(Generation& to, size_t end);
  void swapGenerations() EXCLUDES(writing_);
  std::vector<uint32_t> endRebuild() EXCLUDES(writing_);
  void abandonRebuild(ResultStatus status);
  void abandonRebuild(Copied failed);

  const IndexSettings settings_;
  const std::shared_ptr<Outbox> outbox_;
  const size_t flatRowsMax_;
  /** Swapped as a whole, by std::atomic_store. */
  std::shared_ptr<const SearchEffort> effort_ = std::make_shared<SearchEffort>(UNMEASURED_EFFORT);
  /**
   * Guards writing, and the generation against being swapped by anyone who is in no phase of the scheduler. (clang knows locks, not
   * phases: `generation_` has no annotation.)
   */
  Mutex writing_;
  /** Held by tasks that read halves of rows, beside searches and links; by who takes them out of memory, alone. */
  std::shared_timed_mutex halves_;
  std::shared_ptr<Generation> generation_;
  /** How often it was swapped. */
  size_t generations_ GUARDED_BY(writing_) = 0;
  /** Of the one who writes, or fills. */
  std::vector<float> normalised_;
  std::vector<Waiter> waiters_ GUARDED_BY(writing_);
  bool closing_ GUARDED_BY(writing_) = false;
  /** An audit of the graph has been asked for; who waits until everything is linked waits for it, too. */
  bool auditing_ GUARDED_BY(writing_) = false;
  std::atomic<bool> linkingFailed_{false};
  uint64_t frozenDeaths_ = 0;
  size_t frozenRows_ = 0;

  // States, of the event loop unless they are atomic.
  /** `Busy`: a block is being taken in. */
  enum class Filling { No, Blocks, Busy };
  std::atomic<Filling> filling_{Filling::No};
  /** Nothing was put, removed, rebuilt or taken in yet. */
  bool fresh_ = true;
  bool closed_ = false;
  bool frozen_ = false;
  size_t frozenLinked_ = 0;
  size_t pinsAsked_ = 0;
  /** Pins that were answered and not ended. */
  std::atomic<int> pinned_{0};

  // What an import reads rows from that it does not keep.
  std::string fillPath_;
  uint64_t fillSeed_ = 0;
  std::shared_ptr<const RowReader> fillFile_;
  size_t fillKeep_ = 0;

  // A rebuild under way. Only its own steps touch what is in the next generation, and which row has become which.
  bool rebuilding_ GUARDED_BY(writing_) = false;
  std::shared_ptr<Generation> next_ GUARDED_BY(writing_);
  /** Row of the next generation for each copied row, or NO_ROW. */
  std::vector<uint32_t> newRowOf_;
  /** What cannot be read; see `Rows::appendCopy`. */
  uint32_t unread_ = 0;
  /** Rows that died since the rebuild began. */
  std::vector<uint32_t> deathLog_ GUARDED_BY(writing_);
  std::vector<uint32_t> rebuildRequests_ GUARDED_BY(writing_);
};

}  // namespace shoal
