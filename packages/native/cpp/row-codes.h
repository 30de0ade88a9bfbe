// Rows in 8 bits an element: half the bytes of the high halves, for the walks that compare a row with hundreds of others.
//
// A row of codes is a multiple of CODE_BLOCK_BYTES: one int8 for each dimension, zeros, and as its last four bytes the
// float32 `step`. An element is about code × step, where the largest one of the row is 127 steps.
#pragma once
#include <cstddef>
#include <cstdint>

namespace shoal {

constexpr size_t CODE_BLOCK_BYTES = 64;
constexpr size_t CODE_STEP_BYTES = 4;

constexpr size_t codeBytes(size_t dimensions) {
  return (dimensions + CODE_STEP_BYTES + CODE_BLOCK_BYTES - 1) / CODE_BLOCK_BYTES * CODE_BLOCK_BYTES;
}

/** What the codes of a row leave out. */
struct CodeLoss {
  /** Its Euclidean length. */
  float length;
  /**
   * The square of what is left out of elements that are not large, where that is much of them: a large element makes steps too
   * wide for the others. Else 0.
   */
  float coarse;
};

/** Writes the codes of a row. */
CodeLoss writeCodes(const float* row, size_t dimensions, int8_t* codes);

/** Whether they are of a row of zeros. */
bool codesAreZero(const int8_t* codes, size_t bytes);

/** The dot products of one row with `count` others, by codes of `bytes` each. Machines differ in nothing: sums are whole. */
using DotCodesMany = void (*)(const int8_t* first, const int8_t* const* others, size_t count, size_t bytes, float* out);

void dotCodesPortable(const int8_t* first, const int8_t* const* others, size_t count, size_t bytes, float* out);
#if defined(__x86_64__)
void dotCodesAvx2(const int8_t* first, const int8_t* const* others, size_t count, size_t bytes, float* out);
void dotCodesVnni(const int8_t* first, const int8_t* const* others, size_t count, size_t bytes, float* out);
#elif defined(__aarch64__)
void dotCodesNeon(const int8_t* first, const int8_t* const* others, size_t count, size_t bytes, float* out);
#endif

}  // namespace shoal
