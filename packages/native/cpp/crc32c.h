#pragma once
#include <node_api.h>

#include <cstddef>
#include <cstdint>

namespace shoal {

/** CRC-32C (Castagnoli) of the bytes, going on from the CRC of what is before them. */
uint32_t crc32c(const uint8_t* bytes, size_t length, uint32_t before);

/** The same without instructions of its own: for machines that have none, and to compare with. */
uint32_t crc32cPortable(const uint8_t* bytes, size_t length, uint32_t before);

bool exportCrc32c(napi_env env, napi_value exports);

}  // namespace shoal
