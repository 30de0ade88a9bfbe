// The rows of a float32 matrix nearest to some queries, by Euclidean distance: exact, all rows compared, on a thread of the
// pool. For matrices that belong to JavaScript and are searched now and then, as a vocabulary is.
#include <algorithm>
#include <cmath>
#include <memory>
#include <new>
#include <vector>

#include "addon-exports.h"
#include "node-arguments.h"

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
  const float* matrix = nullptr;
  const float* queries = nullptr;
  size_t rows = 0, queryCount = 0, dimensions = 0, most = 0;
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

/** What stands for the call is over. False when an error was thrown. */
bool discard(napi_env env, std::unique_ptr<Scan> scan) {
  bool good = true;
  for (const napi_ref reference : {scan->matrixReference, scan->queriesReference})
    if (reference != nullptr) good = done(env, napi_delete_reference(env, reference)) && good;
  return (scan->work == nullptr || done(env, napi_delete_async_work(env, scan->work))) && good;
}

napi_value resultOf(napi_env env, const Scan& scan) {
  const size_t count = scan.foundRows.size();
  const napi_value rows = makeElements(env, napi_uint32_array, scan.foundRows.data(), count);
  const napi_value distances = makeElements(env, napi_float32_array, scan.foundDistances.data(), count);
  napi_value result = nullptr;
  const bool good = rows != nullptr && distances != nullptr && done(env, napi_create_object(env, &result)) &&
                    done(env, napi_set_named_property(env, result, "rows", rows)) &&
                    done(env, napi_set_named_property(env, result, "distances", distances));
  return good ? result : nullptr;
}

/** Rejects with the error that has been thrown. */
bool rejectThrown(napi_env env, napi_deferred deferred) {
  napi_value error = nullptr;
  return done(env, napi_get_and_clear_last_exception(env, &error)) &&
         done(env, napi_reject_deferred(env, deferred, error));
}

void complete(napi_env env, napi_status, void* data) {
  std::unique_ptr<Scan> scan(static_cast<Scan*>(data));
  napi_value result = nullptr;
  if (scan->hasMemory) result = resultOf(env, *scan);
  else static_cast<void>(done(env, napi_throw_error(env, nullptr, "no memory for the nearest rows")));
  // Node reports an error that is thrown from here on as one that nobody catches.
  const bool settled = result == nullptr ? rejectThrown(env, scan->deferred)
                                         : done(env, napi_resolve_deferred(env, scan->deferred, result));
  static_cast<void>(discard(env, std::move(scan)) && settled);
}

/** nearestRows(matrix, dimensions, queries, most) → promise of { rows, distances }, query after query. */
napi_value nearestRows(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  size_t matrixLength = 0, queriesLength = 0;
  auto scan = std::make_unique<Scan>();
  const napi_value matrix = arguments.peek();
  scan->matrix = arguments.elements<float>(napi_float32_array, matrixLength);
  const uint32_t dimensions = arguments.unsigned32();
  const napi_value queries = arguments.peek();
  scan->queries = arguments.elements<float>(napi_float32_array, queriesLength);
  const uint32_t most = arguments.unsigned32();
  if (!arguments.ok || dimensions == 0 || matrixLength % dimensions != 0 || queriesLength % dimensions != 0)
    return fail(env, "wrong arguments for nearestRows");
  scan->dimensions = dimensions;
  scan->rows = matrixLength / dimensions;
  scan->queryCount = queriesLength / dimensions;
  scan->most = std::min<size_t>(most, scan->rows);
  if (scan->most == 0) scan->queryCount = 0;
  const napi_value name = makeText(env, "nearestRows");
  napi_value promise = nullptr;
  const bool queued = name != nullptr && done(env, napi_create_reference(env, matrix, 1, &scan->matrixReference)) &&
                      done(env, napi_create_reference(env, queries, 1, &scan->queriesReference)) &&
                      done(env, napi_create_async_work(env, nullptr, name, run, complete, scan.get(), &scan->work)) &&
                      done(env, napi_create_promise(env, &scan->deferred, &promise)) &&
                      done(env, napi_queue_async_work(env, scan->work));
  if (queued) scan.release();
  else static_cast<void>(discard(env, std::move(scan)));
  return queued ? promise : nullptr;
}

}  // namespace

bool exportNearestRows(napi_env env, napi_value exports) {
  return setFunction(env, exports, "nearestRows", nearestRows);
}

}  // namespace shoal
