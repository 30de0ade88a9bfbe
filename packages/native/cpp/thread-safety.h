// Which lock guards what, in words that clang checks (-Wthread-safety; clang.llvm.org/docs/ThreadSafetyAnalysis.html). Other compilers
// see none of it.
#pragma once
#include <chrono>
#include <condition_variable>
#include <mutex>

#if defined(__clang__)
#define SHOAL_ATTRIBUTE(attribute) __attribute__((attribute))
#else
#define SHOAL_ATTRIBUTE(attribute)
#endif

#define CAPABILITY(name) SHOAL_ATTRIBUTE(capability(name))
#define SCOPED_CAPABILITY SHOAL_ATTRIBUTE(scoped_lockable)
#define GUARDED_BY(mutex) SHOAL_ATTRIBUTE(guarded_by(mutex))
#define REQUIRES(...) SHOAL_ATTRIBUTE(requires_capability(__VA_ARGS__))
#define EXCLUDES(...) SHOAL_ATTRIBUTE(locks_excluded(__VA_ARGS__))
#define ACQUIRE(...) SHOAL_ATTRIBUTE(acquire_capability(__VA_ARGS__))
#define RELEASE(...) SHOAL_ATTRIBUTE(release_capability(__VA_ARGS__))

namespace shoal {

/** std::mutex, as clang can follow it. */
class CAPABILITY("mutex") Mutex {
 public:
  void lock() ACQUIRE() { mutex_.lock(); }
  void unlock() RELEASE() { mutex_.unlock(); }

 private:
  friend class Condition;
  std::mutex mutex_;
};

/** Holds a mutex as long as it lives. */
class SCOPED_CAPABILITY MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) ACQUIRE(mutex) : mutex_(mutex) { mutex_.lock(); }
  ~MutexLock() RELEASE() { mutex_.unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

/** Lets go of a mutex as long as it lives: for calls out of functions that hold it. */
class SCOPED_CAPABILITY MutexUnlock {
 public:
  explicit MutexUnlock(Mutex& mutex) RELEASE(mutex) : mutex_(mutex) { mutex_.unlock(); }
  ~MutexUnlock() RELEASE() { mutex_.lock(); }
  MutexUnlock(const MutexUnlock&) = delete;
  MutexUnlock& operator=(const MutexUnlock&) = delete;

 private:
  Mutex& mutex_;
};

/** std::condition_variable for a Mutex. */
class Condition {
 public:
  void notifyOne() { condition_.notify_one(); }
  /** May come back without a call, too. */
  void wait(Mutex& mutex) REQUIRES(mutex) {
    std::unique_lock<std::mutex> lock(mutex.mutex_, std::adopt_lock);
    condition_.wait(lock);
    lock.release();
  }
  void waitUntil(Mutex& mutex, std::chrono::steady_clock::time_point end) REQUIRES(mutex) {
    std::unique_lock<std::mutex> lock(mutex.mutex_, std::adopt_lock);
    condition_.wait_until(lock, end);
    lock.release();
  }

 private:
  std::condition_variable condition_;
};

}  // namespace shoal
