// The vector instructions of the machines that there are kernels for.
#pragma once

#if defined(__x86_64__)
#if defined(__GNUC__) && !defined(__clang__)
// GCC 12's own header makes its "undefined" registers by `__Y = __Y` and then warns of them wherever they are inlined.
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif
