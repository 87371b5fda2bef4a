/* Lets a program that runs under callgrind say what is counted: `instructions.py` calls it around each part. */
#include <valgrind/callgrind.h>

void counting_on(void) {
    CALLGRIND_START_INSTRUMENTATION;
    CALLGRIND_ZERO_STATS;
}

/* Writes what was counted since into the next file. */
void counting_off(const char *part) {
    CALLGRIND_DUMP_STATS_AT(part);
    CALLGRIND_STOP_INSTRUMENTATION;
}
