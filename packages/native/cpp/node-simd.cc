// The kernels by name, so that tests can compare all that this machine can run.
#include "node-simd.h"

#include <algorithm>
#include <vector>

#include "node-value.h"
#include "simd.h"

namespace shoal {
namespace {

constexpr size_t KERNELS_MAX = 8;

napi_value kernelNames(napi_env env, napi_callback_info) {
  const SimdKernels* kernels[KERNELS_MAX];
  const size_t count = listSimdKernels(kernels, KERNELS_MAX);
  napi_value names;
  napi_create_array_with_length(env, count, &names);
  for (size_t i = 0; i < count; i++) {
    napi_value name;
    napi_create_string_utf8(env, kernels[i]->name, NAPI_AUTO_LENGTH, &name);
    napi_set_element(env, names, static_cast<uint32_t>(i), name);
  }
  return names;
}

/**
 * dots(kernel, first, second, out): fills the dot product of the high halves, of the same by `many`, the exact one, that of
 * the codes, and the lengths of what the codes leave out of either vector. Throws when a kernel that takes several rows at
 * once takes one for another.
 */
napi_value dots(napi_env env, napi_callback_info info) {
  size_t count = 4;
  napi_value values[4];
  napi_get_cb_info(env, info, &count, values, nullptr, nullptr);
  uint32_t kernel = 0;
  float *first, *second;
  double* out;
  size_t firstCount = 0, secondCount = 0, outCount = 0;
  const SimdKernels* kernels[KERNELS_MAX];
  const size_t known = listSimdKernels(kernels, KERNELS_MAX);
  if (count != 4 || !readUnsigned32(env, values[0], kernel) || kernel >= known ||
      !readElements(env, values[1], napi_float32_array, first, firstCount) ||
      !readElements(env, values[2], napi_float32_array, second, secondCount) || firstCount == 0 || firstCount != secondCount ||
      !readElements(env, values[3], napi_float64_array, out, outCount) || outCount < 6)
    return fail(env, "dots(kernel, first, second, out) needs two vectors of one length and room for six numbers");
  const size_t lanes = paddedLanes(firstCount);
  std::vector<float> padded(lanes);
  std::vector<uint16_t> highs(2 * lanes), lows(2 * lanes);
  for (size_t i = 0; i < firstCount; i++) {
    padded[i] = first[i];
    splitFloat(first[i], highs[i], lows[i]);
    splitFloat(second[i], highs[lanes + i], lows[lanes + i]);
  }
  const uint16_t* other = highs.data() + lanes;
  float many;
  kernels[kernel]->dotHighMany(highs.data(), &other, 1, lanes, &many);
  out[0] = kernels[kernel]->dotHigh(highs.data(), other, lanes);
  out[1] = many;
  out[2] = kernels[kernel]->dotExact(padded.data(), other, lows.data() + lanes, lanes);
  const size_t bytes = codeBytes(firstCount);
  std::vector<int8_t> codes(6 * bytes);
  out[4] = writeCodes(first, firstCount, codes.data()).length;
  // The second vector, and as it is with its elements moved on by one, two, three and four.
  constexpr size_t OTHERS = 5;
  const int8_t* others[OTHERS];
  float products[OTHERS], expected[OTHERS];
  for (size_t i = 0; i < OTHERS; i++) {
    int8_t* other = codes.data() + (i + 1) * bytes;
    out[5] = writeCodes(second, firstCount, other).length;
    std::rotate(other, other + i % firstCount, other + firstCount);
    others[i] = other;
  }
  kernels[kernel]->dotCodesMany(codes.data(), others, OTHERS, bytes, products);
  dotCodesPortable(codes.data(), others, OTHERS, bytes, expected);
  if (!std::equal(products, products + OTHERS, expected))
    return fail(env, "a kernel multiplies codes to other numbers than the portable one");
  out[3] = products[0];
  return nullptr;
}

}  // namespace

bool exportSimd(napi_env env, napi_value exports) {
  return setFunction(env, exports, "simdKernelNames", kernelNames) && setFunction(env, exports, "simdDots", dots);
}

}  // namespace shoal
