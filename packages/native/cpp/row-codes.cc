#include "row-codes.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "intrinsics.h"

namespace shoal {
namespace {

constexpr float CODE_MAX = 127;
/** Sums side by side, so that the compiler may use wide registers. */
constexpr size_t LANES = 16;

/** Elements of fewer steps are small. */
constexpr float SMALL_CODE = 8;
/**
 * Of the squares of small elements, more is not left out of a row that is told well: rounding leaves a twelfth of a step's
 * square out of each, so this is what remains when they are of two steps in the root of the mean square.
 */
constexpr float COARSE_SHARE = 0.02f;

float sumOf(const float* parts) {
  float sum = 0;
  for (size_t lane = 0; lane < LANES; lane++) sum += parts[lane];
  return sum;
}

float stepOf(const int8_t* codes, size_t bytes) {
  float step;
  std::memcpy(&step, codes + bytes - CODE_STEP_BYTES, CODE_STEP_BYTES);
  return step;
}

float largestOf(const float* row, size_t dimensions) {
  float largest[LANES] = {};
  size_t i = 0;
  for (; i + LANES <= dimensions; i += LANES)
    for (size_t lane = 0; lane < LANES; lane++) {
      const float size = std::fabs(row[i + lane]);
      largest[lane] = size > largest[lane] ? size : largest[lane];
    }
  for (; i < dimensions; i++) largest[0] = std::max(largest[0], std::fabs(row[i]));
  return *std::max_element(largest, largest + LANES);
}

}  // namespace

bool codesAreZero(const int8_t* codes, size_t bytes) { return stepOf(codes, bytes) == 0; }

CodeLoss writeCodes(const float* row, size_t dimensions, int8_t* codes) {
  const size_t bytes = codeBytes(dimensions);
  const float largest = largestOf(row, dimensions);
  const float step = largest / CODE_MAX;
  // Of a step too small to be divided by, and of zeros, nothing is kept.
  const float steps = step > 1e-30f ? 1 / step : 0;
  const float smallMax = SMALL_CODE * step;
  float lost[LANES] = {}, lostOfSmall[LANES] = {}, small[LANES] = {};
  const auto write = [&](size_t i, size_t lane) {
    const float scaled = row[i] * steps;
    const int code = static_cast<int>(scaled + (scaled < 0 ? -0.5f : 0.5f));
    codes[i] = static_cast<int8_t>(code);
    const float rest = row[i] - static_cast<float>(code) * step;
    const float square = rest * rest;
    const bool isSmall = std::fabs(row[i]) < smallMax;
    lost[lane] += square;
    lostOfSmall[lane] += isSmall ? square : 0;
    small[lane] += isSmall ? row[i] * row[i] : 0;
  };
  size_t i = 0;
  for (; i + LANES <= dimensions; i += LANES)
    for (size_t lane = 0; lane < LANES; lane++) write(i + lane, lane);
  for (; i < dimensions; i++) write(i, 0);
  std::memset(codes + dimensions, 0, bytes - dimensions);
  std::memcpy(codes + bytes - CODE_STEP_BYTES, &step, CODE_STEP_BYTES);
  const float coarse = sumOf(lostOfSmall);
  return {std::sqrt(sumOf(lost)), coarse > COARSE_SHARE * sumOf(small) ? coarse : 0};
}

void dotCodesPortable(const int8_t* first, const int8_t* const* others, size_t count, size_t bytes, float* out) {
  const float step = stepOf(first, bytes);
  for (size_t row = 0; row < count; row++) {
    int32_t sum = 0;
    for (size_t i = 0; i < bytes - CODE_STEP_BYTES; i++) sum += int32_t{first[i]} * int32_t{others[row][i]};
    out[row] = step * stepOf(others[row], bytes) * static_cast<float>(sum);
  }
}

#if defined(__x86_64__)

#define SHOAL_AVX2 __attribute__((target("avx2")))
#define SHOAL_VNNI __attribute__((target("avx2,avx512f,avx512bw,avx512vl,avx512dq,avx512vnni")))

SHOAL_AVX2 void dotCodesAvx2(const int8_t* first, const int8_t* const* others, size_t count, size_t bytes, float* out) {
  const float step = stepOf(first, bytes);
  // In the last 16 codes of the first row, the step counts as zeros.
  const __m128i codesOnly = _mm_setr_epi32(-1, -1, -1, 0);
  const size_t last = bytes - 16;
  for (size_t row = 0; row < count; row++) {
    __m256i sum = _mm256_setzero_si256();
    for (size_t i = 0; i < bytes; i += 16) {
      __m128i codes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(first + i));
      if (i == last) codes = _mm_and_si128(codes, codesOnly);
      const __m256i a = _mm256_cvtepi8_epi16(codes);
      const __m256i b = _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(others[row] + i)));
      sum = _mm256_add_epi32(sum, _mm256_madd_epi16(a, b));
    }
    __m128i half = _mm_add_epi32(_mm256_castsi256_si128(sum), _mm256_extracti128_si256(sum, 1));
    half = _mm_add_epi32(half, _mm_shuffle_epi32(half, 0x4E));
    half = _mm_add_epi32(half, _mm_shuffle_epi32(half, 0xB1));
    out[row] = step * stepOf(others[row], bytes) * static_cast<float>(_mm_cvtsi128_si32(half));
  }
}

namespace {

/** Adds the numbers of four registers up. */
SHOAL_VNNI inline __m128i sumFour(const __m512i* sums) {
  const __m512i ab = _mm512_add_epi32(_mm512_unpacklo_epi32(sums[0], sums[1]), _mm512_unpackhi_epi32(sums[0], sums[1]));
  const __m512i cd = _mm512_add_epi32(_mm512_unpacklo_epi32(sums[2], sums[3]), _mm512_unpackhi_epi32(sums[2], sums[3]));
  const __m512i all = _mm512_add_epi32(_mm512_unpacklo_epi64(ab, cd), _mm512_unpackhi_epi64(ab, cd));
  const __m256i half = _mm256_add_epi32(_mm512_castsi512_si256(all), _mm512_extracti32x8_epi32(all, 1));
  return _mm_add_epi32(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
}

}  // namespace

/**
 * Four rows at once. The instruction multiplies unsigned with signed bytes, so 128 is added to the codes of the first row,
 * and 128 times the sum of the other row's is taken off again.
 */
SHOAL_VNNI void dotCodesVnni(const int8_t* first, const int8_t* const* others, size_t count, size_t bytes, float* out) {
  const __m512i offset = _mm512_set1_epi8(static_cast<char>(0x80));
  const float step = stepOf(first, bytes);
  for (size_t row = 0; row < count; row += 4) {
    // Fewer than four are made four; what is computed twice is not written.
    const size_t rows = std::min<size_t>(4, count - row);
    const int8_t* four[4];
    for (size_t r = 0; r < 4; r++) four[r] = others[row + std::min(r, rows - 1)];
    __m512i sums[4], offsets[4];
    for (size_t r = 0; r < 4; r++) sums[r] = offsets[r] = _mm512_setzero_si512();
    for (size_t i = 0; i < bytes; i += CODE_BLOCK_BYTES) {
      // The step of the first row counts as zeros.
      const __mmask64 mask = i + CODE_BLOCK_BYTES == bytes ? ~uint64_t{0} >> CODE_STEP_BYTES : ~uint64_t{0};
      const __m512i codes = _mm512_xor_si512(_mm512_maskz_loadu_epi8(mask, first + i), offset);
      for (size_t r = 0; r < 4; r++) {
        const __m512i other = _mm512_loadu_si512(four[r] + i);
        sums[r] = _mm512_dpbusd_epi32(sums[r], codes, other);
        offsets[r] = _mm512_dpbusd_epi32(offsets[r], offset, other);
      }
    }
    for (size_t r = 0; r < 4; r++) sums[r] = _mm512_sub_epi32(sums[r], offsets[r]);
    int32_t whole[4];
    _mm_storeu_si128(reinterpret_cast<__m128i*>(whole), sumFour(sums));
    for (size_t r = 0; r < rows; r++) out[row + r] = step * stepOf(four[r], bytes) * static_cast<float>(whole[r]);
  }
}

#elif defined(__aarch64__)

void dotCodesNeon(const int8_t* first, const int8_t* const* others, size_t count, size_t bytes, float* out) {
  const float step = stepOf(first, bytes);
  // In the last 16 codes of the first row, the step counts as zeros.
  const int8x16_t codesOnly = vreinterpretq_s8_s32(vsetq_lane_s32(0, vdupq_n_s32(-1), 3));
  const size_t last = bytes - 16;
  for (size_t row = 0; row < count; row++) {
    int32x4_t sum = vdupq_n_s32(0);
    for (size_t i = 0; i < bytes; i += 16) {
      int8x16_t a = vld1q_s8(first + i);
      if (i == last) a = vandq_s8(a, codesOnly);
      const int8x16_t b = vld1q_s8(others[row] + i);
      sum = vpadalq_s16(sum, vmull_s8(vget_low_s8(a), vget_low_s8(b)));
      sum = vpadalq_s16(sum, vmull_s8(vget_high_s8(a), vget_high_s8(b)));
    }
    out[row] = step * stepOf(others[row], bytes) * static_cast<float>(vaddvq_s32(sum));
  }
}

#endif

}  // namespace shoal
