#include "outbox.h"

#include <cstring>

namespace shoal {
namespace {

/** Numbers of a header: request, status, count of integers and floats, count of texts. */
constexpr size_t HEADER_NUMBERS = 4;

template <typename Element>
bool makeArray(napi_env env, napi_typedarray_type type, const std::vector<Element>& elements, napi_value& out) {
  void* bytes = nullptr;
  napi_value buffer;
  if (napi_create_arraybuffer(env, elements.size() * sizeof(Element), &bytes, &buffer) != napi_ok) return false;
  if (!elements.empty()) std::memcpy(bytes, elements.data(), elements.size() * sizeof(Element));
  return napi_create_typedarray(env, type, elements.size(), buffer, 0, &out) == napi_ok;
}

}  // namespace

std::shared_ptr<Outbox> Outbox::open(napi_env env, napi_value callback) {
  auto outbox = std::make_shared<Outbox>();
  napi_value name;
  napi_create_string_utf8(env, "shoal", NAPI_AUTO_LENGTH, &name);
  // The function keeps the outbox until the environment is gone, though all others let go of it.
  auto* kept = new std::shared_ptr<Outbox>(outbox);
  auto finalize = [](napi_env, void* data, void*) {
    auto* held = static_cast<std::shared_ptr<Outbox>*>(data);
    {
      const std::lock_guard<std::mutex> lock((*held)->mutex_);
      (*held)->closed_ = true;
    }
    delete held;
  };
  if (napi_create_threadsafe_function(env, callback, nullptr, name, 0, 1, kept, finalize, kept, deliver,
                                      &outbox->function_) != napi_ok) {
    delete kept;
    return nullptr;
  }
  napi_unref_threadsafe_function(env, outbox->function_);
  // Before the environment goes: threads that finish later must not call into it.
  napi_add_env_cleanup_hook(
      env,
      [](void* data) {
        auto* held = static_cast<std::weak_ptr<Outbox>*>(data);
        if (auto box = held->lock()) {
          const std::lock_guard<std::mutex> lock(box->mutex_);
          box->closed_ = true;
        }
        delete held;
      },
      new std::weak_ptr<Outbox>(outbox));
  return outbox;
}

void Outbox::answer(uint32_t request, AnswerStatus status, const uint32_t* integers, const float* floats,
                    size_t count) {
  keep(request, status, integers, floats, count);
  tell();
}

void Outbox::keep(uint32_t request, AnswerStatus status, const uint32_t* integers, const float* floats, size_t count) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (closed_) return;
  mail_.header.insert(mail_.header.end(), {request, static_cast<uint32_t>(status), static_cast<uint32_t>(count), 0});
  for (size_t i = 0; i < count; i++) {
    mail_.integers.push_back(integers[i]);
    mail_.floats.push_back(floats == nullptr ? 0 : floats[i]);
  }
}

void Outbox::tell() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!closed_ && !mail_.header.empty()) post();
}

void Outbox::refuse(uint32_t request, AnswerStatus status, const std::string& reason, const uint32_t* integers,
                    size_t count) {
  const std::lock_guard<std::mutex> lock(mutex_);
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
  posted_ = true;
  napi_call_threadsafe_function(function_, nullptr, napi_tsfn_nonblocking);
}

void Outbox::deliver(napi_env env, napi_value callback, void* context, void*) {
  if (env == nullptr) return;
  Outbox& self = **static_cast<std::shared_ptr<Outbox>*>(context);
  Mail mail;
  {
    const std::lock_guard<std::mutex> lock(self.mutex_);
    self.posted_ = false;
    std::swap(mail, self.mail_);
    // The emptied vectors of the last time keep their memory.
    std::swap(self.mail_, self.spare_);
  }
  napi_value arguments[4], receiver;
  napi_get_undefined(env, &receiver);
  if (!makeArray(env, napi_uint32_array, mail.header, arguments[0]) ||
      !makeArray(env, napi_uint32_array, mail.integers, arguments[1]) ||
      !makeArray(env, napi_float32_array, mail.floats, arguments[2]))
    return;
  arguments[3] = receiver;
  if (!mail.texts.empty()) {
    napi_create_array_with_length(env, mail.texts.size(), &arguments[3]);
    for (size_t i = 0; i < mail.texts.size(); i++) {
      napi_value text;
      napi_create_string_utf8(env, mail.texts[i].c_str(), mail.texts[i].size(), &text);
      napi_set_element(env, arguments[3], static_cast<uint32_t>(i), text);
    }
  }
  napi_call_function(env, receiver, callback, 4, arguments, nullptr);
  mail.header.clear();
  mail.integers.clear();
  mail.floats.clear();
  mail.texts.clear();
  const std::lock_guard<std::mutex> lock(self.mutex_);
  std::swap(mail, self.spare_);
}

void Outbox::hold(napi_env env) { napi_ref_threadsafe_function(env, function_); }
void Outbox::release(napi_env env) { napi_unref_threadsafe_function(env, function_); }

}  // namespace shoal
