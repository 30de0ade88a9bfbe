// Reads a list of decimal numbers as float32 (Clinger's fast path): up to 15 digits and a power of ten up to 22 are both
// exact in a double, so their product or quotient is rounded once. Further digits are dropped when the interval in which the
// number then lies rounds to one float32; else, and for larger exponents, the library reads the number.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <system_error>

#include "addon-exports.h"
#include "node-arguments.h"

namespace shoal {
namespace {

constexpr int DIGITS_MAX = 15;
constexpr int POWER_MAX = 22;
/** Beyond every double, and more than a list has digits. */
constexpr int EXPONENT_MAX = 100'000'000;
constexpr double POWERS[POWER_MAX + 1] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                          1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/** Integers below it, scaled by any power of ten, are farther apart than float32 values are there. */
constexpr uint64_t SHORTEST_MANTISSA_END = 1 << 23;
/** JavaScript spells smaller values with an exponent. */
constexpr double LEAST_PLAIN = 1e-6;

/** A number as it is spelled: `mantissa * 10^exponent`, and what of it was left out. */
struct Spelled {
  uint64_t mantissa = 0;
  int exponent = 0;
  bool negative = false;
  bool cut = false;
  /** Certainly spelled as the float32 is printed. */
  bool shortest = false;
};

/** Bytes up to an end; zero behind it. */
class Text {
 public:
  Text(const uint8_t* at, const uint8_t* end) : at_(at), end_(end) {}
  uint8_t byte() const { return at_ < end_ ? *at_ : 0; }
  uint8_t before() const { return at_[-1]; }
  /** 0 to 9, else more. */
  unsigned digit() const { return static_cast<unsigned>(byte()) - '0'; }
  bool isLetter() const { return byte() == '_' || static_cast<unsigned>(byte() | 32) - 'a' < 26; }
  void pass() { at_++; }
  /** White space of JSON. */
  void passSpaces() {
    while (byte() == ' ' || byte() == '\n' || byte() == '\r' || byte() == '\t') at_++;
  }
  /** What GraphQL ignores, in a text that stands in a JSON string: spaces, commas, escaped tabs and line ends. */
  void passIgnored() {
    for (;;) {
      if (byte() == ' ' || byte() == ',') at_++;
      else if (byte() == '\\' && at_ + 1 < end_ && (at_[1] == 'n' || at_[1] == 'r' || at_[1] == 't')) at_ += 2;
      else return;
    }
  }
  const uint8_t* place() const { return at_; }

 private:
  const uint8_t* at_;
  const uint8_t* end_;
};

bool isShortest(const Spelled& number, bool endsInZero) {
  if (number.mantissa == 0) return number.exponent == 0 && !number.negative;
  if (number.mantissa >= SHORTEST_MANTISSA_END) return false;
  if (number.exponent == 0) return true;
  return !endsInZero && number.exponent < 0 && number.exponent >= -POWER_MAX &&
         static_cast<double>(number.mantissa) / POWERS[-number.exponent] >= LEAST_PLAIN;
}

/** `-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?`; false when something else stands there. */
bool readSpelled(Text& text, Spelled& number) {
  number.negative = text.byte() == '-';
  if (number.negative) text.pass();
  unsigned digit = text.digit();
  if (digit > 9) return false;
  int digits = 0;
  if (digit == 0) {
    text.pass();
    if (text.digit() <= 9) return false;
  } else {
    for (; digit <= 9; text.pass(), digit = text.digit()) {
      if (digits < DIGITS_MAX) number.mantissa = number.mantissa * 10 + digit;
      else number.exponent++;
      digits++;
    }
  }
  if (text.byte() == '.') {
    text.pass();
    digit = text.digit();
    if (digit > 9) return false;
    for (; digit <= 9; text.pass(), digit = text.digit()) {
      if (digits < DIGITS_MAX) {
        number.mantissa = number.mantissa * 10 + digit;
        number.exponent--;
      }
      if (number.mantissa != 0) digits++;
    }
  }
  number.cut = digits > DIGITS_MAX;
  number.shortest = isShortest(number, text.before() == '0');
  if ((text.byte() | 32) != 'e') return true;
  number.shortest = false;
  text.pass();
  const bool isNegative = text.byte() == '-';
  if (isNegative || text.byte() == '+') text.pass();
  if (text.digit() > 9) return false;
  int exponent = 0;
  for (digit = text.digit(); digit <= 9; text.pass(), digit = text.digit())
    exponent = std::min(exponent * 10 + static_cast<int>(digit), EXPONENT_MAX);
  number.exponent += isNegative ? -exponent : exponent;
  return true;
}

/** The number between the places as the library reads it; its sign aside. */
double readByLibrary(const Spelled& number, const uint8_t* begin, const uint8_t* end) {
  const char* first = reinterpret_cast<const char*>(begin) + (number.negative ? 1 : 0);
  const char* last = reinterpret_cast<const char*>(end);
#ifdef __cpp_lib_to_chars
  double value = 0;
  const auto read = std::from_chars(first, last, value);
  if (read.ec != std::errc::result_out_of_range) return value;
  return number.exponent < 0 ? 0 : HUGE_VAL;
#else
  // Libraries without it (libc++ before 20) read what ends with a zero byte, by the locale, which Node leaves at "C".
  return std::strtod(std::string(first, last).c_str(), nullptr);
#endif
}

/** `mantissa * 10^exponent` so exact that float32 cannot tell; false when that is not certain. */
bool scaled(const Spelled& number, double& value) {
  value = 0;
  if (number.mantissa == 0) return true;
  if (number.exponent < -POWER_MAX || number.exponent > POWER_MAX) return false;
  const double mantissa = static_cast<double>(number.mantissa);
  value = number.exponent < 0 ? mantissa / POWERS[-number.exponent] : mantissa * POWERS[number.exponent];
  if (!number.cut) return true;
  // The dropped digits are worth less than 1 in a mantissa of at least 1e14; the rest is for the roundings.
  const float least = static_cast<float>(value * (1 - 1e-15));
  if (least != static_cast<float>(value * (1 + 1.2e-14))) return false;
  value = least;
  return true;
}

/** Reads a number; false when none stands there or float32 cannot hold it. */
bool readNumber(Text& text, float& out, bool& shortest) {
  const uint8_t* begin = text.place();
  Spelled number;
  if (!readSpelled(text, number)) return false;
  double value;
  if (!scaled(number, value)) value = readByLibrary(number, begin, text.place());
  out = static_cast<float>(number.negative ? -value : value);
  shortest = shortest && number.shortest;
  return std::isfinite(out);
}

/** How far a list was read. */
struct Read {
  /** The place behind the closing bracket; null when the list holds anything else, or nothing, or more than there is room for. */
  const uint8_t* end = nullptr;
  uint32_t index;
  bool shortest = true;
};

/** Elements with one comma between two. */
void readJson(Text& text, float* out, size_t room, Read& read) {
  while (read.index < room) {
    const uint8_t* begun = text.place();
    text.passSpaces();
    read.shortest = read.shortest && text.place() == begun;
    if (!readNumber(text, out[read.index], read.shortest)) return;
    read.index++;
    const uint8_t* behind = text.place();
    text.passSpaces();
    read.shortest = read.shortest && text.place() == behind;
    const uint8_t next = text.byte();
    if (next != ',' && next != ']') return;
    text.pass();
    if (next == ']') {
      read.end = text.place();
      return;
    }
  }
}

/** Elements with anything that GraphQL ignores between two. */
void readGraphQl(Text& text, float* out, size_t room, Read& read) {
  read.shortest = false;
  const uint32_t first = read.index;
  for (text.passIgnored(); text.byte() != ']'; text.passIgnored()) {
    if (read.index >= room || !readNumber(text, out[read.index], read.shortest)) return;
    read.index++;
    if (text.byte() == '.' || text.isLetter()) return;
  }
  text.pass();
  if (read.index > first) read.end = text.place();
}

/** readFloat32List(bytes, start, out, index, form, reached): see src/float32-list.ts. */
napi_value readFloat32List(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  size_t outLength = 0, reachedLength = 0;
  const Bytes bytes = arguments.bytes();
  const uint32_t start = arguments.unsigned32();
  float* out = arguments.elements<float>(napi_float32_array, outLength);
  Read read;
  read.index = arguments.unsigned32();
  const bool isGraphQl = arguments.unsigned32() == 1;
  uint32_t* reached = arguments.elements<uint32_t>(napi_uint32_array, reachedLength);
  if (!arguments.ok || start > bytes.length || reachedLength < 3)
    return fail(env, "readFloat32List(bytes, start, out, index, form, reached) needs a place in the bytes and arrays");
  Text text(bytes.data + start, bytes.data + bytes.length);
  if (isGraphQl) readGraphQl(text, out, outLength, read);
  else readJson(text, out, outLength, read);
  reached[0] = read.end == nullptr ? 0 : static_cast<uint32_t>(read.end - bytes.data);
  reached[1] = read.index;
  reached[2] = read.shortest ? 1 : 0;
  return nullptr;
}

}  // namespace

bool exportFloat32List(napi_env env, napi_value exports) {
  return setFunction(env, exports, "readFloat32List", readFloat32List);
}

}  // namespace shoal
