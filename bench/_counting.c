/* Counts what a process copies, allocates, and hands to or takes from the kernel. `_counting.py` loads it with LD_PRELOAD.

   The counters are in a file of shared memory per process ($GOSSAMER_COUNTS/PID), so that another process can read them
   while this one runs. The hook sees calls of the C library: short copies that a compiler writes as plain moves, and
   conversions (UTF-8 to a str of wide characters) that are loops, are not among them. A block that realloc moves counts
   as a copy of its old content. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

/* The order is that of `Counts` in _counting.py. */
enum { ALLOCATIONS, ALLOCATED, COPIES, COPIED, SYSTEM_CALLS, CROSSED, COUNTERS };
static uint64_t local[COUNTERS], *counters = local;

static inline void count(int which, uint64_t by) {
    __atomic_fetch_add(&counters[which], 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&counters[which + 1], by, __ATOMIC_RELAXED);
}

static void map_counters(void) {
    const char *folder = getenv("GOSSAMER_COUNTS");
    char path[4096];
    if (folder == NULL) return;
    snprintf(path, sizeof path, "%s/%d", folder, getpid());
    int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0) return;
    if (ftruncate(file, sizeof local) == 0) {
        void *at = mmap(NULL, sizeof local, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        if (at != MAP_FAILED) counters = at;
    }
    close(file);
}

__attribute__((constructor)) static void begin(void) {
    map_counters();
    pthread_atfork(NULL, NULL, map_counters);
}

/* Blocks of memory. */

void *malloc(size_t size) { count(ALLOCATIONS, size); return __libc_malloc(size); }
void *calloc(size_t n, size_t size) { count(ALLOCATIONS, n * size); return __libc_calloc(n, size); }
void *memalign(size_t align, size_t size) { count(ALLOCATIONS, size); return __libc_memalign(align, size); }
void *aligned_alloc(size_t align, size_t size) { return memalign(align, size); }
int posix_memalign(void **at, size_t align, size_t size) {
    *at = memalign(align, size);
    return *at == NULL ? ENOMEM : 0;
}
void *realloc(void *old, size_t size) {
    size_t had = old == NULL ? 0 : malloc_usable_size(old);
    uintptr_t before = (uintptr_t)old;
    void *now = __libc_realloc(old, size);
    if (before == 0) count(ALLOCATIONS, size);
    else if ((uintptr_t)now == before) { if (size > had) count(ALLOCATIONS, size - had); }
    else if (now != NULL) { count(ALLOCATIONS, size); count(COPIES, had < size ? had : size); }
    return now;
}

/* Copies. The first ones come before the real functions can be looked up. */

typedef void *move_function(void *, const void *, size_t);
static move_function *real_move;
static int is_looking;

static void *plainly(void *to, const void *from, size_t size) {
    volatile unsigned char *t = to;
    const unsigned char *f = from;
    if (t < f) for (size_t at = 0; at < size; at++) t[at] = f[at];
    else while (size-- > 0) t[size] = f[size];
    return to;
}
static void *move(void *to, const void *from, size_t size) {
    count(COPIES, size);
    if (real_move == NULL) {
        if (is_looking) return plainly(to, from, size);
        is_looking = 1;
        real_move = (move_function *)dlsym(RTLD_NEXT, "memmove");
        is_looking = 0;
        if (real_move == NULL) return plainly(to, from, size);
    }
    return real_move(to, from, size);
}
void *memcpy(void *restrict to, const void *restrict from, size_t size) { return move(to, from, size); }
void *memmove(void *to, const void *from, size_t size) { return move(to, from, size); }
void *mempcpy(void *restrict to, const void *restrict from, size_t size) { return (char *)move(to, from, size) + size; }
void *__memcpy_chk(void *to, const void *from, size_t size, size_t room) { (void)room; return move(to, from, size); }
void *__memmove_chk(void *to, const void *from, size_t size, size_t room) { (void)room; return move(to, from, size); }

/* Bytes between the process and the kernel. */

#define REAL(name, result, ...) \
    static result (*real)(__VA_ARGS__); \
    if (real == NULL) real = (result (*)(__VA_ARGS__))dlsym(RTLD_NEXT, name)
static inline ssize_t crossed(ssize_t size) { count(SYSTEM_CALLS, size > 0 ? size : 0); return size; }

ssize_t read(int file, void *to, size_t size) {
    REAL("read", ssize_t, int, void *, size_t);
    return crossed(real(file, to, size));
}
ssize_t write(int file, const void *from, size_t size) {
    REAL("write", ssize_t, int, const void *, size_t);
    return crossed(real(file, from, size));
}
ssize_t readv(int file, const struct iovec *parts, int n) {
    REAL("readv", ssize_t, int, const struct iovec *, int);
    return crossed(real(file, parts, n));
}
ssize_t writev(int file, const struct iovec *parts, int n) {
    REAL("writev", ssize_t, int, const struct iovec *, int);
    return crossed(real(file, parts, n));
}
ssize_t recv(int file, void *to, size_t size, int flags) {
    REAL("recv", ssize_t, int, void *, size_t, int);
    return crossed(real(file, to, size, flags));
}
ssize_t send(int file, const void *from, size_t size, int flags) {
    REAL("send", ssize_t, int, const void *, size_t, int);
    return crossed(real(file, from, size, flags));
}
ssize_t recvmsg(int file, struct msghdr *message, int flags) {
    REAL("recvmsg", ssize_t, int, struct msghdr *, int);
    return crossed(real(file, message, flags));
}
ssize_t sendmsg(int file, const struct msghdr *message, int flags) {
    REAL("sendmsg", ssize_t, int, const struct msghdr *, int);
    return crossed(real(file, message, flags));
}
ssize_t pread64(int file, void *to, size_t size, off64_t at) {
    REAL("pread64", ssize_t, int, void *, size_t, off64_t);
    return crossed(real(file, to, size, at));
}
ssize_t pwrite64(int file, const void *from, size_t size, off64_t at) {
    REAL("pwrite64", ssize_t, int, const void *, size_t, off64_t);
    return crossed(real(file, from, size, at));
}
