/* system.h - what a tool asks of the machine and the process around it */
#ifndef CLI_SYSTEM_H
#define CLI_SYSTEM_H

#include <stdbool.h>
#include <stdint.h>

/* To be called first in main: makes sure that descriptors 0, 1 and 2 are taken,
 * so that no file of ours becomes "standard input".  A closed one is opened on
 * /dev/null the wrong way round (0 for writing, 1 for reading), so that the first
 * use fails with EBADF as it would have; 2 is opened for writing.  Where even that
 * fails, the process ends with status 2. */
void system_begin(void);

/* The most bytes this process may reasonably ask for: the least of half its
 * address space, physical memory, the cgroup's limits (v2 memory.max and v1 limit_in_bytes, of this
 * group and those above it), RLIMIT_AS and RLIMIT_DATA. */
uint64_t system_memory(void);
/* The cgroups' part of it, with the files sought below `root` ("" on a real
 * machine); UINT64_MAX where nothing limits. */
uint64_t system_group_memory(const char *root);

/* Monotonic time in nanoseconds. */
uint64_t system_clock(void);

/* Nanoseconds since 1970-01-01 UTC, by a clock that can be set. */
uint64_t system_wall_clock(void);

/* The first of INT, TERM and HUP is noted instead of ending the process (those that
 * were ignored stay ignored until then); system calls that wait return EINTR.  Another one
 * ends it, if it does not come at once: then it belongs to the first. */
void system_catch_signals(void);
/* Of several threads this one waits in system calls that a signal is to interrupt, whichever
 * it comes to; false: it does so no longer. */
void system_interrupt_here(bool here);
/* The first signal that came, or 0. */
int system_signal(void);
/* For a tool that draws on a terminal: SIGWINCH and SIGCONT make system_woken true from
 * now on, and before SIGTSTP stops the process `leave` is called, which must be
 * async-signal-safe.  What was ignored stays ignored. */
void system_catch_redraws(void (*leave)(void));
/* Whether one of the first two has come since system_sleep. */
bool system_woken(void);
void system_sleep(void);
/* What main returns: the status, unless a signal was noted; then the process dies by it,
 * as it would have at once. */
int system_end(int status);

/* SIGBUS becomes the message "tool: FILE: shrank while it was being read" and
 * status 2.  For mapped filters.  `file` must stay valid; NULL ends it.  To name
 * another file costs next to nothing, so it may be done for each of several
 * filters in turn. */
void system_guard_mapping(const char *file);

#endif
