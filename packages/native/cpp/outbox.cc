#include "outbox.h"

#include <cassert>

#include "node-value.h"

namespace shoal {
namespace {

/** Where nobody has called from JavaScript, an error is one that nobody catches. */
void throwUncaught(napi_env env) {
  bool thrown = false;
  napi_value error = nullptr;
  if (napi_is_exception_pending(env, &thrown) != napi_ok || !thrown) return;
  if (napi_get_and_clear_last_exception(env, &error) != napi_ok) return;
  // It fails only where the environment is being taken down.
  static_cast<void>(napi_fatal_exception(env, error));
}

}  // namespace

std::shared_ptr<Outbox> Outbox::open(napi_env env, napi_value callback) {
  auto outbox = std::make_shared<Outbox>();
  const napi_value name = makeText(env, "shoal");
  if (name == nullptr) return nullptr;
  // The function keeps the outbox until the environment is gone, though all others let go of it.
  auto kept = std::make_unique<std::shared_ptr<Outbox>>(outbox);
  const auto finalize = [](napi_env, void* data, void*) {
    const std::unique_ptr<std::shared_ptr<Outbox>> held(static_cast<std::shared_ptr<Outbox>*>(data));
    (*held)->close();
  };
  if (!done(env, napi_create_threadsafe_function(env, callback, nullptr, name, 0, 1, kept.get(), finalize, kept.get(),
                                                 deliver, &outbox->function_)))
    return nullptr;
  kept.release();
  // Before the environment goes: threads that finish later must not call into it.
  auto known = std::make_unique<std::weak_ptr<Outbox>>(outbox);
  const auto cleanUp = [](void* data) {
    const std::unique_ptr<std::weak_ptr<Outbox>> held(static_cast<std::weak_ptr<Outbox>*>(data));
    if (const auto box = held->lock()) box->close();
  };
  if (!done(env, napi_add_env_cleanup_hook(env, cleanUp, known.get()))) return nullptr;
  known.release();
  return outbox->release(env) ? outbox : nullptr;
}

/** The environment goes, and with it whatever it has lent. */
void Outbox::close() {
  const MutexLock lock(mutex_);
  closed_ = true;
  while (lent_ > 0) allReturned_.wait(mutex_);
}

void Outbox::answer(uint32_t request, ResultStatus status, const uint32_t* integers, const float* floats,
                    size_t count) {
  keep(request, status, integers, floats, count);
  tell();
}

void Outbox::keep(uint32_t request, ResultStatus status, const uint32_t* integers, const float* floats, size_t count) {
  const MutexLock lock(mutex_);
  if (closed_) return;
  mail_.header.insert(mail_.header.end(), {request, static_cast<uint32_t>(status), static_cast<uint32_t>(count), 0});
  for (size_t i = 0; i < count; i++) {
    mail_.integers.push_back(integers[i]);
    mail_.floats.push_back(floats == nullptr ? 0 : floats[i]);
  }
}

void Outbox::tell() {
  const MutexLock lock(mutex_);
  if (!closed_ && !mail_.header.empty()) post();
}

void Outbox::refuse(uint32_t request, ResultStatus status, const std::string& reason, const uint32_t* integers,
                    size_t count) {
  const MutexLock lock(mutex_);
  if (closed_) return;
  mail_.header.insert(mail_.header.end(), {request, static_cast<uint32_t>(status), static_cast<uint32_t>(count), 1});
  for (size_t i = 0; i < count; i++) {
    mail_.integers.push_back(integers[i]);
    mail_.floats.push_back(0);
  }
  mail_.texts.push_back(reason);
  post();
}

void Outbox::post() {
  // One wake-up for all answers until the event loop comes to fetch them.
  if (posted_) return;
  const napi_status status = napi_call_threadsafe_function(function_, nullptr, napi_tsfn_nonblocking);
  posted_ = status == napi_ok;
  // Then it must not be called again.
  closed_ = closed_ || status == napi_closing;
}

void Outbox::deliver(napi_env env, napi_value callback, void* context, void*) {
  if (env == nullptr) return;
  Outbox& self = **static_cast<std::shared_ptr<Outbox>*>(context);
  Mail mail;
  {
    const MutexLock lock(self.mutex_);
    self.posted_ = false;
    std::swap(mail, self.mail_);
    // The emptied vectors of the last time keep their memory.
    std::swap(self.mail_, self.spare_);
  }
  if (!self.deleteReturned(env) || !self.callBack(env, callback, mail)) throwUncaught(env);
  mail.header.clear();
  mail.integers.clear();
  mail.floats.clear();
  mail.texts.clear();
  const MutexLock lock(self.mutex_);
  std::swap(mail, self.spare_);
}

bool Outbox::callBack(napi_env env, napi_value callback, const Mail& mail) {
  if (mail.header.empty()) return true;
  napi_value receiver = nullptr;
  if (!done(env, napi_get_undefined(env, &receiver))) return false;
  napi_value texts = receiver;
  if (!mail.texts.empty() && !done(env, napi_create_array_with_length(env, mail.texts.size(), &texts))) return false;
  for (size_t i = 0; i < mail.texts.size(); i++) {
    const napi_value text = makeText(env, mail.texts[i]);
    if (text == nullptr || !done(env, napi_set_element(env, texts, static_cast<uint32_t>(i), text))) return false;
  }
  const napi_value arguments[4] = {makeElements(env, napi_uint32_array, mail.header.data(), mail.header.size()),
                                   makeElements(env, napi_uint32_array, mail.integers.data(), mail.integers.size()),
                                   makeElements(env, napi_float32_array, mail.floats.data(), mail.floats.size()),
                                   texts};
  for (const napi_value argument : arguments)
    if (argument == nullptr) return false;
  return done(env, napi_call_function(env, receiver, callback, 4, arguments, nullptr));
}

bool Outbox::hold(napi_env env) { return done(env, napi_ref_threadsafe_function(env, function_)); }
bool Outbox::release(napi_env env) { return done(env, napi_unref_threadsafe_function(env, function_)); }

std::shared_ptr<const void> Outbox::lend(napi_env env, napi_value value) {
  napi_ref reference = nullptr;
  if (!done(env, napi_create_reference(env, value, 1, &reference))) return nullptr;
  {
    const MutexLock lock(mutex_);
    lent_++;
  }
  const auto giveBack = [self = shared_from_this()](const void* held) {
    self->giveBack(static_cast<napi_ref>(const_cast<void*>(held)));
  };
  return std::shared_ptr<const void>(reference, giveBack);
}

void Outbox::giveBack(napi_ref reference) {
  const MutexLock lock(mutex_);
  assert(lent_ > 0);
  lent_--;
  if (lent_ == 0) allReturned_.notifyOne();
  // The environment deletes what is left of its references when it goes.
  if (closed_) return;
  returned_.push_back(reference);
  post();
}

bool Outbox::deleteReturned(napi_env env) {
  std::vector<napi_ref> returned;
  {
    const MutexLock lock(mutex_);
    returned.swap(returned_);
  }
  bool good = true;
  for (const napi_ref reference : returned) good = done(env, napi_delete_reference(env, reference)) && good;
  return good;
}

}  // namespace shoal
