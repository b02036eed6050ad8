/* x86_64_cpu.c - which instructions this processor has.
 *
 * libc and compilers choose code by these bits when a program starts, so an image may only go on
 * where all of them are offered.  Bits that only say how fast or how vulnerable a processor is do
 * not count. */
#include "ckpt/capture/identity.h"

#if defined(__x86_64__)

#include <cpuid.h>

#include "ckpt/capture/linux.h"

#define GET_CPUID 0x1011 /* of arch_prctl: 0 when the program has disabled cpuid for itself */
#define SET_CPUID 0x1012

static const struct leaf {
    uint32_t leaf, subleaf;
    int output; /* 0 to 3: eax, ebx, ecx, edx */
    uint32_t counts;
} leaves[8] = {
    {1, 0, 2, 0x76d83203},           /* SSE3 .. RDRAND */
    {1, 0, 3, 0x07808111},           /* FPU, TSC, CX8, CMOV, MMX .. SSE2 */
    {7, 0, 1, 0xfdaf0b29},           /* FSGSBASE, BMI, AVX2, ERMS, RTM, AVX-512, SHA .. */
    {7, 0, 2, 0x18405f42},           /* AVX-512 VBMI, GFNI, VAES, VPCLMUL .. */
    {7, 0, 3, 0x03c0410c},           /* AVX-512 4VNNIW, 4FMAPS, VP2INTERSECT, FP16, AMX */
    {7, 1, 0, 0x00800030},           /* AVX-VNNI, AVX-512 BF16, AVX-IFMA */
    {0x80000001u, 0, 2, 0x00210961}, /* LAHF, LZCNT, SSE4A, PREFETCHW */
    {0xd, 0, 0, 0x000600e7},         /* parts of the extended state that the system saves */
};

static const struct {
    int word;
    uint32_t bit;
    const char *name;
} names[] = {
    {0, 0, "SSE3"},       {0, 9, "SSSE3"},      {0, 12, "FMA"},      {0, 19, "SSE4.1"},
    {0, 20, "SSE4.2"},    {0, 22, "MOVBE"},     {0, 23, "POPCNT"},   {0, 25, "AES"},
    {0, 28, "AVX"},       {0, 29, "F16C"},      {2, 3, "BMI1"},      {2, 5, "AVX2"},
    {2, 8, "BMI2"},       {2, 9, "ERMS"},       {2, 16, "AVX-512F"}, {2, 17, "AVX-512DQ"},
    {2, 30, "AVX-512BW"}, {2, 31, "AVX-512VL"}, {6, 5, "LZCNT"},     {7, 11, "XSAVEC"},
};

/* How the extended state can be saved: the dynamic loader chooses its resolver by this, once.  Kept
 * in bits of the last word that no extended state uses. */
#define SAVING_LEAF    0xd
#define SAVING_SUBLEAF 1
#define SAVING_COUNTS  0x7u /* XSAVEOPT, XSAVEC, XGETBV with 1 */
#define SAVING_SHIFT   10

void bspz_cpu_features(uint64_t features[8])
{
    static uint64_t known[8];
    static int asked;
    bool forbidden = !asked && bspz_sys2(SYS_arch_prctl, GET_CPUID, 0) == 0;

    if (forbidden)
        bspz_sys2(SYS_arch_prctl, SET_CPUID, 1);
    for (int i = 0; i < 8 && !asked; i++) {
        uint32_t out[4] = {0};

        if (__get_cpuid_count(leaves[i].leaf, leaves[i].subleaf, &out[0], &out[1], &out[2],
                              &out[3]))
            known[i] = out[leaves[i].output] & leaves[i].counts;
    }
    if (!asked) {
        uint32_t out[4] = {0};

        if (__get_cpuid_count(SAVING_LEAF, SAVING_SUBLEAF, &out[0], &out[1], &out[2], &out[3]))
            known[7] |= (uint64_t)(out[0] & SAVING_COUNTS) << SAVING_SHIFT;
    }
    asked = 1;
    if (forbidden)
        bspz_sys2(SYS_arch_prctl, SET_CPUID, 0);
    __builtin_memcpy(features, known, sizeof known);
}

const char *bspz_cpu_lacks(const uint64_t needed[8], const uint64_t offered[8])
{
    for (int i = 0; i < 8; i++) {
        uint64_t missing = needed[i] & ~offered[i];

        for (unsigned n = 0; missing && n < sizeof names / sizeof names[0]; n++)
            if (names[n].word == i && missing >> names[n].bit & 1)
                return names[n].name;
        if (missing)
            return "an instruction set";
    }
    return NULL;
}

#endif
