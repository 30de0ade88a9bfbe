// CRC-32C (Castagnoli, reflected polynomial 0x82f63b78): by the instruction that x86-64 (SSE 4.2) and most ARMv8 have for
// it, or by eight tables ("slicing-by-8", Kounavis and Berry 2005). RocksDB checksums its files with it.
#include <cstring>

#include "addon-exports.h"
#include "node-arguments.h"

#if defined(__x86_64__)
#include <nmmintrin.h>
#elif defined(__aarch64__)
#if defined(__linux__)
#include <sys/auxv.h>
#endif
#endif

namespace shoal {
namespace {

using Step = uint32_t (*)(uint32_t crc, const uint8_t* bytes, size_t length);

struct Tables {
  uint32_t of[8][256];

  Tables() {
    for (uint32_t byte = 0; byte < 256; byte++) {
      uint32_t crc = byte;
      for (int bit = 0; bit < 8; bit++) crc = (crc & 1) != 0 ? (crc >> 1) ^ 0x82f63b78u : crc >> 1;
      of[0][byte] = crc;
    }
    for (int zeros = 1; zeros < 8; zeros++)
      for (int byte = 0; byte < 256; byte++)
        of[zeros][byte] = (of[zeros - 1][byte] >> 8) ^ of[0][of[zeros - 1][byte] & 0xff];
  }
};

uint32_t stepByTables(uint32_t crc, const uint8_t* bytes, size_t length) {
  static const Tables tables;
  const auto& of = tables.of;
  for (; length >= 8; bytes += 8, length -= 8) {
    const uint32_t low =
        crc ^ (bytes[0] | uint32_t{bytes[1]} << 8 | uint32_t{bytes[2]} << 16 | uint32_t{bytes[3]} << 24);
    crc = of[7][low & 0xff] ^ of[6][(low >> 8) & 0xff] ^ of[5][(low >> 16) & 0xff] ^ of[4][low >> 24] ^
          of[3][bytes[4]] ^ of[2][bytes[5]] ^ of[1][bytes[6]] ^ of[0][bytes[7]];
  }
  for (; length != 0; bytes++, length--) crc = (crc >> 8) ^ of[0][(crc ^ *bytes) & 0xff];
  return crc;
}

#if defined(__x86_64__)

__attribute__((target("sse4.2"))) uint32_t stepBySse42(uint32_t crc, const uint8_t* bytes, size_t length) {
  uint64_t wide = crc;
  for (; length >= 8; bytes += 8, length -= 8) {
    uint64_t word;
    std::memcpy(&word, bytes, 8);
    wide = _mm_crc32_u64(wide, word);
  }
  crc = static_cast<uint32_t>(wide);
  for (; length != 0; bytes++, length--) crc = _mm_crc32_u8(crc, *bytes);
  return crc;
}

Step fastestStep() {
  __builtin_cpu_init();
  return __builtin_cpu_supports("sse4.2") ? stepBySse42 : stepByTables;
}

#elif defined(__aarch64__)

// The intrinsics of arm_acle.h are only there when the whole file is compiled for them.
uint32_t crcOfWord(uint32_t crc, uint64_t word) {
  __asm__(".arch_extension crc\n\tcrc32cx %w0, %w0, %x1" : "+r"(crc) : "r"(word));
  return crc;
}

uint32_t crcOfByte(uint32_t crc, uint8_t byte) {
  __asm__(".arch_extension crc\n\tcrc32cb %w0, %w0, %w1" : "+r"(crc) : "r"(uint32_t{byte}));
  return crc;
}

uint32_t stepByArm(uint32_t crc, const uint8_t* bytes, size_t length) {
  for (; length >= 8; bytes += 8, length -= 8) {
    uint64_t word;
    std::memcpy(&word, bytes, 8);
    crc = crcOfWord(crc, word);
  }
  for (; length != 0; bytes++, length--) crc = crcOfByte(crc, *bytes);
  return crc;
}

Step fastestStep() {
#if defined(__linux__)
  constexpr unsigned long HAS_CRC32 = 1 << 7;  // HWCAP_CRC32
  return (getauxval(AT_HWCAP) & HAS_CRC32) != 0 ? stepByArm : stepByTables;
#elif defined(__APPLE__)
  return stepByArm;  // every 64-bit Mac has it
#else
  return stepByTables;
#endif
}

#else

Step fastestStep() { return stepByTables; }

#endif

/** CRC-32C of the bytes, going on from the CRC of what is before them. */
uint32_t crc32c(const uint8_t* bytes, size_t length, uint32_t before) {
  static const Step step = fastestStep();
  return ~step(~before, bytes, length);
}

/** The same without instructions of its own: for machines that have none, and to compare with. */
uint32_t crc32cPortable(const uint8_t* bytes, size_t length, uint32_t before) {
  return ~stepByTables(~before, bytes, length);
}

template <uint32_t (*crcOf)(const uint8_t*, size_t, uint32_t)>
napi_value crcOfRange(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  const Bytes bytes = arguments.bytes();
  const uint32_t from = arguments.unsigned32();
  const uint32_t to = arguments.unsigned32();
  const uint32_t before = arguments.unsigned32();
  if (!arguments.ok || from > to || to > bytes.length)
    return fail(env, "crc32c(bytes, from, to, before) needs a Uint8Array, a range in it and a CRC");
  return makeNumber(env, from == to ? before : crcOf(bytes.data + from, to - from, before));
}

}  // namespace

bool exportCrc32c(napi_env env, napi_value exports) {
  return setFunction(env, exports, "crc32c", crcOfRange<crc32c>) &&
         setFunction(env, exports, "crc32cPortable", crcOfRange<crc32cPortable>);
}

}  // namespace shoal
