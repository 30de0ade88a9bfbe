// Everything at once on a vector index, without Node: for the sanitizers (see run.mjs). The main thread plays the event
// loop. What little of Node-API the outbox needs is played here, too.
#include <node_api.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <thread>
#include <unordered_map>

#include "../cpp/recall-probe.h"
#include "../cpp/vector-index.h"

namespace {

napi_threadsafe_function_call_js deliverMail;
void* mailContext;
std::atomic<bool> posted{false};
std::unordered_map<uint32_t, uint32_t> answers;  // request -> status
std::vector<uint32_t> header;
/** The typed arrays that the outbox makes, one after the other; the first is the header. */
std::vector<std::vector<char>> buffers;

}  // namespace

extern "C" {
/** Stands for any value. */
const napi_value VALUE = reinterpret_cast<napi_value>(1);
napi_status napi_create_string_utf8(napi_env, const char*, size_t, napi_value* out) {
  *out = VALUE;
  return napi_ok;
}
napi_status napi_create_threadsafe_function(napi_env, napi_value, napi_value, napi_value, size_t, size_t, void*,
                                            napi_finalize, void* context, napi_threadsafe_function_call_js call,
                                            napi_threadsafe_function*) {
  deliverMail = call;
  mailContext = context;
  return napi_ok;
}
napi_status napi_call_threadsafe_function(napi_threadsafe_function, void*, napi_threadsafe_function_call_mode) {
  posted.store(true, std::memory_order_release);
  return napi_ok;
}
napi_status napi_get_last_error_info(node_api_basic_env, const napi_extended_error_info**) {
  return napi_generic_failure;
}
napi_status napi_is_exception_pending(napi_env, bool*) { return napi_generic_failure; }
napi_status napi_throw_error(napi_env, const char*, const char*) { return napi_ok; }
napi_status napi_get_and_clear_last_exception(napi_env, napi_value*) { return napi_ok; }
napi_status napi_fatal_exception(napi_env, napi_value) { return napi_ok; }
napi_status napi_create_reference(napi_env, napi_value, uint32_t, napi_ref*) { return napi_ok; }
napi_status napi_delete_reference(node_api_basic_env, napi_ref) { return napi_ok; }
napi_status napi_add_env_cleanup_hook(node_api_basic_env, napi_cleanup_hook, void*) { return napi_ok; }
napi_status napi_ref_threadsafe_function(node_api_basic_env, napi_threadsafe_function) { return napi_ok; }
napi_status napi_unref_threadsafe_function(node_api_basic_env, napi_threadsafe_function) { return napi_ok; }
napi_status napi_get_undefined(napi_env, napi_value* out) {
  *out = VALUE;
  return napi_ok;
}
napi_status napi_create_arraybuffer(napi_env, size_t length, void** data, napi_value*) {
  buffers.emplace_back(length + 1);
  *data = buffers.back().data();
  return napi_ok;
}
napi_status napi_create_typedarray(napi_env, napi_typedarray_type, size_t length, napi_value, size_t, napi_value* out) {
  if (buffers.size() == 1) header.resize(length);
  *out = VALUE;
  return napi_ok;
}
napi_status napi_create_array_with_length(napi_env, size_t, napi_value* out) {
  *out = VALUE;
  return napi_ok;
}
napi_status napi_set_element(napi_env, napi_value, uint32_t, napi_value) { return napi_ok; }
napi_status napi_call_function(napi_env, napi_value, napi_value, size_t, const napi_value*, napi_value*) {
  for (size_t at = 0; at < header.size(); at += 4) {
    uint32_t entry[2];
    __builtin_memcpy(entry, buffers[0].data() + at * 4, 8);
    answers[entry[0]] = entry[1];
  }
  return napi_ok;
}
}

namespace {

using shoal::VectorIndex;

uint32_t lastRequest = 0;

void poll() {
  if (!posted.exchange(false, std::memory_order_acquire)) return;
  buffers.clear();
  deliverMail(reinterpret_cast<napi_env>(1), nullptr, mailContext, nullptr);
}

uint32_t await(uint32_t request) {
  while (answers.count(request) == 0) {
    poll();
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  const uint32_t status = answers[request];
  answers.erase(request);
  return status;
}

void check(bool good, const char* what) {
  if (good) return;
  std::fprintf(stderr, "stress: %s\n", what);
  std::exit(1);
}

void searchOnce(VectorIndex& index, const std::vector<float>& query, uint32_t wanted, bool filtered) {
  auto request = std::make_unique<shoal::SearchRequest>();
  request->id = ++lastRequest;
  request->wanted = wanted;
  request->flatSearchCutoff = 40000;
  request->query = query;
  request->filtered = filtered;
  if (filtered) request->allowed.assign(400, 0x5A5A5A5A);
  index.submit(std::move(request));
  // Several in line are done together.
  if (lastRequest % 8 == 0) shoal::Scheduler::get().wakeForSearches();
  if (lastRequest % 16 == 0) index.cancel(lastRequest);
}

/** Of rows that are chosen, or of the query. */
void probeOnce(VectorIndex& index, std::vector<float> query) {
  const std::vector<uint32_t> candidates{16, 64, 256};
  auto request = std::make_unique<shoal::SearchRequest>();
  request->id = ++lastRequest;
  request->probe = query.empty() ? std::make_shared<shoal::RecallProbe>(candidates, 4, lastRequest)
                                 : std::make_shared<shoal::RecallProbe>(candidates, std::move(query));
  index.submit(std::move(request));
}

/** Answered with `status`, once the call was taken. */
void expectAnswer(bool taken, uint32_t status, const char* what) {
  check(taken, what);
  check(await(lastRequest) == status, what);
}

constexpr uint32_t DONE = 0, DAMAGED = 3;

/** Bytes that stay where they are until the answer. */
shoal::LentBytes lent(uint8_t* data, size_t length) { return {data, length, nullptr}; }

void copyNodes(VectorIndex& from, VectorIndex& to, size_t linked) {
  std::vector<uint8_t> block(512 * 1024);
  for (size_t first = 0; first < linked;) {
    buffers.clear();
    expectAnswer(
        from.exportBlock(++lastRequest, shoal::BLOCK_OF_NODES, first, linked, lent(block.data(), block.size())), DONE,
        "a block could not be exported");
    uint8_t* at = block.data();
    uint32_t count;
    uint64_t payload;
    __builtin_memcpy(&count, at + 12, 4);
    __builtin_memcpy(&payload, at + 16, 8);
    expectAnswer(to.importBlock(++lastRequest, shoal::BLOCK_OF_NODES, first, lent(at, 32 + payload)), DONE,
                 "a block could not be imported");
    block[40] ^= 1;
    expectAnswer(to.importBlock(++lastRequest, shoal::BLOCK_OF_NODES, first + count, lent(at, 32 + payload)), DAMAGED,
                 "a damaged block was not refused");
    first += count;
  }
}

void copyRows(VectorIndex& from, VectorIndex& to, size_t rows) {
  const size_t recordBytes = 16 + 4 * from.settings().dimensions;
  std::vector<uint8_t> records(512 * 1024);
  for (size_t first = 0; first < rows;) {
    // The chain of the records does not matter here.
    const shoal::RowFile file{42, 0};
    const size_t next = std::min(rows, first + records.size() / recordBytes);
    const size_t bytes = (next - first) * recordBytes;
    expectAnswer(from.exportRows(++lastRequest, first, file, lent(records.data(), records.size())), DONE,
                 "rows could not be exported");
    records[20] ^= 1;
    expectAnswer(to.importRows(++lastRequest, first, file, lent(records.data(), bytes)), DAMAGED,
                 "a damaged row was not refused");
    records[20] ^= 1;
    expectAnswer(to.importRows(++lastRequest, first, file, lent(records.data(), bytes)), DONE,
                 "rows could not be imported");
    first = next;
  }
}

/** Rows go to a file, as a snapshot writes it, and leave memory. Sometimes a rebuild comes between. */
void dropRows(const std::shared_ptr<VectorIndex>& index) {
  // The file of the call before is being opened meanwhile; the one before that stays open without its name.
  static std::string paths[2];
  std::remove(paths[0].c_str());
  paths[0] = paths[1];
  const std::string& path = paths[1] = "/tmp/shoal-stress." + std::to_string(lastRequest) + ".rows";
  index->pin(++lastRequest);
  await(lastRequest);
  shoal::FrozenCounts frozen;
  index->freeze(frozen);
  const size_t recordBytes = 16 + 4 * index->settings().dimensions;
  std::FILE* file = std::fopen(path.c_str(), "wb");
  check(file != nullptr, "no file");
  std::vector<uint8_t> records(512 * 1024);
  for (size_t first = 0; first < frozen.rows;) {
    expectAnswer(index->exportRows(++lastRequest, first, {42, 0}, lent(records.data(), records.size())), DONE,
                 "rows could not be exported");
    const size_t next = std::min(frozen.rows, first + records.size() / recordBytes);
    std::fwrite(records.data(), recordBytes, next - first, file);
    first = next;
  }
  std::fclose(file);
  index->unpin();
  if (lastRequest % 2 == 0) index->rebuild(++lastRequest);
  index->release(++lastRequest, path, {42, 0}, frozen.generation, 0, frozen.rows);
}

void snapshotAndLoad(const std::shared_ptr<VectorIndex>& index, const std::shared_ptr<shoal::Outbox>& outbox) {
  index->pin(++lastRequest);
  await(lastRequest);
  shoal::FrozenCounts frozen;
  index->freeze(frozen);
  const auto loaded = std::make_shared<VectorIndex>(index->settings(), outbox);
  copyRows(*index, *loaded, frozen.rows);
  std::vector<uint8_t> deaths((frozen.rows + 7) / 8);
  expectAnswer(index->exportDeaths(++lastRequest, lent(deaths.data(), deaths.size())), DONE,
               "deaths could not be exported");
  expectAnswer(loaded->importDeaths(++lastRequest, lent(deaths.data(), deaths.size())), DONE,
               "deaths could not be imported");
  copyNodes(*index, *loaded, frozen.linked);
  index->unpin();
  loaded->finishImport(++lastRequest, frozen.rows, frozen.linked);
  check(await(lastRequest) == 0, "an import could not be finished");
  loaded->awaitUnindexed(++lastRequest, 0);
  await(lastRequest);
  loaded->close(++lastRequest);
  await(lastRequest);
}

}  // namespace

int main(int count, char** arguments) {
  const unsigned rounds = count > 1 ? static_cast<unsigned>(std::atoi(arguments[1])) : 200;
  std::mt19937 random(7);
  std::normal_distribution<float> normal;
  // Enough for rows to have codes.
  const size_t dimensions = 40;
  auto outbox = shoal::Outbox::open(nullptr, nullptr);
  auto index = std::make_shared<VectorIndex>(shoal::IndexSettings{dimensions, 16, 32}, outbox);
  std::vector<float> query(dimensions);
  for (unsigned round = 0; round < rounds; round++) {
    const uint32_t first = random() % 9000;
    const size_t documents = 1 + random() % 200;
    std::vector<uint32_t> ids(documents);
    for (size_t i = 0; i < documents; i++) ids[i] = first + static_cast<uint32_t>(i);
    if (round < rounds / 4 || random() % 3 != 0) {
      std::vector<float> vectors(documents * dimensions);
      for (float& value : vectors) value = normal(random);
      check(index->put(ids.data(), vectors.data(), documents), "put failed");
    } else {
      index->remove(ids.data(), documents);
    }
    for (int i = 0; i < 8; i++) {
      for (float& value : query) value = normal(random);
      searchOnce(*index, query, i == 7 ? 3000 : 10, i % 3 == 1);
    }
    probeOnce(*index, round % 2 == 0 ? query : std::vector<float>());
    shoal::Scheduler::get().wakeForSearches();
    poll();
    index->counts();
    if (round % 40 == 20) index->rebuild(++lastRequest);
    if (round % 60 == 30) snapshotAndLoad(index, outbox);
    if (round % 30 == 7) dropRows(index);
    if (round % 10 == 5) {
      index->awaitUnindexed(++lastRequest, 500);
      await(lastRequest);
    }
  }
  check(index->counts().linked > 1000, "the graph was never used");
  index->rebuild(++lastRequest);
  index->close(++lastRequest);
  check(await(lastRequest) == 0, "the index did not close");
  std::printf("stress: %u rounds, %u requests\n", rounds, lastRequest);
  std::fflush(stdout);
  std::_Exit(0);
}
