#include "rows.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <new>

#include "large-blocks.h"
#include "xxh3.h"

namespace shoal {
namespace {

constexpr size_t SEGMENT_BYTES = 512 * 1024;
/** From so many segments on they are taken in large blocks. */
constexpr size_t SINGLE_SEGMENTS = 6;

/** Blocks are of so many large pages: the number that segments fill best. */
constexpr size_t LARGE_PAGES_MIN = 2;
constexpr size_t LARGE_PAGES_MAX = 4;

size_t largeBlockBytes(size_t segmentBytes) {
  if (segmentBytes >= LARGE_PAGES_MIN * LARGE_PAGE_BYTES) return segmentBytes;
  size_t best = 0, used = 0;
  for (size_t pages = LARGE_PAGES_MIN; pages <= LARGE_PAGES_MAX; pages++) {
    const size_t bytes = pages * LARGE_PAGE_BYTES;
    const size_t filled = bytes / segmentBytes * segmentBytes;
    // As a share of the block, in whole numbers.
    if (best != 0 && filled * best <= used * bytes) continue;
    best = bytes;
    used = filled;
  }
  return best;
}

size_t roundUp(size_t bytes) { return (bytes + CACHE_LINE_BYTES - 1) / CACHE_LINE_BYTES * CACHE_LINE_BYTES; }

}  // namespace

bool normalise(const float* vector, size_t dimensions, size_t lanes, float* out) {
  double parts[4] = {};
  size_t i = 0;
  for (; i + 4 <= dimensions; i += 4)
    for (size_t lane = 0; lane < 4; lane++) parts[lane] += double{vector[i + lane]} * double{vector[i + lane]};
  for (; i < dimensions; i++) parts[0] += double{vector[i]} * double{vector[i]};
  const double squares = parts[0] + parts[1] + parts[2] + parts[3];
  const double factor = squares > 0 ? 1 / std::sqrt(squares) : 0;
  for (i = 0; i < dimensions; i++) out[i] = static_cast<float>(vector[i] * factor);
  for (; i < lanes; i++) out[i] = 0;
  return squares > 0;
}

bool isNormalised(const float* vector, size_t dimensions) {
  constexpr double ROUNDED_MAX = 1e-3;
  // Sums side by side, so that none waits for the one before.
  double sums[8] = {};
  size_t i = 0;
  for (; i + 8 <= dimensions; i += 8)
    for (size_t lane = 0; lane < 8; lane++) sums[lane] += double{vector[i + lane]} * double{vector[i + lane]};
  for (; i < dimensions; i++) sums[0] += double{vector[i]} * double{vector[i]};
  double squares = 0;
  for (const double sum : sums) squares += sum;
  return squares == 0 || (squares > 1 - ROUNDED_MAX && squares < 1 + ROUNDED_MAX);
}

float residualOf(const float* normalised, size_t dimensions) {
  // Sums side by side, so that the compiler may use wide registers.
  float sums[ROW_LANES] = {};
  const auto add = [&](size_t i, size_t lane) {
    uint16_t high, low;
    splitFloat(normalised[i], high, low);
    const float rest = normalised[i] - widenHigh(high);
    sums[lane] += rest * rest;
  };
  size_t i = 0;
  for (; i + ROW_LANES <= dimensions; i += ROW_LANES)
    for (size_t lane = 0; lane < ROW_LANES; lane++) add(i + lane, lane);
  for (; i < dimensions; i++) add(i, 0);
  float squares = 0;
  for (const float sum : sums) squares += sum;
  return std::sqrt(squares);
}

size_t codeBytesOf(size_t dimensions) {
  const size_t bytes = codeBytes(dimensions);
  return bytes < paddedLanes(dimensions) * sizeof(uint16_t) ? bytes : 0;
}

Rows::Rows(size_t dimensions)
    : dimensions_(dimensions), lanes_(paddedLanes(dimensions)), codeBytes_(codeBytesOf(dimensions)), shift_(4) {
  while ((size_t{2} << shift_) * lanes_ * 4 <= SEGMENT_BYTES && shift_ < 14) shift_++;
  mask_ = (size_t{1} << shift_) - 1;
}

Rows::~Rows() {
  for (void* block : blocks_) std::free(block);
  for (const Halves& halves : halves_)
    if (halves.block != nullptr) giveBack(halves.block, halves.bytes);
}

/** Gives a segment memory for its halves. */
bool Rows::takeHalves(Segment& segment, size_t index) {
  const size_t planeBytes = roundUp((mask_ + 1) * lanes_ * sizeof(uint16_t));
  const size_t bytes = 2 * planeBytes;
  if (halvesLeft_ < bytes) {
    const size_t block = segments_ < SINGLE_SEGMENTS ? bytes : largeBlockBytes(bytes);
    uint8_t* taken = static_cast<uint8_t*>(takeMapping(block));
    if (taken == nullptr) return false;
    halves_.push_back({taken, block, {}});
    halvesLeft_ = block;
    memoryBytes_.fetch_add(block, std::memory_order_relaxed);
  }
  Halves& last = halves_.back();
  last.segments.push_back(index);
  uint8_t* at = last.block + last.bytes - halvesLeft_;
  halvesLeft_ -= bytes;
  segment.high = reinterpret_cast<uint16_t*>(at);
  segment.low = reinterpret_cast<uint16_t*>(at + planeBytes);
  return true;
}

/** `whole`: with memory for halves; otherwise its rows stand in the file. */
bool Rows::addSegment(bool whole) {
  const size_t rows = mask_ + 1;
  const size_t codesBytes = rows * codeBytes_;
  const size_t documentBytes = roundUp(rows * sizeof(uint32_t));
  const size_t bytes = codesBytes + documentBytes + roundUp(rows * sizeof(uint64_t));
  if (blockLeft_ < bytes) {
    const size_t block = segments_ < SINGLE_SEGMENTS ? bytes : largeBlockBytes(bytes);
    blockAt_ = static_cast<uint8_t*>(takeBlock(block));
    if (blockAt_ == nullptr) {
      blockLeft_ = 0;
      return false;
    }
    blocks_.push_back(blockAt_);
    blockLeft_ = block;
    memoryBytes_.fetch_add(block, std::memory_order_relaxed);
  }
  if (segments_ == tableCapacity_) {
    const size_t capacity = std::max<size_t>(8, tableCapacity_ * 2);
    std::unique_ptr<Segment[]> table(new (std::nothrow) Segment[capacity]);
    if (table == nullptr) return false;
    const Segment* old = table_.load(std::memory_order_relaxed);
    std::copy(old, old + segments_, table.get());
    tables_.push_back(std::move(table));
    tableCapacity_ = capacity;
  }
  uint8_t* at = blockAt_;
  Segment segment{};
  if (whole ? !takeHalves(segment, segments_) : !takePlaces(segment)) return false;
  segment.codes = reinterpret_cast<int8_t*>(at);
  segment.documents = reinterpret_cast<uint32_t*>(at + codesBytes);
  segment.deaths = reinterpret_cast<std::atomic<uint64_t>*>(at + codesBytes + documentBytes);
  Segment* table = tables_.back().get();
  table[segments_] = segment;
  table_.store(table, std::memory_order_release);
  segments_++;
  blockAt_ += bytes;
  blockLeft_ -= bytes;
  return true;
}

/** Gives a segment memory for where its rows stand in the file. */
bool Rows::takePlaces(Segment& segment) {
  const size_t rows = mask_ + 1;
  std::unique_ptr<uint32_t[]> places(new (std::nothrow) uint32_t[rows]);
  segment.hashes = static_cast<uint64_t*>(std::malloc(rows * sizeof(uint64_t)));
  if (places == nullptr || segment.hashes == nullptr) {
    std::free(segment.hashes);
    return false;
  }
  blocks_.push_back(segment.hashes);
  segment.places = places.get();
  places_.push_back(std::move(places));
  memoryBytes_.fetch_add(rows * (sizeof(uint64_t) + sizeof(uint32_t)), std::memory_order_relaxed);
  return true;
}

bool Rows::ensure(size_t row, bool whole) {
  while (row >> shift_ >= segments_)
    if (!addSegment(whole)) return false;
  return true;
}

/** The rows of the last segment, from the file. */
Copied Rows::bringBack(size_t index, uint32_t& unread) {
  Segment brought = tables_.back().get()[index];
  if (!takeHalves(brought, index)) return Copied::NoMemory;
  for (size_t row = index << shift_; row < count(); row++) {
    if (readHalves(row, brought.high + (row & mask_) * lanes_, brought.low + (row & mask_) * lanes_)) continue;
    unread = static_cast<uint32_t>(row);
    return Copied::UnreadCopy;
  }
  tables_.back().get()[index] = brought;
  beyond_.fetch_sub(count() - (index << shift_), std::memory_order_relaxed);
  return Copied::Yes;
}

Copied Rows::finishCopies(uint32_t& unread) {
  const size_t last = count();
  if (last >> shift_ >= segments_ || resident(last)) return Copied::Yes;
  return bringBack(last >> shift_, unread);
}

bool Rows::append(uint32_t document, const float* normalised) {
  const size_t row = count_.load(std::memory_order_relaxed);
  if (!ensure(row, true)) return false;
  const Segment& target = segment(row);
  uint16_t* high = target.high + (row & mask_) * lanes_;
  uint16_t* low = target.low + (row & mask_) * lanes_;
  for (size_t i = 0; i < lanes_; i++) splitFloat(normalised[i], high[i], low[i]);
  target.documents[row & mask_] = document;
  target.deaths[row & mask_].store(ALIVE, std::memory_order_relaxed);
  const float residual = residualOf(normalised, dimensions_);
  if (residual > residualMax()) residualMax_.store(residual, std::memory_order_relaxed);
  if (coded()) code(row, normalised);
  count_.store(row + 1, std::memory_order_release);
  return true;
}

void Rows::code(size_t row, const float* normalised) {
  const CodeLoss lost = writeCodes(normalised, dimensions_, segment(row).codes + (row & mask_) * codeBytes_);
  if (lost.length > codeResidualMax()) codeResidualMax_.store(lost.length, std::memory_order_relaxed);
  if (lost.coarse == 0) return;
  const float mean = coarseMean();
  coarseMean_.store(mean + (lost.coarse - mean) / static_cast<float>(++coarseRows_), std::memory_order_relaxed);
}

Copied Rows::appendCopy(const Rows& from, size_t source, uint32_t& unread) {
  copied_.resize(lanes_);
  if (!from.read(source, copied_.data())) {
    unread = static_cast<uint32_t>(source);
    return Copied::Unread;
  }
  const size_t row = count_.load(std::memory_order_relaxed);
  const bool whole = from.resident(source);
  if (!ensure(row, whole)) return Copied::NoMemory;
  if (whole && !resident(row)) {
    const Copied brought = bringBack(row >> shift_, unread);
    if (brought != Copied::Yes) return brought;
  }
  if (resident(row)) return append(from.document(source), copied_.data()) ? Copied::Yes : Copied::NoMemory;
  const Segment& target = segment(row);
  target.places[row & mask_] = static_cast<uint32_t>(from.placeOf(source));
  target.hashes[row & mask_] = from.segment(source).hashes[source & mask_];
  target.documents[row & mask_] = from.document(source);
  target.deaths[row & mask_].store(ALIVE, std::memory_order_relaxed);
  code(row, copied_.data());
  // Should it come back into memory.
  if (from.residualMax() > residualMax()) residualMax_.store(from.residualMax(), std::memory_order_relaxed);
  file_ = from.file_;
  beyond_.fetch_add(1, std::memory_order_relaxed);
  movedEnd_ = row + 1;
  count_.store(row + 1, std::memory_order_release);
  return Copied::Yes;
}

void Rows::kill(size_t row) {
  const uint64_t stamp = deaths_.load(std::memory_order_relaxed) + 1;
  death(row).store(stamp, std::memory_order_relaxed);
  deaths_.store(stamp, std::memory_order_release);
}

bool Rows::equals(size_t row, const float* normalised) const {
  const Segment& there = segment(row);
  if (there.high == nullptr)
    return there.hashes[row & mask_] == xxh3Pair(nullptr, 0, normalised, dimensions_ * sizeof(float));
  const uint16_t* highs = high(row);
  const uint16_t* lows = low(row);
  for (size_t i = 0; i < dimensions_; i++) {
    uint16_t wantedHigh, wantedLow;
    splitFloat(normalised[i], wantedHigh, wantedLow);
    if (wantedHigh != highs[i] || wantedLow != lows[i]) return false;
  }
  return true;
}

bool Rows::isZero(size_t row) const {
  if (!resident(row)) return codesAreZero(codes(row), codeBytes_);
  const uint16_t* values = high(row);
  for (size_t i = 0; i < dimensions_; i++)
    if ((values[i] & 0x7FFF) != 0) return false;
  return true;
}

bool Rows::read(size_t row, float* out) const {
  if (!resident(row)) return file_->read(placeOf(row), out);
  const uint16_t* highs = high(row);
  const uint16_t* lows = low(row);
  for (size_t i = 0; i < dimensions_; i++) out[i] = joinFloat(highs[i], lows[i]);
  return true;
}

bool Rows::readHalves(size_t row, uint16_t* high, uint16_t* low) const {
  static thread_local std::vector<float> values;
  values.assign(lanes_, 0);
  if (!read(row, values.data())) return false;
  for (size_t i = 0; i < lanes_; i++) splitFloat(values[i], high[i], low[i]);
  return true;
}

bool Rows::drop(size_t keep, size_t end, std::shared_ptr<const RowReader> file, size_t blocksMax) {
  if (!coded() || file == nullptr || end < movedEnd_) return false;
  // Those that were dropped before are in this one, too, each at its own place.
  file_ = std::move(file);
  if (movedEnd_ > 0) {
    Segment* table = tables_.back().get();
    for (size_t i = 0; i < segments_; i++) table[i].places = nullptr;
    memoryBytes_.fetch_sub(places_.size() * (mask_ + 1) * sizeof(uint32_t), std::memory_order_relaxed);
    places_.clear();
    movedEnd_ = 0;
  }
  for (Halves& halves : halves_) {
    // The last block may get further segments.
    if (halves.block == nullptr || (&halves == &halves_.back() && halvesLeft_ > 0)) continue;
    const size_t first = halves.segments.front() << shift_, last = (halves.segments.back() + 1) << shift_;
    if (first < keep || last > end) continue;
    if (blocksMax-- == 0) return true;
    if (!forget(halves)) return false;
  }
  return false;
}

bool Rows::forget(Halves& halves) {
  const size_t segmentRows = mask_ + 1;
  const size_t rows = halves.segments.size() * segmentRows;
  auto* hashes = static_cast<uint64_t*>(std::malloc(rows * sizeof(uint64_t)));
  if (hashes == nullptr) return false;
  blocks_.push_back(hashes);
  std::vector<float> values(dimensions_);
  Segment* table = tables_.back().get();
  for (const size_t index : halves.segments) {
    for (size_t i = 0; i < segmentRows; i++) {
      read((index << shift_) + i, values.data());
      hashes[i] = xxh3Pair(nullptr, 0, values.data(), dimensions_ * sizeof(float));
    }
    table[index].high = table[index].low = nullptr;
    table[index].hashes = hashes;
    hashes += segmentRows;
  }
  giveBack(halves.block, halves.bytes);
  memoryBytes_.fetch_add(rows * sizeof(uint64_t) - halves.bytes, std::memory_order_relaxed);
  halves.block = nullptr;
  beyond_.fetch_add(rows, std::memory_order_relaxed);
  return true;
}

}  // namespace shoal
