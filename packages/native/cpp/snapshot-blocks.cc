// An index as bytes, to be kept: rows as records (row-records.h), one bit a row (set: dead), and nodes as checksummed
// blocks. All numbers are little-endian.
//
// block   = header (32 bytes), payload
// header  = magic "SHB1" u32, kind u32, first u32, count u32, payload bytes u64,
//           xxh3-64 u64 of the 24 bytes before it and the payload
// kind 2  = what Graph::exportNodes writes
// kind 3  = what Graph::exportChanged writes; first: where the search for changed nodes began
#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstring>

#include "row-records.h"
#include "search-plan.h"
#include "vector-index.h"
#include "xxh3.h"

namespace shoal {
namespace {

constexpr uint32_t MAGIC = 0x31424853;
constexpr size_t HEADER_BYTES = 32;
constexpr size_t HASHED_HEADER_BYTES = 24;

struct BlockHeader {
  uint32_t magic, kind, first, count;
  uint64_t payloadBytes;
  uint64_t hash;
};
// It is written as it lies in memory.
static_assert(offsetof(BlockHeader, magic) == 0 && offsetof(BlockHeader, kind) == 4 &&
              offsetof(BlockHeader, first) == 8);
static_assert(offsetof(BlockHeader, count) == 12 && offsetof(BlockHeader, payloadBytes) == 16);
static_assert(offsetof(BlockHeader, hash) == HASHED_HEADER_BYTES && sizeof(BlockHeader) == HEADER_BYTES);

/** For a row of any size, and for a node with all its links. */
bool isRoom(const LentBytes& out) { return out.length >= 512 * 1024; }

size_t bitBytes(size_t count) { return (count + 7) / 8; }

size_t finishBlock(uint8_t* out, uint32_t kind, size_t first, size_t count, size_t payloadBytes) {
  BlockHeader header{MAGIC, kind, static_cast<uint32_t>(first), static_cast<uint32_t>(count), payloadBytes, 0};
  std::memcpy(out, &header, HASHED_HEADER_BYTES);
  header.hash = xxh3Pair(out, HASHED_HEADER_BYTES, out + HEADER_BYTES, payloadBytes);
  std::memcpy(out + HASHED_HEADER_BYTES, &header.hash, sizeof(header.hash));
  return HEADER_BYTES + payloadBytes;
}

/** What is wrong with a block; an empty text when nothing is. */
std::string checkBlock(const LentBytes& bytes, uint32_t kind, size_t first, BlockHeader& header) {
  if (bytes.length < HEADER_BYTES) return "a block is cut short";
  std::memcpy(&header, bytes.data, HEADER_BYTES);
  if (header.magic != MAGIC) return "a block does not begin as blocks do";
  if (header.payloadBytes != bytes.length - HEADER_BYTES) return "a block is cut short";
  if (xxh3Pair(bytes.data, HASHED_HEADER_BYTES, bytes.data + HEADER_BYTES, header.payloadBytes) != header.hash)
    return "the checksum of a block does not match";
  const bool anywhere = kind == BLOCK_OF_CHANGED;
  if (header.kind != kind || (!anywhere && header.first != first) || header.count == 0)
    return "a block is not the one expected here";
  return "";
}

}  // namespace

bool VectorIndex::pin(uint32_t request) {
  if (!usable()) return false;
  pinsAsked_++;
  auto self = shared_from_this();
  Scheduler::get().pin(self, [self, request] {
    self->pinned_.fetch_add(1, std::memory_order_release);
    self->outbox_->answer(request, ResultStatus::Done);
  });
  return true;
}

bool VectorIndex::unpin() {
  if (pinsAsked_ == 0) return false;
  pinsAsked_--;
  pinned_.fetch_sub(1, std::memory_order_relaxed);
  if (pinsAsked_ == 0) frozen_ = false;
  Scheduler::get().unpin(shared_from_this());
  return true;
}

bool VectorIndex::freeze(FrozenCounts& counts) {
  if (closed_ || pinned_.load(std::memory_order_acquire) <= 0) return false;
  const MutexLock lock(writing_);
  frozenDeaths_ = generation_->rows.deaths();
  counts.rows = frozenRows_ = generation_->rows.count();
  counts.linked = frozenLinked_ = generation_->graph.size();
  counts.generation = generations_;
  counts.codesSuffice = codesTell(generation_->rows, generation_->graph.nearDistances());
  frozen_ = true;
  return true;
}

bool VectorIndex::exportBlock(uint32_t request, uint32_t kind, size_t first, size_t end, LentBytes out) {
  if (closed_ || !frozen_ || first >= end || end > frozenLinked_ || !isRoom(out)) return false;
  if (kind != BLOCK_OF_NODES && kind != BLOCK_OF_CHANGED) return false;
  auto self = shared_from_this();
  Scheduler::get().task(self, [self, frozen = generation_, request, kind, first, end, out = std::move(out)] {
    Graph& graph = frozen->graph;
    std::vector<uint8_t> nodes;
    const size_t bytesMax = out.length - HEADER_BYTES;
    nodes.reserve(bytesMax);
    size_t count = 0, next = 0;
    if (kind == BLOCK_OF_CHANGED) {
      next = graph.exportChanged(first, end, nodes, bytesMax, count);
    } else {
      next = graph.exportNodes(first, end, nodes, bytesMax);
      count = next - first;
    }
    assert(nodes.size() <= bytesMax);
    std::memcpy(out.data + HEADER_BYTES, nodes.data(), nodes.size());
    const size_t bytes = count == 0 ? 0 : finishBlock(out.data, kind, first, count, nodes.size());
    const uint32_t answer[2] = {static_cast<uint32_t>(bytes), static_cast<uint32_t>(next)};
    self->outbox_->answer(request, ResultStatus::Done, answer, nullptr, 2);
  });
  return true;
}

bool VectorIndex::exportRows(uint32_t request, size_t first, RowFile file, LentBytes out) {
  if (closed_ || !frozen_ || first >= frozenRows_ || !isRoom(out)) return false;
  auto self = shared_from_this();
  Scheduler::get().task(self, [self, frozen = generation_, count = frozenRows_, deaths = frozenDeaths_, request, first,
                               file, out = std::move(out)] {
    const Rows& rows = frozen->rows;
    const size_t dimensions = self->settings_.dimensions;
    const size_t recordBytes = rowRecordBytes(dimensions);
    const size_t next = std::min(count, first + out.length / recordBytes);
    std::vector<float> vector(dimensions);
    uint64_t chain = file.chain;
    uint8_t* record = out.data;
    const std::shared_lock<std::shared_timed_mutex> lock(self->halves_);
    for (size_t row = first; row < next; row++, record += recordBytes) {
      if (!rows.read(row, vector.data())) {
        if (rows.aliveAt(row, deaths))
          return refuseUnread(*self->outbox_, request, *frozen, static_cast<uint32_t>(row));
        // A row that counts no more has its place, and nothing else that is read.
        std::fill(vector.begin(), vector.end(), 0.0f);
      }
      std::memcpy(record + RECORD_HEADER_BYTES, vector.data(), dimensions * sizeof(float));
      chain = finishRecord(record, file.seed, row, rows.document(row), dimensions, chain);
    }
    const uint32_t answer[4] = {static_cast<uint32_t>(record - out.data), static_cast<uint32_t>(next),
                                static_cast<uint32_t>(chain), static_cast<uint32_t>(chain >> 32)};
    self->outbox_->answer(request, ResultStatus::Done, answer, nullptr, 4);
  });
  return true;
}

bool VectorIndex::exportDeaths(uint32_t request, LentBytes out) {
  if (closed_ || !frozen_ || out.length != bitBytes(frozenRows_)) return false;
  auto self = shared_from_this();
  Scheduler::get().task(
      self, [self, frozen = generation_, count = frozenRows_, deaths = frozenDeaths_, request, out = std::move(out)] {
        const Rows& rows = frozen->rows;
        std::memset(out.data, 0, out.length);
        for (size_t row = 0; row < count; row++)
          if (!rows.aliveAt(row, deaths)) out.data[row / 8] |= static_cast<uint8_t>(1 << (row % 8));
        self->outbox_->answer(request, ResultStatus::Done);
      });
  return true;
}

bool VectorIndex::fillFrom(std::string path, RowFile file, size_t keep) {
  if (closed_ || !fresh_ || filling_.load(std::memory_order_acquire) != Filling::No) return false;
  fillKeep_ = keep;
  fillPath_ = std::move(path);
  fillSeed_ = file.seed;
  return true;
}

bool VectorIndex::release(uint32_t request, std::string path, RowFile file, size_t generation, size_t keep,
                          size_t end) {
  if (!usable()) return false;
  auto self = shared_from_this();
  Scheduler::get().task(self, [self, request, path = std::move(path), seed = file.seed, generation, keep, end] {
    auto reader = RowReader::open(path, seed, self->settings_.dimensions);
    if (reader != nullptr) {
      Scheduler::get().readsFrom(self, reader->lane());
      return self->continueRelease({request, std::move(reader), generation, keep, end});
    }
    self->outbox_->refuse(request, ResultStatus::Damaged, "the file of the vectors cannot be opened");
  });
  return true;
}

void VectorIndex::continueRelease(const Release& release) {
  auto self = shared_from_this();
  {
    const MutexLock lock(writing_);
    if (closing_) return outbox_->answer(release.request, ResultStatus::Closed);
  }
  Scheduler::get().exclusive(self, [self, release] { self->releaseStep(release); });
}

/** A few blocks at a time: searches wait meanwhile. Where a task reads from a disk that stands still, the rest waits for a later one. */
void VectorIndex::releaseStep(const Release& release) {
  constexpr size_t BLOCKS_AT_ONCE = 1;
  constexpr std::chrono::milliseconds WAIT_MAX{50};
  bool more = false;
  if (const std::unique_lock<std::shared_timed_mutex> alone(halves_, WAIT_MAX); alone.owns_lock()) {
    const MutexLock lock(writing_);
    Rows& rows = generation_->rows;
    if (generations_ == release.generation && codesTell(rows, generation_->graph.nearDistances()))
      more = rows.drop(release.keep, std::min(release.end, generation_->graph.size()), release.file, BLOCKS_AT_ONCE);
  }
  auto self = shared_from_this();
  if (!more) return outbox_->answer(release.request, ResultStatus::Done);
  Scheduler::get().task(self, [self, release] { self->continueRelease(release); });
}

/** Blocks are taken in without a lock: so nothing else may be under way. */
bool VectorIndex::mayFill() {
  const Filling now = filling_.load(std::memory_order_acquire);
  if (closed_ || now == Filling::Busy || (now == Filling::No && !fresh_)) return false;
  fresh_ = false;
  filling_.store(Filling::Busy, std::memory_order_relaxed);
  return true;
}

bool VectorIndex::importBlock(uint32_t request, uint32_t kind, size_t first, LentBytes bytes) {
  if ((kind != BLOCK_OF_NODES && kind != BLOCK_OF_CHANGED) || !mayFill()) return false;
  auto self = shared_from_this();
  Scheduler::get().task(self, [self, request, kind, first, bytes = std::move(bytes)] {
    const std::string wrong = self->takeBlock(kind, first, bytes);
    // Before the answer: its receiver may send the next one.
    self->filling_.store(Filling::Blocks, std::memory_order_release);
    if (!wrong.empty()) return self->outbox_->refuse(request, ResultStatus::Damaged, wrong);
    BlockHeader header{};
    std::memcpy(&header, bytes.data, HEADER_BYTES);
    const uint32_t next = static_cast<uint32_t>(first + header.count);
    self->outbox_->answer(request, ResultStatus::Done, &next, nullptr, 1);
  });
  return true;
}

std::string VectorIndex::takeBlock(uint32_t kind, size_t first, const LentBytes& bytes) {
  BlockHeader header{};
  std::string wrong = checkBlock(bytes, kind, first, header);
  if (!wrong.empty()) return wrong;
  const uint8_t* payload = bytes.data + HEADER_BYTES;
  Graph& graph = generation_->graph;
  if (kind == BLOCK_OF_CHANGED) return graph.importChanged(payload, header.payloadBytes, header.count);
  if (first != graph.capacity()) return "a block is not the one expected here";
  return graph.importNodes(payload, header.payloadBytes, header.count);
}

std::string VectorIndex::takeVector(uint32_t document, const uint8_t* vector) {
  const size_t dimensions = settings_.dimensions;
  // Zeros beyond the dimensions stay from the beginning.
  std::memcpy(normalised_.data(), vector, dimensions * sizeof(float));
  // A right checksum says that the bytes are as they were written, not that they were vectors of an index.
  if (!isNormalised(normalised_.data(), dimensions)) return "a vector is neither of length 1 nor zero";
  Rows& rows = generation_->rows;
  return rows.count() < ROWS_MAX && rows.append(document, normalised_.data()) ? "" : "out of memory";
}

std::string VectorIndex::takeDeath(size_t row, bool dead) {
  Generation& generation = *generation_;
  if (dead) {
    generation.rows.kill(row);
    return "";
  }
  const uint32_t document = generation.rows.document(row);
  if (generation.table.find(document) != NO_ROW) return "a document has two vectors";
  if (!generation.table.set(document, static_cast<uint32_t>(row))) return "out of memory";
  generation.live.fetch_add(1, std::memory_order_relaxed);
  return "";
}

/** What is taken in from a file need not be in memory; it stays there until the next snapshot when no file can be opened. */
void VectorIndex::dropTaken(size_t end) {
  if (fillPath_.empty()) return;
  if (fillFile_ == nullptr) {
    fillFile_ = RowReader::open(fillPath_, fillSeed_, settings_.dimensions);
    if (fillFile_ != nullptr) Scheduler::get().readsFrom(shared_from_this(), fillFile_->lane());
  }
  if (fillFile_ != nullptr) generation_->rows.drop(fillKeep_, end, fillFile_, SIZE_MAX);
}

bool VectorIndex::importRows(uint32_t request, size_t first, RowFile file, LentBytes records) {
  if (!mayFill()) return false;
  auto self = shared_from_this();
  Scheduler::get().task(self, [self, request, first, file, records = std::move(records)] {
    const size_t dimensions = self->settings_.dimensions;
    const size_t recordBytes = rowRecordBytes(dimensions);
    uint64_t chain = file.chain;
    std::string wrong = records.length % recordBytes == 0 && first == self->generation_->rows.count()
                            ? ""
                            : "records of vectors are not those expected here";
    size_t row = first;
    for (size_t at = 0; at < records.length && wrong.empty(); at += recordBytes, row++) {
      const uint8_t* record = records.data + at;
      if (!checkRecord(record, file.seed, row, dimensions, chain)) wrong = "the checksum of a vector does not match";
      else wrong = self->takeVector(documentOfRecord(record), record + RECORD_HEADER_BYTES);
    }
    if (wrong.empty()) self->dropTaken(row);
    self->filling_.store(Filling::Blocks, std::memory_order_release);
    if (!wrong.empty()) return self->outbox_->refuse(request, ResultStatus::Damaged, wrong);
    const uint32_t answer[3] = {static_cast<uint32_t>(row), static_cast<uint32_t>(chain),
                                static_cast<uint32_t>(chain >> 32)};
    self->outbox_->answer(request, ResultStatus::Done, answer, nullptr, 3);
  });
  return true;
}

bool VectorIndex::importDeaths(uint32_t request, LentBytes bits) {
  if (!mayFill()) return false;
  auto self = shared_from_this();
  Scheduler::get().task(self, [self, request, bits = std::move(bits)] {
    const size_t count = self->generation_->rows.count();
    std::string wrong = bits.length == bitBytes(count) ? "" : "there are more or fewer dead vectors than vectors";
    for (size_t row = 0; row < count && wrong.empty(); row++)
      wrong = self->takeDeath(row, (bits.data[row / 8] >> (row % 8) & 1) != 0);
    self->filling_.store(Filling::Blocks, std::memory_order_release);
    if (!wrong.empty()) return self->outbox_->refuse(request, ResultStatus::Damaged, wrong);
    self->outbox_->answer(request, ResultStatus::Done);
  });
  return true;
}

bool VectorIndex::finishImport(uint32_t request, size_t rows, size_t linked) {
  if (!mayFill()) return false;
  auto self = shared_from_this();
  Scheduler::get().task(self, [self, request, rows, linked] {
    Generation& generation = *self->generation_;
    // Rows hold it as long as they need it.
    self->fillFile_.reset();
    std::string wrong = generation.graph.finishImport(generation.rows);
    if (wrong.empty() && (generation.rows.count() != rows || generation.graph.size() != linked || linked > rows))
      wrong = "vectors and graph are not of the announced size";
    if (!wrong.empty()) {
      self->filling_.store(Filling::Blocks, std::memory_order_release);
      return self->outbox_->refuse(request, ResultStatus::Damaged, wrong);
    }
    size_t tombstones = 0;
    for (size_t row = 0; row < linked; row++) tombstones += generation.rows.alive(row) ? 0 : 1;
    generation.tombstones.store(tombstones);
    generation.taken.store(linked);
    // What the graph does not hold is linked now.
    generation.graphWanted.store(linked > 0);
    self->wantGraph(generation);
    self->filling_.store(Filling::No, std::memory_order_release);
    self->outbox_->answer(request, ResultStatus::Done);
    Scheduler::get().wantLinks(self);
  });
  return true;
}

}  // namespace shoal
