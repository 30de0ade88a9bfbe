// An index as checksummed blocks, for whoever keeps them. All numbers are little-endian.
//
// block   = header (32 bytes), payload
// header  = magic "SHB1" u32, kind u32 (1 rows, 2 nodes), first u32, count u32, payload bytes u64,
//           xxh3-64 u64 of the 24 bytes before it and the payload
// rows    = document u32 × count, one bit a row (set: dead) padded to u32, float32 × dimensions × count
// nodes   = what Graph::exportNodes writes
#include <algorithm>
#include <cstring>

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
static_assert(sizeof(BlockHeader) == HEADER_BYTES, "the header is written as it lies in memory");

size_t deadBytes(size_t count) { return (count + 31) / 32 * 4; }
size_t rowBlockBytes(size_t count, size_t dimensions) { return count * 4 + deadBytes(count) + count * dimensions * 4; }

size_t finishBlock(uint8_t* out, uint32_t kind, size_t first, size_t count, size_t payloadBytes) {
  BlockHeader header{MAGIC, kind, static_cast<uint32_t>(first), static_cast<uint32_t>(count), payloadBytes, 0};
  std::memcpy(out, &header, HASHED_HEADER_BYTES);
  header.hash = xxh3Pair(out, HASHED_HEADER_BYTES, out + HEADER_BYTES, payloadBytes);
  std::memcpy(out + HASHED_HEADER_BYTES, &header.hash, sizeof(header.hash));
  return HEADER_BYTES + payloadBytes;
}

/** What is wrong with a block; an empty text when nothing is. */
std::string checkBlock(const uint8_t* bytes, size_t length, uint32_t kind, size_t first, BlockHeader& header) {
  if (length < HEADER_BYTES) return "a block is cut short";
  std::memcpy(&header, bytes, HEADER_BYTES);
  if (header.magic != MAGIC) return "a block does not begin as blocks do";
  if (header.payloadBytes != length - HEADER_BYTES) return "a block is cut short";
  if (xxh3Pair(bytes, HASHED_HEADER_BYTES, bytes + HEADER_BYTES, length - HEADER_BYTES) != header.hash)
    return "the checksum of a block does not match";
  if (header.kind != kind || header.first != first || header.count == 0) return "a block is not the one expected here";
  return "";
}

}  // namespace

void VectorIndex::pin(uint32_t request) {
  pinsAsked_++;
  auto self = shared_from_this();
  Scheduler::get().pin(self, [self, request] {
    self->pinned_.fetch_add(1, std::memory_order_release);
    self->outbox_->answer(request, AnswerStatus::Done);
  });
}

bool VectorIndex::unpin() {
  if (pinsAsked_ == 0) return false;
  pinsAsked_--;
  pinned_.fetch_sub(1, std::memory_order_relaxed);
  if (pinsAsked_ == 0) frozen_ = false;
  Scheduler::get().unpin(shared_from_this());
  return true;
}

bool VectorIndex::freeze(size_t& rows, size_t& linked) {
  if (closed_ || pinned_.load(std::memory_order_acquire) <= 0) return false;
  const std::lock_guard<std::mutex> lock(writing_);
  frozenDeaths_ = generation_->rows.deaths();
  rows = frozenRows_ = generation_->rows.count();
  linked = frozenLinked_ = generation_->graph.size();
  frozen_ = true;
  return true;
}

bool VectorIndex::exportBlock(uint32_t request, uint32_t kind, size_t first, uint8_t* out, size_t capacity) {
  if (closed_ || !frozen_ || first >= (kind == BLOCK_OF_ROWS ? frozenRows_ : frozenLinked_)) return false;
  auto self = shared_from_this();
  Scheduler::get().task(self, [self, request, kind, first, out, capacity] {
    const Generation& generation = *self->generation_;
    const Rows& rows = generation.rows;
    uint8_t* payload = out + HEADER_BYTES;
    size_t bytes = 0, next = first;
    if (kind == BLOCK_OF_ROWS) {
      const size_t dimensions = self->settings_.dimensions;
      size_t count = std::min(self->frozenRows_ - first, (capacity - HEADER_BYTES) / (dimensions * 4 + 4));
      while (count > 0 && rowBlockBytes(count, dimensions) > capacity - HEADER_BYTES) count--;
      next = first + count;
      bytes = rowBlockBytes(count, dimensions);
      uint8_t* dead = payload + count * 4;
      uint8_t* vectors = dead + deadBytes(count);
      std::memset(dead, 0, deadBytes(count));
      std::vector<float> vector(dimensions);
      for (size_t i = 0; i < count; i++) {
        const uint32_t document = rows.document(first + i);
        std::memcpy(payload + i * 4, &document, 4);
        if (!rows.aliveAt(first + i, self->frozenDeaths_)) dead[i / 8] |= static_cast<uint8_t>(1 << (i % 8));
        rows.read(first + i, vector.data());
        std::memcpy(vectors + i * dimensions * 4, vector.data(), dimensions * 4);
      }
    } else {
      std::vector<uint8_t> nodes;
      nodes.reserve(capacity - HEADER_BYTES);
      next = generation.graph.exportNodes(first, nodes, capacity - HEADER_BYTES);
      bytes = nodes.size();
      std::memcpy(payload, nodes.data(), bytes);
    }
    const uint32_t answer[2] = {static_cast<uint32_t>(finishBlock(out, kind, first, next - first, bytes)),
                                static_cast<uint32_t>(next)};
    self->outbox_->answer(request, AnswerStatus::Done, answer, nullptr, 2);
  });
  return true;
}

/** Blocks are taken in without a lock: so nothing else may be under way. */
bool VectorIndex::mayFill() {
  const Filling now = filling_.load(std::memory_order_acquire);
  if (closed_ || now == Filling::Busy || (now == Filling::No && !fresh_)) return false;
  fresh_ = false;
  filling_.store(Filling::Busy, std::memory_order_relaxed);
  return true;
}

bool VectorIndex::importBlock(uint32_t request, uint32_t kind, size_t first, const uint8_t* bytes, size_t length) {
  if (!mayFill()) return false;
  auto self = shared_from_this();
  Scheduler::get().task(self, [self, request, kind, first, bytes, length] {
    const std::string wrong = self->takeBlock(kind, first, bytes, length);
    // Before the answer: whoever has it may send the next one.
    self->filling_.store(Filling::Blocks, std::memory_order_release);
    if (!wrong.empty()) return self->outbox_->refuse(request, AnswerStatus::Damaged, wrong);
    BlockHeader header;
    std::memcpy(&header, bytes, HEADER_BYTES);
    const uint32_t next = static_cast<uint32_t>(first + header.count);
    self->outbox_->answer(request, AnswerStatus::Done, &next, nullptr, 1);
  });
  return true;
}

std::string VectorIndex::takeBlock(uint32_t kind, size_t first, const uint8_t* bytes, size_t length) {
  BlockHeader header;
  const std::string wrong = checkBlock(bytes, length, kind, first, header);
  if (!wrong.empty()) return wrong;
  const uint8_t* payload = bytes + HEADER_BYTES;
  Generation& generation = *generation_;
  const size_t reached = kind == BLOCK_OF_ROWS ? generation.rows.count() : generation.graph.capacity();
  if (first != reached) return "a block is not the one expected here";
  if (kind == BLOCK_OF_NODES) return generation.graph.importNodes(payload, header.payloadBytes, header.count);
  // `count` is checked before it is multiplied.
  if (header.count > header.payloadBytes || header.payloadBytes != rowBlockBytes(header.count, settings_.dimensions))
    return "a block of vectors has the wrong size";
  return importRows(generation, payload, header.count);
}

std::string VectorIndex::importRows(Generation& generation, const uint8_t* payload, size_t count) {
  const size_t dimensions = settings_.dimensions;
  const uint8_t* dead = payload + count * 4;
  const uint8_t* vectors = dead + deadBytes(count);
  // Zeros beyond the dimensions stay from the beginning.
  std::vector<float> padded(generation.rows.lanes());
  for (size_t i = 0; i < count; i++) {
    uint32_t document;
    std::memcpy(&document, payload + i * 4, 4);
    std::memcpy(padded.data(), vectors + i * dimensions * 4, dimensions * 4);
    // A right checksum says that the bytes came from whoever wrote them, not that they were vectors of an index.
    if (!isNormalised(padded.data(), dimensions)) return "a vector is neither of length 1 nor zero";
    const size_t row = generation.rows.count();
    if (row >= ROWS_MAX || !generation.rows.append(document, padded.data())) return "out of memory";
    if ((dead[i / 8] >> (i % 8) & 1) != 0) {
      generation.rows.kill(row);
      continue;
    }
    if (generation.table.find(document) != NO_ROW) return "a document has two vectors";
    if (!generation.table.set(document, static_cast<uint32_t>(row))) return "out of memory";
    generation.live.fetch_add(1, std::memory_order_relaxed);
  }
  return "";
}

bool VectorIndex::finishImport(uint32_t request, size_t rows, size_t linked) {
  if (!mayFill()) return false;
  auto self = shared_from_this();
  Scheduler::get().task(self, [self, request, rows, linked] {
    Generation& generation = *self->generation_;
    std::string wrong = generation.graph.finishImport(generation.rows);
    if (wrong.empty() && (generation.rows.count() != rows || generation.graph.size() != linked || linked > rows))
      wrong = "vectors and graph are not of the announced size";
    if (!wrong.empty()) {
      self->filling_.store(Filling::Blocks, std::memory_order_release);
      return self->outbox_->refuse(request, AnswerStatus::Damaged, wrong);
    }
    size_t tombstones = 0;
    for (size_t row = 0; row < linked; row++) tombstones += generation.rows.alive(row) ? 0 : 1;
    generation.tombstones.store(tombstones);
    generation.taken.store(linked);
    // What the graph does not hold is linked now.
    generation.graphWanted.store(linked > 0);
    self->wantGraph(generation);
    self->filling_.store(Filling::No, std::memory_order_release);
    self->outbox_->answer(request, AnswerStatus::Done);
    Scheduler::get().wantLinks(self);
  });
  return true;
}

}  // namespace shoal
