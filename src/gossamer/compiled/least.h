/* The smallest products of min-hash: 100 multiplications of 64 bits a run, the one loop for which it is worth asking
 * the processor what it can. GCC makes a version for each, and glibc chooses; elsewhere there is one. */
#include <stddef.h>
#include <stdint.h>

#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 9
#define FOR_EACH_PROCESSOR __attribute__((target_clones("arch=skylake-avx512", "avx2", "default")))
#else
#define FOR_EACH_PROCESSOR
#endif

FOR_EACH_PROCESSOR
static void least_products(const uint64_t *factors, size_t number, const uint64_t *runs, size_t count, uint64_t *least) {
    for (size_t one = 0; one < number; one++) {
        uint64_t factor = factors[one], a = UINT64_MAX, b = a, c = a, d = a, e = a, f = a, g = a, h = a;
        size_t at = 0;
        for (; at + 8 <= count; at += 8) {
            uint64_t v0 = runs[at] * factor, v1 = runs[at + 1] * factor, v2 = runs[at + 2] * factor;
            uint64_t v3 = runs[at + 3] * factor, v4 = runs[at + 4] * factor, v5 = runs[at + 5] * factor;
            uint64_t v6 = runs[at + 6] * factor, v7 = runs[at + 7] * factor;
            a = v0 < a ? v0 : a;
            b = v1 < b ? v1 : b;
            c = v2 < c ? v2 : c;
            d = v3 < d ? v3 : d;
            e = v4 < e ? v4 : e;
            f = v5 < f ? v5 : f;
            g = v6 < g ? v6 : g;
            h = v7 < h ? v7 : h;
        }
        for (; at < count; at++) {
            uint64_t v = runs[at] * factor;
            a = v < a ? v : a;
        }
        a = b < a ? b : a;
        c = d < c ? d : c;
        e = f < e ? f : e;
        g = h < g ? h : g;
        a = c < a ? c : a;
        e = g < e ? g : e;
        least[one] = e < a ? e : a;
    }
}
