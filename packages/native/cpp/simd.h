// Dot products, with the kernel chosen once for the machine it runs on.
//
// A float32 is kept as two 16 bit halves. `high` is the value rounded to bfloat16 (half up in magnitude), `low` its
// lower 16 bits; the exact value is (high << 16) + sign_extended(low). Rows are padded with zeros to ROW_LANES.
#pragma once
#include <cstddef>
#include <cstdint>

#include "row-codes.h"

namespace shoal {

/** Rows are multiples of so many elements, so that no kernel needs a scalar rest. */
constexpr size_t ROW_LANES = 16;

constexpr size_t paddedLanes(size_t dimensions) { return (dimensions + ROW_LANES - 1) / ROW_LANES * ROW_LANES; }

struct SimdKernels {
  const char* name;
  /** Dot product of two bfloat16 rows, summed in float32. `lanes` is a multiple of ROW_LANES. */
  float (*dotHigh)(const uint16_t* first, const uint16_t* second, size_t lanes);
  /** `dotHigh` of one row with `count` others. */
  void (*dotHighMany)(const uint16_t* first, const uint16_t* const* others, size_t count, size_t lanes, float* out);
  /** Dot product of a float32 row with a stored one at full precision. */
  float (*dotExact)(const float* first, const uint16_t* high, const uint16_t* low, size_t lanes);
  DotCodesMany dotCodesMany;
};

/** The best kernels for this machine. */
const SimdKernels& simdKernels();

/** All kernels that this machine can run, for tests; the portable one comes last. */
size_t listSimdKernels(const SimdKernels** out, size_t capacity);

inline void splitFloat(float value, uint16_t& high, uint16_t& low) {
  uint32_t bits;
  __builtin_memcpy(&bits, &value, 4);
  high = static_cast<uint16_t>((bits + 0x8000u) >> 16);
  low = static_cast<uint16_t>(bits);
}

inline float joinFloat(uint16_t high, uint16_t low) {
  const uint32_t bits = (static_cast<uint32_t>(high) << 16) + static_cast<uint32_t>(static_cast<int16_t>(low));
  float value;
  __builtin_memcpy(&value, &bits, 4);
  return value;
}

inline float widenHigh(uint16_t high) {
  const uint32_t bits = static_cast<uint32_t>(high) << 16;
  float value;
  __builtin_memcpy(&value, &bits, 4);
  return value;
}

}  // namespace shoal
