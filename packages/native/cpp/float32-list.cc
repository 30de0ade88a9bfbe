// Reads a list of decimal numbers as float32 (Clinger's fast path, as in gateway/src/json/read-float32.ts, whose every
// decision is repeated here): up to 15 digits and a power of ten up to 22 are both exact in a double, so their product or
// quotient is rounded once.
#include <cstddef>
#include <cstdint>

#include "addon-exports.h"
#include "node-arguments.h"

namespace shoal {
namespace {

constexpr int DIGITS_MAX = 15;
constexpr int POWER_MAX = 22;
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
  void pass() { at_++; }
  void passSpaces() {
    while (byte() == ' ') at_++;
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
  return !endsInZero && number.exponent >= -POWER_MAX &&
         static_cast<double>(number.mantissa) / POWERS[-number.exponent] >= LEAST_PLAIN;
}

/** `-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d{1,4})?`; false when something else stands there. */
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
      else if (++number.exponent > POWER_MAX) return false;
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
  int exponent = 0;
  int exponentDigits = 0;
  for (digit = text.digit(); digit <= 9; text.pass(), digit = text.digit()) {
    exponent = exponent * 10 + static_cast<int>(digit);
    if (++exponentDigits > 4) return false;
  }
  number.exponent += isNegative ? -exponent : exponent;
  return exponentDigits > 0;
}

/** The number rounded to float32; false where that takes more than doubles. */
bool rounded(const Spelled& number, float& out) {
  double value = 0;
  if (number.mantissa != 0) {
    if (number.exponent < -POWER_MAX || number.exponent > POWER_MAX) return false;
    const double mantissa = static_cast<double>(number.mantissa);
    value = number.exponent < 0 ? mantissa / POWERS[-number.exponent] : mantissa * POWERS[number.exponent];
  }
  if (number.cut) {
    // The dropped digits are worth less than 1 in a mantissa of at least 1e14; the rest is for the roundings.
    const float least = static_cast<float>(value * (1 - 1e-15));
    if (least != static_cast<float>(value * (1 + 1.2e-14))) return false;
    value = least;
  }
  out = static_cast<float>(number.negative ? -value : value);
  return true;
}

/** readFloat32List(bytes, start, out, index, reached): see src/float32-list.ts. */
napi_value readFloat32List(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  size_t outLength = 0, reachedLength = 0;
  const Bytes bytes = arguments.bytes();
  const uint32_t start = arguments.unsigned32();
  float* out = arguments.elements<float>(napi_float32_array, outLength);
  uint32_t index = arguments.unsigned32();
  uint32_t* reached = arguments.elements<uint32_t>(napi_uint32_array, reachedLength);
  if (!arguments.ok || start > bytes.length || reachedLength < 3)
    return fail(env, "readFloat32List(bytes, start, out, index, reached) needs a place in the bytes and arrays");
  Text text(bytes.data + start, bytes.data + bytes.length);
  bool shortest = true;
  reached[0] = start;
  while (index < outLength) {
    const uint8_t* begun = text.place();
    text.passSpaces();
    shortest = shortest && text.place() == begun;
    Spelled number;
    float value;
    if (!readSpelled(text, number) || !rounded(number, value)) break;
    const uint8_t* behind = text.place();
    text.passSpaces();
    if (text.byte() != ',' && text.byte() != ']') break;
    shortest = shortest && number.shortest && text.place() == behind;
    out[index++] = value;
    reached[0] = static_cast<uint32_t>(text.place() - bytes.data);
    if (text.byte() == ']') break;
    text.pass();
  }
  reached[1] = index;
  reached[2] = shortest ? 1 : 0;
  return nullptr;
}

}  // namespace

bool exportFloat32List(napi_env env, napi_value exports) {
  return setFunction(env, exports, "readFloat32List", readFloat32List);
}

}  // namespace shoal
