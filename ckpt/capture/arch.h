/* arch.h - the processor for which this is built.  Capture and restore know x86-64 only; a port
 * writes its own header and sources beside x86_64.h, x86_64.c and x86_64_cpu.c. */
#ifndef CKPT_CAPTURE_ARCH_H
#define CKPT_CAPTURE_ARCH_H

#if defined(__x86_64__) && defined(__LP64__)
#include "ckpt/capture/x86_64.h"
#else
#error "snapshots are implemented for x86-64 only: configure without them"
#endif

#endif
