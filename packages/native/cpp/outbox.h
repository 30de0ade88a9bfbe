// The way back to the event loop: answers of native threads are collected and handed over many at a time.
#pragma once
#include <node_api.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace shoal {

/** What became of a request. Typed as `AnswerStatus` in src/requests.ts. */
enum class AnswerStatus : uint32_t { Done = 0, Closed = 1, OutOfMemory = 2, Damaged = 3, Cancelled = 4 };

/** One for each JavaScript environment (main thread or worker). Thread-safe, but `open`, `hold` and `release`. */
class Outbox {
 public:
  /** `deliver(header, integers, floats, texts)` is called on the event loop with everything since the last time. */
  static std::shared_ptr<Outbox> open(napi_env env, napi_value deliver);

  void answer(uint32_t request, AnswerStatus status, const uint32_t* integers = nullptr, const float* floats = nullptr,
              size_t count = 0);
  /** As `answer`, but it stays here until somebody answers or tells. */
  void keep(uint32_t request, AnswerStatus status, const uint32_t* integers = nullptr, const float* floats = nullptr,
            size_t count = 0);
  void tell();
  void refuse(uint32_t request, AnswerStatus status, const std::string& reason, const uint32_t* integers = nullptr,
              size_t count = 0);

  /** While it is held the event loop stays alive; called on the event loop. */
  void hold(napi_env env);
  void release(napi_env env);

 private:
  struct Mail {
    std::vector<uint32_t> header;
    std::vector<uint32_t> integers;
    std::vector<float> floats;
    std::vector<std::string> texts;
  };

  static void deliver(napi_env env, napi_value callback, void* context, void* data);
  void post();

  std::mutex mutex_;
  Mail mail_;
  Mail spare_;
  bool posted_ = false;
  bool closed_ = false;
  napi_threadsafe_function function_ = nullptr;
};

}  // namespace shoal
