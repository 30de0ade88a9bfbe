// The vector index as JavaScript functions. The first argument is the index; `request` numbers are answered through the
// function that was given to `openOutbox`. Typed in src/native-vector-index.ts, which is the only caller.
#include <algorithm>
#include <cstring>
#include <memory>
#include <tuple>
#include <type_traits>

#include "addon-exports.h"
#include "node-arguments.h"
#include "node-value.h"
#include "recall-probe.h"
#include "vector-index.h"
#include "xxh3.h"

namespace shoal {
namespace {

/** What JavaScript holds of an index. */
using Handle = std::shared_ptr<VectorIndex>;

constexpr napi_type_tag INDEX_TAG = {0x6d1f0a7c25e94b83, 0xa3508e2fd1b7469c};

using Environment = std::shared_ptr<Outbox>;

napi_value wrong(napi_env env) { return fail(env, "wrong arguments for the native vector index"); }
napi_value tooEarly(napi_env env) { return fail(env, "the native vector index is not in a state for this call"); }

/** Null before `openOutbox`. */
Environment* environment(napi_env env) {
  void* data = nullptr;
  return done(env, napi_get_instance_data(env, &data)) ? static_cast<Environment*>(data) : nullptr;
}

napi_value openOutbox(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  if (environment(env) != nullptr) return fail(env, "openOutbox: it is open already");
  if (!arguments.isFunction()) return fail(env, "openOutbox(deliver) needs a function");
  const Environment outbox = Outbox::open(env, arguments.peek());
  if (outbox == nullptr) return nullptr;
  auto held = std::make_unique<Environment>(outbox);
  const auto finalize = [](napi_env, void* data, void*) { delete static_cast<Environment*>(data); };
  if (done(env, napi_set_instance_data(env, held.get(), finalize, nullptr))) held.release();
  return nullptr;
}

/** `Method` of the outbox of this environment. */
template <bool (Outbox::*Method)(napi_env)>
napi_value ofOutbox(napi_env env, napi_callback_info) {
  Environment* outbox = environment(env);
  if (outbox == nullptr) return fail(env, "openOutbox comes first");
  // What it returns says whether an error was thrown.
  static_cast<void>(((**outbox).*Method)(env));
  return nullptr;
}

napi_value create(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  IndexSettings settings;
  settings.dimensions = arguments.unsigned32();
  settings.connectivityBase = arguments.unsigned32();
  settings.efConstruction = arguments.unsigned32();
  if (!arguments.ok || settings.dimensions == 0 || settings.dimensions > 65535 || settings.connectivityBase < 4 ||
      settings.connectivityBase > 4096 || settings.efConstruction == 0 || environment(env) == nullptr)
    return wrong(env);
  auto* handle = new Handle(std::make_shared<VectorIndex>(settings, *environment(env)));
  return makeHandle(env, handle, [](napi_env, void* data, void*) { delete static_cast<Handle*>(data); }, INDEX_TAG);
}

bool isFinite(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  return (bits & 0x7F800000) != 0x7F800000;
}

/** The position of the first NaN or infinity, or `count`. */
size_t firstNotFinite(const float* values, size_t count) {
  constexpr size_t STRIDE = 256;
  for (size_t at = 0; at < count; at += STRIDE) {
    const size_t end = at + STRIDE < count ? at + STRIDE : count;
    unsigned bad = 0;
    for (size_t i = at; i < end; i++) bad |= isFinite(values[i]) ? 0u : 1u;
    if (bad == 0) continue;
    for (size_t i = at; i < end; i++)
      if (!isFinite(values[i])) return i;
  }
  return count;
}

napi_value putRows(napi_env env, napi_callback_info info, bool anew) {
  Arguments arguments(env, info);
  Handle* index = arguments.handle<Handle>(INDEX_TAG);
  size_t count = 0, floats = 0;
  const uint32_t* documents = arguments.elements<uint32_t>(napi_uint32_array, count);
  const float* vectors = arguments.elements<float>(napi_float32_array, floats);
  if (!arguments.ok || floats != count * (*index)->settings().dimensions) return wrong(env);
  if (!(*index)->usable()) return tooEarly(env);
  const size_t bad = firstNotFinite(vectors, floats);
  if (bad != floats) return makeNumber(env, static_cast<int64_t>(bad));
  return makeNumber(env, (*index)->put(documents, vectors, count, anew) ? -1 : -2);
}

/** put(index, documents, vectors): -1 when stored, -2 when memory ran out, else the place of a value that is not finite. */
napi_value put(napi_env env, napi_callback_info info) { return putRows(env, info, false); }
/** The same, also of vectors that documents have. */
napi_value putAnew(napi_env env, napi_callback_info info) { return putRows(env, info, true); }

napi_value removeDocuments(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  Handle* index = arguments.handle<Handle>(INDEX_TAG);
  size_t count = 0;
  const uint32_t* documents = arguments.elements<uint32_t>(napi_uint32_array, count);
  if (!arguments.ok) return wrong(env);
  if (!(*index)->usable()) return tooEarly(env);
  (*index)->remove(documents, count);
  return nullptr;
}

/** holds(index, document, row, generation) */
napi_value holds(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  Handle* index = arguments.handle<Handle>(INDEX_TAG);
  const uint32_t document = arguments.unsigned32();
  const uint32_t row = arguments.unsigned32();
  const uint32_t generation = arguments.unsigned32();
  if (!arguments.ok) return wrong(env);
  return makeBoolean(env, (*index)->holds(document, row, generation));
}

/**
 * search(index, request, query, wanted, shards, ef, flatSearchCutoff, allowed?): as `put`. It may wait until `wakeThreads`.
 */
napi_value search(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  Handle* index = arguments.handle<Handle>(INDEX_TAG);
  auto request = std::make_unique<SearchRequest>();
  request->id = arguments.unsigned32();
  size_t floats = 0;
  const float* query = arguments.elements<float>(napi_float32_array, floats);
  request->wanted = arguments.unsigned32();
  request->shards = std::max<uint32_t>(1, arguments.unsigned32());
  request->ef = arguments.signed32();
  request->flatSearchCutoff = arguments.unsigned32();
  if (!arguments.absent()) {
    size_t words = 0;
    const uint32_t* allowed = arguments.elements<uint32_t>(napi_uint32_array, words);
    if (!arguments.ok) return wrong(env);
    // A copy, for the caller may go on to change its bits.
    request->allowed.assign(allowed, allowed + words);
    request->allowedHash = xxh3Pair(nullptr, 0, allowed, words * sizeof(uint32_t));
    request->filtered = true;
  }
  if (!arguments.ok || floats != (*index)->settings().dimensions) return wrong(env);
  if (!(*index)->usable()) return tooEarly(env);
  const size_t bad = firstNotFinite(query, floats);
  if (bad != floats) return makeNumber(env, static_cast<int64_t>(bad));
  request->query.assign(query, query + floats);
  (*index)->submit(std::move(request));
  return makeNumber(env, -1);
}

/** probe(index, request, candidates, queries or how many, seed): measures queries; see recall-probe.h. */
napi_value probe(napi_env env, napi_callback_info info) {
  constexpr uint32_t CANDIDATES_MAX = 1 << 16;
  Arguments arguments(env, info);
  Handle* index = arguments.handle<Handle>(INDEX_TAG);
  auto request = std::make_unique<SearchRequest>();
  request->id = arguments.unsigned32();
  size_t count = 0;
  const uint32_t* first = arguments.elements<uint32_t>(napi_uint32_array, count);
  if (!arguments.ok || count == 0 || first[0] == 0 || first[count - 1] > CANDIDATES_MAX) return wrong(env);
  for (size_t i = 1; i < count; i++)
    if (first[i - 1] >= first[i]) return wrong(env);
  std::vector<uint32_t> candidates(first, first + count);
  if (arguments.isNumber()) {
    const uint32_t queries = arguments.unsigned32();
    const uint32_t seed = arguments.unsigned32();
    if (!arguments.ok || queries == 0 || queries > RecallProbe::QUERIES_MAX) return wrong(env);
    request->probe = std::make_shared<RecallProbe>(std::move(candidates), queries, seed);
  } else {
    const size_t dimensions = (*index)->settings().dimensions;
    size_t floats = 0;
    const float* values = arguments.elements<float>(napi_float32_array, floats);
    if (!arguments.ok || floats == 0 || floats % dimensions != 0 || floats / dimensions > RecallProbe::QUERIES_MAX ||
        firstNotFinite(values, floats) != floats)
      return wrong(env);
    request->probe = std::make_shared<RecallProbe>(std::move(candidates), std::vector<float>(values, values + floats));
  }
  if (!(*index)->usable()) return tooEarly(env);
  (*index)->submit(std::move(request));
  Scheduler::get().wakeForSearches();
  return nullptr;
}

/**
 * setEffort(index, numbers): stage, factors of one, a hundred and a quarter, farthest, distances, 1 for exact; then the knots, each a
 * contrast and candidates.
 */
napi_value setEffort(napi_env env, napi_callback_info info) {
  constexpr size_t BEFORE_KNOTS = 7;
  constexpr double NUMBER_MAX = 1e9;
  Arguments arguments(env, info);
  Handle* index = arguments.handle<Handle>(INDEX_TAG);
  size_t count = 0;
  const double* numbers = arguments.elements<double>(napi_float64_array, count);
  if (!arguments.ok || count < BEFORE_KNOTS + 2 || count % 2 == 0) return wrong(env);
  SearchEffort effort{};
  effort.knots = (count - BEFORE_KNOTS) / 2;
  if (effort.knots > SearchEffort::KNOTS_MAX) return wrong(env);
  for (size_t i = 0; i < count; i++)
    if (!(numbers[i] >= 0 && numbers[i] <= NUMBER_MAX)) return wrong(env);
  if (numbers[0] < 1 || numbers[1] <= 0 || numbers[2] <= 0 || numbers[3] <= 0) return wrong(env);
  effort.stage = static_cast<size_t>(numbers[0]);
  effort.ofOne = static_cast<float>(numbers[1]);
  effort.ofHundred = static_cast<float>(numbers[2]);
  effort.ofQuarter = static_cast<float>(numbers[3]);
  effort.farthest = static_cast<float>(numbers[4]);
  effort.distances = static_cast<float>(numbers[5]);
  effort.exact = numbers[6] != 0;
  for (size_t knot = 0; knot < effort.knots; knot++) {
    effort.contrasts[knot] = static_cast<float>(numbers[BEFORE_KNOTS + 2 * knot]);
    effort.candidates[knot] = static_cast<float>(numbers[BEFORE_KNOTS + 2 * knot + 1]);
    if (knot > 0 && effort.contrasts[knot] < effort.contrasts[knot - 1]) return wrong(env);
  }
  (*index)->setEffort(effort);
  return nullptr;
}

napi_value wakeThreads(napi_env, napi_callback_info) {
  Scheduler::get().wakeForSearches();
  return nullptr;
}

/** holdLinks(held): 1 or 0. */
napi_value holdLinks(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  const uint32_t held = arguments.unsigned32();
  if (!arguments.ok) return fail(env, "holdLinks(held) needs 0 or 1");
  Scheduler::get().holdLinks(held != 0);
  return nullptr;
}

/** counts(index, out): fills live, unindexed vectors, tombstones, rows, linked, memory bytes, rows in memory. */
napi_value counts(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  Handle* index = arguments.handle<Handle>(INDEX_TAG);
  size_t count = 0;
  double* out = arguments.elements<double>(napi_float64_array, count);
  if (!arguments.ok || count < 7) return wrong(env);
  const IndexCounts now = (*index)->counts();
  const size_t values[7] = {now.live, now.unindexed, now.tombstones, now.rows, now.linked, now.memoryBytes, now.resident};
  for (size_t i = 0; i < 7; i++) out[i] = static_cast<double>(values[i]);
  return nullptr;
}

/** freeze(index, out): fills rows, linked rows, generation, and 1 when codes suffice. */
napi_value freeze(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  Handle* index = arguments.handle<Handle>(INDEX_TAG);
  size_t count = 0;
  uint32_t* out = arguments.elements<uint32_t>(napi_uint32_array, count);
  if (!arguments.ok || count < 4) return wrong(env);
  FrozenCounts counts;
  if (!(*index)->freeze(counts)) return tooEarly(env);
  out[0] = static_cast<uint32_t>(counts.rows);
  out[1] = static_cast<uint32_t>(counts.linked);
  out[2] = static_cast<uint32_t>(counts.generation);
  out[3] = counts.codesSuffice ? 1 : 0;
  return nullptr;
}

/** Bytes for native threads, the next argument: they stay where they are until those are done. Nobody else touches them meanwhile. */
LentBytes lentBytes(napi_env env, Arguments& arguments) {
  LentBytes lent;
  const napi_value array = arguments.peek();
  lent.data = arguments.elements<uint8_t>(napi_uint8_array, lent.length);
  Environment* outbox = arguments.ok ? environment(env) : nullptr;
  if (outbox != nullptr) lent.owner = (*outbox)->lend(env, array);
  arguments.ok = lent.owner != nullptr;
  return lent;
}

/** Seed and chain, each as low and high part. */
RowFile rowFile(Arguments& arguments) {
  size_t count = 0;
  const uint32_t* parts = arguments.elements<uint32_t>(napi_uint32_array, count);
  arguments.ok = arguments.ok && count == 4;
  if (!arguments.ok) return {};
  return {uint64_t{parts[1]} << 32 | parts[0], uint64_t{parts[3]} << 32 | parts[2]};
}

/** A path as bytes of UTF-8. */
std::string pathOf(Arguments& arguments) {
  size_t length = 0;
  const uint8_t* bytes = arguments.elements<uint8_t>(napi_uint8_array, length);
  return arguments.ok ? std::string(reinterpret_cast<const char*>(bytes), length) : "";
}

/** The next argument, as a parameter of a method of the index. */
template <typename Value>
Value read(napi_env env, Arguments& arguments) {
  if constexpr (std::is_same_v<Value, LentBytes>) return lentBytes(env, arguments);
  else if constexpr (std::is_same_v<Value, RowFile>) return rowFile(arguments);
  else if constexpr (std::is_same_v<Value, std::string>) return pathOf(arguments);
  else return arguments.unsigned32();
}

template <auto Method, typename Result, typename... Values>
napi_value call(napi_env env, napi_callback_info info, Result (VectorIndex::*)(Values...)) {
  Arguments arguments(env, info);
  Handle* index = arguments.handle<Handle>(INDEX_TAG);
  // In braces they are read from left to right.
  std::tuple<Values...> values{read<Values>(env, arguments)...};
  if (!arguments.ok) return wrong(env);
  const auto run = [index](Values&... each) { return ((**index).*Method)(std::move(each)...); };
  if constexpr (std::is_void_v<Result>) {
    std::apply(run, values);
    return nullptr;
  } else {
    return std::apply(run, values) ? nullptr : tooEarly(env);
  }
}

/** A method of the index with its parameters as arguments; one that returns false cannot be called now. */
template <auto Method>
napi_value method(napi_env env, napi_callback_info info) {
  return call<Method>(env, info, Method);
}

}  // namespace

bool exportVectorIndex(napi_env env, napi_value exports) {
  const struct {
    const char* name;
    napi_callback callback;
  } functions[] = {{"openOutbox", openOutbox},
                   {"holdEventLoop", ofOutbox<&Outbox::hold>},
                   {"releaseEventLoop", ofOutbox<&Outbox::release>},
                   {"indexCreate", create},
                   {"indexPut", put},
                   {"indexPutAnew", putAnew},
                   {"indexRemove", removeDocuments},
                   {"indexHolds", holds},
                   {"indexSearch", search},
                   {"indexProbe", probe},
                   {"indexSetEffort", setEffort},
                   {"wakeThreads", wakeThreads},
                   {"holdLinks", holdLinks},
                   {"indexCancel", method<&VectorIndex::cancel>},
                   {"indexCounts", counts},
                   {"indexAwaitUnindexed", method<&VectorIndex::awaitUnindexed>},
                   {"indexRebuild", method<&VectorIndex::rebuild>},
                   {"indexClose", method<&VectorIndex::close>},
                   {"indexPin", method<&VectorIndex::pin>},
                   {"indexUnpin", method<&VectorIndex::unpin>},
                   {"indexFreeze", freeze},
                   {"indexExportBlock", method<&VectorIndex::exportBlock>},
                   {"indexExportRows", method<&VectorIndex::exportRows>},
                   {"indexExportDeaths", method<&VectorIndex::exportDeaths>},
                   {"indexRelease", method<&VectorIndex::release>},
                   {"indexFillFrom", method<&VectorIndex::fillFrom>},
                   {"indexImportBlock", method<&VectorIndex::importBlock>},
                   {"indexImportRows", method<&VectorIndex::importRows>},
                   {"indexImportDeaths", method<&VectorIndex::importDeaths>},
                   {"indexFinishImport", method<&VectorIndex::finishImport>}};
  for (const auto& function : functions)
    if (!setFunction(env, exports, function.name, function.callback)) return false;
  return true;
}

}  // namespace shoal
