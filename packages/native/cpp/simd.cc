#include "simd.h"

#include "intrinsics.h"

namespace shoal {
namespace {

/** Builds the kernel of many rows from that of one row; forced inline so that it is compiled for the same instructions. */
#define SHOAL_MANY(kernelName, targetAttribute)                                                             \
  targetAttribute void kernelName##Many(const uint16_t* first, const uint16_t* const* others, size_t count, \
                                        size_t lanes, float* out) {                                         \
    for (size_t i = 0; i < count; i++) out[i] = kernelName(first, others[i], lanes);                        \
  }

#define SHOAL_PORTABLE inline
SHOAL_PORTABLE float dotHighPortable(const uint16_t* first, const uint16_t* second, size_t lanes) {
  float sums[ROW_LANES] = {};
  for (size_t i = 0; i < lanes; i += ROW_LANES)
    for (size_t lane = 0; lane < ROW_LANES; lane++)
      sums[lane] += widenHigh(first[i + lane]) * widenHigh(second[i + lane]);
  float sum = 0;
  for (float part : sums) sum += part;
  return sum;
}
SHOAL_MANY(dotHighPortable, )

float dotExactPortable(const float* first, const uint16_t* high, const uint16_t* low, size_t lanes) {
  float sums[ROW_LANES] = {};
  for (size_t i = 0; i < lanes; i += ROW_LANES)
    for (size_t lane = 0; lane < ROW_LANES; lane++)
      sums[lane] += first[i + lane] * joinFloat(high[i + lane], low[i + lane]);
  float sum = 0;
  for (float part : sums) sum += part;
  return sum;
}

constexpr SimdKernels PORTABLE = {"portable", dotHighPortable, dotHighPortableMany, dotExactPortable, dotCodesPortable};

#if defined(__x86_64__)

#define SHOAL_AVX2 __attribute__((target("avx2,fma")))
#define SHOAL_AVX512 __attribute__((target("avx2,fma,avx512f,avx512bw,avx512vl,avx512dq")))
#define SHOAL_BF16 __attribute__((target("avx2,fma,avx512f,avx512bw,avx512vl,avx512dq,avx512bf16")))

SHOAL_AVX2 inline float sum256(__m256 values) {
  __m128 half = _mm_add_ps(_mm256_castps256_ps128(values), _mm256_extractf128_ps(values, 1));
  half = _mm_add_ps(half, _mm_movehl_ps(half, half));
  return _mm_cvtss_f32(_mm_add_ss(half, _mm_movehdup_ps(half)));
}

// The even elements of a block of bfloat16 are the upper halves of its 32 bit words, the odd ones... are read by a mask:
// on a little-endian machine element 0 is the lower half, so shift it up, and keep element 1 where it stands.
SHOAL_AVX2 inline float dotHighAvx2(const uint16_t* first, const uint16_t* second, size_t lanes) {
  const __m256i upper = _mm256_set1_epi32(static_cast<int>(0xFFFF0000u));
  __m256 even = _mm256_setzero_ps(), odd = _mm256_setzero_ps();
  for (size_t i = 0; i < lanes; i += 16) {
    const __m256i a = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(first + i));
    const __m256i b = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(second + i));
    even = _mm256_fmadd_ps(_mm256_castsi256_ps(_mm256_slli_epi32(a, 16)), _mm256_castsi256_ps(_mm256_slli_epi32(b, 16)),
                           even);
    odd = _mm256_fmadd_ps(_mm256_castsi256_ps(_mm256_and_si256(a, upper)),
                          _mm256_castsi256_ps(_mm256_and_si256(b, upper)), odd);
  }
  return sum256(_mm256_add_ps(even, odd));
}
SHOAL_MANY(dotHighAvx2, SHOAL_AVX2)

SHOAL_AVX2 float dotExactAvx2(const float* first, const uint16_t* high, const uint16_t* low, size_t lanes) {
  __m256 sumA = _mm256_setzero_ps(), sumB = _mm256_setzero_ps();
  for (size_t i = 0; i < lanes; i += 16) {
    const __m256i highA = _mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(high + i)));
    const __m256i lowA = _mm256_cvtepi16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(low + i)));
    const __m256i highB = _mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(high + i + 8)));
    const __m256i lowB = _mm256_cvtepi16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(low + i + 8)));
    const __m256 a = _mm256_castsi256_ps(_mm256_add_epi32(_mm256_slli_epi32(highA, 16), lowA));
    const __m256 b = _mm256_castsi256_ps(_mm256_add_epi32(_mm256_slli_epi32(highB, 16), lowB));
    sumA = _mm256_fmadd_ps(_mm256_loadu_ps(first + i), a, sumA);
    sumB = _mm256_fmadd_ps(_mm256_loadu_ps(first + i + 8), b, sumB);
  }
  return sum256(_mm256_add_ps(sumA, sumB));
}

SHOAL_AVX512 inline float sum512(__m512 values) {
  const __m512 pairs = _mm512_add_ps(values, _mm512_permute_ps(values, 0x4E));
  const __m512 quads = _mm512_add_ps(pairs, _mm512_permute_ps(pairs, 0xB1));
  const __m256 half = _mm256_add_ps(_mm512_castps512_ps256(quads), _mm512_extractf32x8_ps(quads, 1));
  return _mm_cvtss_f32(_mm_add_ss(_mm256_castps256_ps128(half), _mm256_extractf128_ps(half, 1)));
}

SHOAL_AVX512 inline float dotHighAvx512(const uint16_t* first, const uint16_t* second, size_t lanes) {
  const __m512i upper = _mm512_set1_epi32(static_cast<int>(0xFFFF0000u));
  __m512 even = _mm512_setzero_ps(), odd = _mm512_setzero_ps();
  for (size_t i = 0; i < lanes; i += 32) {
    const __mmask32 mask = lanes - i >= 32 ? 0xFFFFFFFFu : 0xFFFFu;
    const __m512i a = _mm512_maskz_loadu_epi16(mask, first + i);
    const __m512i b = _mm512_maskz_loadu_epi16(mask, second + i);
    even = _mm512_fmadd_ps(_mm512_castsi512_ps(_mm512_slli_epi32(a, 16)), _mm512_castsi512_ps(_mm512_slli_epi32(b, 16)),
                           even);
    odd = _mm512_fmadd_ps(_mm512_castsi512_ps(_mm512_and_si512(a, upper)),
                          _mm512_castsi512_ps(_mm512_and_si512(b, upper)), odd);
  }
  return sum512(_mm512_add_ps(even, odd));
}
SHOAL_MANY(dotHighAvx512, SHOAL_AVX512)

SHOAL_BF16 inline __m512bh load32(const uint16_t* values) { return (__m512bh)_mm512_loadu_si512(values); }
SHOAL_BF16 inline __m512bh load16(const uint16_t* values) {
  return (__m512bh)_mm512_zextsi256_si512(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(values)));
}

SHOAL_BF16 inline float dotHighBf16(const uint16_t* first, const uint16_t* second, size_t lanes) {
  __m512 sumA = _mm512_setzero_ps(), sumB = _mm512_setzero_ps();
  size_t i = 0;
  for (; i + 64 <= lanes; i += 64) {
    sumA = _mm512_dpbf16_ps(sumA, load32(first + i), load32(second + i));
    sumB = _mm512_dpbf16_ps(sumB, load32(first + i + 32), load32(second + i + 32));
  }
  if (i + 32 <= lanes) {
    sumA = _mm512_dpbf16_ps(sumA, load32(first + i), load32(second + i));
    i += 32;
  }
  if (i < lanes) sumB = _mm512_dpbf16_ps(sumB, load16(first + i), load16(second + i));
  return sum512(_mm512_add_ps(sumA, sumB));
}

/** Adds the numbers of four registers up, in the order in which `sum512` adds those of one. */
SHOAL_AVX512 inline __m128 sumFour512(__m512 a, __m512 b, __m512 c, __m512 d) {
  const __m512 ab = _mm512_add_ps(_mm512_unpacklo_ps(a, b), _mm512_unpackhi_ps(a, b));
  const __m512 cd = _mm512_add_ps(_mm512_unpacklo_ps(c, d), _mm512_unpackhi_ps(c, d));
  const __m512 all = _mm512_add_ps(_mm512_castpd_ps(_mm512_unpacklo_pd(_mm512_castps_pd(ab), _mm512_castps_pd(cd))),
                                   _mm512_castpd_ps(_mm512_unpackhi_pd(_mm512_castps_pd(ab), _mm512_castps_pd(cd))));
  const __m256 half = _mm256_add_ps(_mm512_castps512_ps256(all), _mm512_extractf32x8_ps(all, 1));
  return _mm_add_ps(_mm256_castps256_ps128(half), _mm256_extractf128_ps(half, 1));
}

/** Four rows at once: one set of loads of the first row, and one addition of the four results' parts. */
SHOAL_BF16 void dotHighBf16Many(const uint16_t* first, const uint16_t* const* others, size_t count, size_t lanes,
                                float* out) {
  size_t row = 0;
  for (; row + 4 <= count; row += 4) {
    const uint16_t* const* four = others + row;
    __m512 a[4], b[4];
    for (size_t r = 0; r < 4; r++) a[r] = b[r] = _mm512_setzero_ps();
    size_t i = 0;
    for (; i + 64 <= lanes; i += 64) {
      const __m512bh left = load32(first + i), right = load32(first + i + 32);
      for (size_t r = 0; r < 4; r++) {
        a[r] = _mm512_dpbf16_ps(a[r], left, load32(four[r] + i));
        b[r] = _mm512_dpbf16_ps(b[r], right, load32(four[r] + i + 32));
      }
    }
    if (i + 32 <= lanes) {
      const __m512bh left = load32(first + i);
      for (size_t r = 0; r < 4; r++) a[r] = _mm512_dpbf16_ps(a[r], left, load32(four[r] + i));
      i += 32;
    }
    if (i < lanes) {
      const __m512bh left = load16(first + i);
      for (size_t r = 0; r < 4; r++) b[r] = _mm512_dpbf16_ps(b[r], left, load16(four[r] + i));
    }
    for (size_t r = 0; r < 4; r++) a[r] = _mm512_add_ps(a[r], b[r]);
    _mm_storeu_ps(out + row, sumFour512(a[0], a[1], a[2], a[3]));
  }
  for (; row < count; row++) out[row] = dotHighBf16(first, others[row], lanes);
}

SHOAL_AVX512 float dotExactAvx512(const float* first, const uint16_t* high, const uint16_t* low, size_t lanes) {
  __m512 sumA = _mm512_setzero_ps(), sumB = _mm512_setzero_ps();
  size_t i = 0;
  for (; i + 32 <= lanes; i += 32) {
    const __m512i highA = _mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(high + i)));
    const __m512i lowA = _mm512_cvtepi16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(low + i)));
    const __m512i highB = _mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(high + i + 16)));
    const __m512i lowB = _mm512_cvtepi16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(low + i + 16)));
    const __m512i a = _mm512_add_epi32(_mm512_slli_epi32(highA, 16), lowA);
    const __m512i b = _mm512_add_epi32(_mm512_slli_epi32(highB, 16), lowB);
    sumA = _mm512_fmadd_ps(_mm512_loadu_ps(first + i), _mm512_castsi512_ps(a), sumA);
    sumB = _mm512_fmadd_ps(_mm512_loadu_ps(first + i + 16), _mm512_castsi512_ps(b), sumB);
  }
  if (i < lanes) {
    const __m512i highA = _mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(high + i)));
    const __m512i lowA = _mm512_cvtepi16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(low + i)));
    const __m512i a = _mm512_add_epi32(_mm512_slli_epi32(highA, 16), lowA);
    sumA = _mm512_fmadd_ps(_mm512_loadu_ps(first + i), _mm512_castsi512_ps(a), sumA);
  }
  return sum512(_mm512_add_ps(sumA, sumB));
}

constexpr SimdKernels AVX2 = {"avx2", dotHighAvx2, dotHighAvx2Many, dotExactAvx2, dotCodesAvx2};
constexpr SimdKernels AVX512 = {"avx512", dotHighAvx512, dotHighAvx512Many, dotExactAvx512, dotCodesAvx2};
constexpr SimdKernels AVX512_BF16 = {"avx512-bf16", dotHighBf16, dotHighBf16Many, dotExactAvx512, dotCodesVnni};

size_t available(const SimdKernels** out) {
  size_t count = 0;
  // GCC and clang include the operating system's support for the wide registers in these answers.
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512dq")) {
    // All machines with the one have the other.
    if (__builtin_cpu_supports("avx512bf16") && __builtin_cpu_supports("avx512vnni")) out[count++] = &AVX512_BF16;
    out[count++] = &AVX512;
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) out[count++] = &AVX2;
  return count;
}

#elif defined(__aarch64__)

// Every arm64 machine has NEON. Its bfloat16 instructions differ in rounding between cores, so they are not used.
inline float dotHighNeon(const uint16_t* first, const uint16_t* second, size_t lanes) {
  float32x4_t sums[4] = {vdupq_n_f32(0), vdupq_n_f32(0), vdupq_n_f32(0), vdupq_n_f32(0)};
  for (size_t i = 0; i < lanes; i += 16) {
    for (size_t half = 0; half < 2; half++) {
      const uint16x8_t a = vld1q_u16(first + i + 8 * half);
      const uint16x8_t b = vld1q_u16(second + i + 8 * half);
      sums[2 * half] = vfmaq_f32(sums[2 * half], vreinterpretq_f32_u32(vshll_n_u16(vget_low_u16(a), 16)),
                                 vreinterpretq_f32_u32(vshll_n_u16(vget_low_u16(b), 16)));
      sums[2 * half + 1] = vfmaq_f32(sums[2 * half + 1], vreinterpretq_f32_u32(vshll_n_u16(vget_high_u16(a), 16)),
                                     vreinterpretq_f32_u32(vshll_n_u16(vget_high_u16(b), 16)));
    }
  }
  return vaddvq_f32(vaddq_f32(vaddq_f32(sums[0], sums[1]), vaddq_f32(sums[2], sums[3])));
}
SHOAL_MANY(dotHighNeon, )

inline float32x4_t joinNeon(uint16x4_t high, uint16x4_t low) {
  const int32x4_t upper = vreinterpretq_s32_u32(vshll_n_u16(high, 16));
  return vreinterpretq_f32_s32(vaddw_s16(upper, vreinterpret_s16_u16(low)));
}

float dotExactNeon(const float* first, const uint16_t* high, const uint16_t* low, size_t lanes) {
  float32x4_t sums[4] = {vdupq_n_f32(0), vdupq_n_f32(0), vdupq_n_f32(0), vdupq_n_f32(0)};
  for (size_t i = 0; i < lanes; i += 16)
    for (size_t part = 0; part < 4; part++)
      sums[part] = vfmaq_f32(sums[part], vld1q_f32(first + i + 4 * part),
                             joinNeon(vld1_u16(high + i + 4 * part), vld1_u16(low + i + 4 * part)));
  return vaddvq_f32(vaddq_f32(vaddq_f32(sums[0], sums[1]), vaddq_f32(sums[2], sums[3])));
}

constexpr SimdKernels NEON = {"neon", dotHighNeon, dotHighNeonMany, dotExactNeon, dotCodesNeon};

size_t available(const SimdKernels** out) {
  out[0] = &NEON;
  return 1;
}

#else

size_t available(const SimdKernels**) { return 0; }

#endif

}  // namespace

size_t listSimdKernels(const SimdKernels** out, size_t capacity) {
  const SimdKernels* found[8];
  size_t count = available(found);
  found[count++] = &PORTABLE;
  if (count > capacity) count = capacity;
  for (size_t i = 0; i < count; i++) out[i] = found[i];
  return count;
}

const SimdKernels& simdKernels() {
  static const SimdKernels* best = [] {
    const SimdKernels* found[8];
    listSimdKernels(found, 8);
    return found[0];
  }();
  return *best;
}

}  // namespace shoal
