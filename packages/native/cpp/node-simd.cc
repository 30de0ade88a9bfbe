// The kernels by name, so that tests can compare all that this machine can run.
#include <algorithm>
#include <vector>

#include "addon-exports.h"
#include "node-arguments.h"
#include "simd.h"

namespace shoal {
namespace {

constexpr size_t KERNELS_MAX = 8;

napi_value kernelNames(napi_env env, napi_callback_info) {
  const SimdKernels* kernels[KERNELS_MAX];
  const size_t count = listSimdKernels(kernels, KERNELS_MAX);
  napi_value names = nullptr;
  if (!done(env, napi_create_array_with_length(env, count, &names))) return nullptr;
  for (size_t i = 0; i < count; i++) {
    const napi_value name = makeText(env, kernels[i]->name);
    if (name == nullptr || !done(env, napi_set_element(env, names, static_cast<uint32_t>(i), name))) return nullptr;
  }
  return names;
}

/**
 * dots(kernel, first, second, out): fills the dot product of the high halves, of the same by `many`, the exact one, that of
 * the codes, and the lengths of what the codes leave out of either vector. Throws when a kernel that takes several rows at
 * once takes one for another.
 */
napi_value dots(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  size_t firstCount = 0, secondCount = 0, outCount = 0;
  const uint32_t kernel = arguments.unsigned32();
  const float* first = arguments.elements<float>(napi_float32_array, firstCount);
  const float* second = arguments.elements<float>(napi_float32_array, secondCount);
  double* out = arguments.elements<double>(napi_float64_array, outCount);
  const SimdKernels* kernels[KERNELS_MAX];
  const size_t known = listSimdKernels(kernels, KERNELS_MAX);
  if (!arguments.ok || kernel >= known || firstCount == 0 || firstCount != secondCount || outCount < 6)
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
