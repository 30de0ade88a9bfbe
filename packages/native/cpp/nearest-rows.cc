// The rows of a float32 matrix nearest to some queries, by Euclidean distance: exact, all rows compared, on a thread of the
// pool. For matrices that belong to JavaScript and are searched now and then, as a vocabulary is.
#include "nearest-rows.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <new>
#include <vector>

#include "node-value.h"

// musl's loader cannot choose among versions of a function.
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__)
#define SHOAL_FOR_EACH_MACHINE __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define SHOAL_FOR_EACH_MACHINE
#endif

namespace shoal {
namespace {

constexpr size_t LANES = 16;

/** Sums in 16 lanes, so that the compiler may use as wide registers as there are; the order is the same on all machines. */
SHOAL_FOR_EACH_MACHINE
float squaredDistance(const float* first, const float* second, size_t dimensions) {
  float sums[LANES] = {};
  size_t at = 0;
  for (; at + LANES <= dimensions; at += LANES) {
    for (size_t lane = 0; lane < LANES; lane++) {
      const float difference = first[at + lane] - second[at + lane];
      sums[lane] += difference * difference;
    }
  }
  for (size_t lane = 0; at < dimensions; at++, lane++) {
    const float difference = first[at] - second[at];
    sums[lane] += difference * difference;
  }
  float sum = 0;
  for (const float one : sums) sum += one;
  return sum;
}

struct Near {
  float squared;
  uint32_t row;
};

bool isNearer(const Near& a, const Near& b) {
  return a.squared < b.squared || (a.squared == b.squared && a.row < b.row);
}

/** The nearest so far, as a heap with the farthest of them in front. */
class Nearest {
 public:
  explicit Nearest(size_t most) : most_(most) { heap_.reserve(most); }

  void offer(const Near& one) {
    if (heap_.size() < most_) {
      heap_.push_back(one);
      std::push_heap(heap_.begin(), heap_.end(), isNearer);
    } else if (isNearer(one, heap_.front())) {
      std::pop_heap(heap_.begin(), heap_.end(), isNearer);
      heap_.back() = one;
      std::push_heap(heap_.begin(), heap_.end(), isNearer);
    }
  }
  /** In order; nothing is offered any more. */
  const std::vector<Near>& sorted() {
    std::sort_heap(heap_.begin(), heap_.end(), isNearer);
    return heap_;
  }

 private:
  const size_t most_;
  std::vector<Near> heap_;
};

/** One call. What it reads is kept by references until it is done. */
struct Scan {
  const float* matrix;
  const float* queries;
  size_t rows, queryCount, dimensions, most;
  std::vector<uint32_t> foundRows;
  std::vector<float> foundDistances;
  bool hasMemory = true;
  napi_ref matrixReference = nullptr, queriesReference = nullptr;
  napi_deferred deferred = nullptr;
  napi_async_work work = nullptr;
};

void run(napi_env, void* data) {
  Scan& scan = *static_cast<Scan*>(data);
  try {
    std::vector<Nearest> nearest(scan.queryCount, Nearest(scan.most));
    for (size_t row = 0; row < scan.rows; row++) {
      const float* values = scan.matrix + row * scan.dimensions;
      for (size_t query = 0; query < scan.queryCount; query++) {
        const float squared = squaredDistance(scan.queries + query * scan.dimensions, values, scan.dimensions);
        nearest[query].offer({squared, static_cast<uint32_t>(row)});
      }
    }
    for (Nearest& one : nearest) {
      for (const Near& near : one.sorted()) {
        scan.foundRows.push_back(near.row);
        scan.foundDistances.push_back(std::sqrt(near.squared));
      }
    }
  } catch (const std::bad_alloc&) {
    scan.hasMemory = false;
  }
}

napi_value typedArray(napi_env env, napi_typedarray_type type, const void* values, size_t count) {
  void* bytes = nullptr;
  napi_value buffer, array;
  napi_create_arraybuffer(env, count * 4, &bytes, &buffer);
  if (count > 0) std::memcpy(bytes, values, count * 4);
  napi_create_typedarray(env, type, count, buffer, 0, &array);
  return array;
}

void complete(napi_env env, napi_status, void* data) {
  const std::unique_ptr<Scan> scan(static_cast<Scan*>(data));
  if (scan->hasMemory) {
    napi_value result;
    napi_create_object(env, &result);
    const size_t count = scan->foundRows.size();
    napi_set_named_property(env, result, "rows", typedArray(env, napi_uint32_array, scan->foundRows.data(), count));
    napi_set_named_property(env, result, "distances",
                            typedArray(env, napi_float32_array, scan->foundDistances.data(), count));
    napi_resolve_deferred(env, scan->deferred, result);
  } else {
    napi_value message, error;
    napi_create_string_utf8(env, "no memory for the nearest rows", NAPI_AUTO_LENGTH, &message);
    napi_create_error(env, nullptr, message, &error);
    napi_reject_deferred(env, scan->deferred, error);
  }
  napi_delete_reference(env, scan->matrixReference);
  napi_delete_reference(env, scan->queriesReference);
  napi_delete_async_work(env, scan->work);
}

/** nearestRows(matrix, dimensions, queries, most) → promise of { rows, distances }, query after query. */
napi_value nearestRows(napi_env env, napi_callback_info info) {
  constexpr const char* WRONG = "wrong arguments for nearestRows";
  size_t count = 4, matrixLength = 0, queriesLength = 0;
  napi_value values[4];
  float *matrix = nullptr, *queries = nullptr;
  uint32_t dimensions = 0, most = 0;
  if (napi_get_cb_info(env, info, &count, values, nullptr, nullptr) != napi_ok || count != 4 ||
      !readElements(env, values[0], napi_float32_array, matrix, matrixLength) ||
      !readUnsigned32(env, values[1], dimensions) || dimensions == 0 ||
      !readElements(env, values[2], napi_float32_array, queries, queriesLength) ||
      !readUnsigned32(env, values[3], most) || matrixLength % dimensions != 0 ||
      queriesLength % dimensions != 0)
    return fail(env, WRONG);
  auto scan = std::make_unique<Scan>();
  scan->matrix = matrix;
  scan->queries = queries;
  scan->dimensions = dimensions;
  scan->rows = matrixLength / dimensions;
  scan->queryCount = queriesLength / dimensions;
  scan->most = std::min<size_t>(most, scan->rows);
  if (scan->most == 0) scan->queryCount = 0;
  napi_value promise, name;
  napi_create_reference(env, values[0], 1, &scan->matrixReference);
  napi_create_reference(env, values[2], 1, &scan->queriesReference);
  napi_create_promise(env, &scan->deferred, &promise);
  napi_create_string_utf8(env, "nearestRows", NAPI_AUTO_LENGTH, &name);
  if (napi_create_async_work(env, nullptr, name, run, complete, scan.get(), &scan->work) != napi_ok ||
      napi_queue_async_work(env, scan->work) != napi_ok)
    return fail(env, WRONG);
  scan.release();
  return promise;
}

}  // namespace

bool exportNearestRows(napi_env env, napi_value exports) { return setFunction(env, exports, "nearestRows", nearestRows); }

}  // namespace shoal
