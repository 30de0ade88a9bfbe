// The way back to the event loop: answers of native threads are collected and handed over many at a time.
#pragma once
#include <node_api.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "thread-safety.h"

namespace shoal {

/** What became of a request. Typed as `ResultStatus` in src/requests.ts. */
enum class ResultStatus : uint32_t { Done = 0, Closed = 1, OutOfMemory = 2, Damaged = 3, Cancelled = 4 };

/** One for each JavaScript environment (main thread or worker). Thread-safe, but for what takes an environment. */
class Outbox : public std::enable_shared_from_this<Outbox> {
 public:
  /**
   * `deliver(header, integers, floats, texts)` is called on the event loop with everything since the last time. Null when it is no
   * function; then an error is thrown.
   */
  static std::shared_ptr<Outbox> open(napi_env env, napi_value deliver);

  void answer(uint32_t request, ResultStatus status, const uint32_t* integers = nullptr, const float* floats = nullptr,
              size_t count = 0);
  /** As `answer`, but it stays here until somebody answers or tells. */
  void keep(uint32_t request, ResultStatus status, const uint32_t* integers = nullptr, const float* floats = nullptr,
            size_t count = 0);
  void tell();
  void refuse(uint32_t request, ResultStatus status, const std::string& reason, const uint32_t* integers = nullptr,
              size_t count = 0);

  /** While it is held the event loop stays alive; called on the event loop. False when an error was thrown. */
  bool hold(napi_env env);
  bool release(napi_env env);

  /**
   * A reference to a value, so that its memory stays where it is while native threads use that: until nobody holds what this
   * returns, on whatever thread. The environment waits for that before it goes. Null when an error was thrown.
   */
  std::shared_ptr<const void> lend(napi_env env, napi_value value);

 private:
  struct Mail {
    std::vector<uint32_t> header;
    std::vector<uint32_t> integers;
    std::vector<float> floats;
    std::vector<std::string> texts;
  };

  static void deliver(napi_env env, napi_value callback, void* context, void* data);
  bool callBack(napi_env env, napi_value callback, const Mail& mail);
  bool deleteReturned(napi_env env);
  void giveBack(napi_ref reference) EXCLUDES(mutex_);
  void close() EXCLUDES(mutex_);
  void post() REQUIRES(mutex_);

  Mutex mutex_;
  Mail mail_ GUARDED_BY(mutex_);
  Mail spare_ GUARDED_BY(mutex_);
  bool posted_ GUARDED_BY(mutex_) = false;
  bool closed_ GUARDED_BY(mutex_) = false;
  /** References that are held, and those that nobody holds any more: only the event loop may delete them. */
  size_t lent_ GUARDED_BY(mutex_) = 0;
  std::vector<napi_ref> returned_ GUARDED_BY(mutex_);
  Condition allReturned_;
  /** From `open` on. */
  napi_threadsafe_function function_ = nullptr;
};

}  // namespace shoal
