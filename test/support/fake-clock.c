/* A wall clock that a file sets: its text is how many seconds the clock is ahead. Preloaded by fake-clock.ts. The
   monotonic clock stays as it is. (libfaketime does not work in redis-server: its allocator asks for the time.) */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static long long ahead(void) {
  char text[32] = {0};
  const char *name = getenv("FAKE_CLOCK_FILE");
  int file = name ? open(name, O_RDONLY) : -1;
  if (file < 0) return 0;
  if (read(file, text, sizeof text - 1) < 0) text[0] = 0;
  close(file);
  return atoll(text);
}

int clock_gettime(clockid_t id, struct timespec *now) {
  int failed = syscall(SYS_clock_gettime, id, now);
  if (!failed && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE)) now->tv_sec += ahead();
  return failed;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
  struct timespec exact;
  int failed = clock_gettime(CLOCK_REALTIME, &exact);
  (void)zone;
  now->tv_sec = exact.tv_sec;
  now->tv_usec = exact.tv_nsec / 1000;
  return failed;
}

time_t time(time_t *into) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (into) *into = now.tv_sec;
  return now.tv_sec;
}
