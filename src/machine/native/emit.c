#include "machine/native/emit.h"

const struct fm_emitter *fm_emitter_here(void)
{
#if defined(__aarch64__) && defined(__AARCH64EL__)
    return &fm_emit_aarch64;
#elif defined(__x86_64__)
    return &fm_emit_x86_64;
#elif defined(__riscv) && __riscv_xlen == 64
    return &fm_emit_riscv64;
#elif defined(__powerpc64__) && defined(__LITTLE_ENDIAN__)
    return &fm_emit_ppc64le;
#else
    return NULL;
#endif
}
