/* LD_PRELOAD shim: reads at a place (pread, and preadv2 that is not to wait) of files whose path contains a text find nothing in the
 * page cache and take longer. The file $READ_DELAY says it, as "milliseconds text"; while it is missing or empty nothing does. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

/* Milliseconds that a read of the file takes longer. */
static int delayOf(int fd) {
  const char *control = getenv("READ_DELAY");
  if (control == NULL) return 0;
  int saved = errno, milliseconds = 0;
  char line[512] = {0}, text[512] = {0}, link[64], path[1024] = {0};
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t got = readlink(link, path, sizeof path - 1);
  int file = open(control, O_RDONLY | O_CLOEXEC);
  ssize_t length = file < 0 ? 0 : read(file, line, sizeof line - 1);
  if (file >= 0) close(file);
  errno = saved;
  int isSlow = length > 0 && got > 0 && sscanf(line, "%d %511s", &milliseconds, text) == 2 && strstr(path, text) != NULL;
  return isSlow ? milliseconds : 0;
}

static ssize_t slowly(const char *name, int fd, void *bytes, size_t count, off_t place) {
  ssize_t (*real)(int, void *, size_t, off_t) = (ssize_t (*)(int, void *, size_t, off_t))dlsym(RTLD_NEXT, name);
  for (int left = delayOf(fd); left > 0 && delayOf(fd) > 0; left -= 5) usleep(5000);
  return real(fd, bytes, count, place);
}

ssize_t pread(int fd, void *bytes, size_t count, off_t place) { return slowly("pread", fd, bytes, count, place); }
ssize_t pread64(int fd, void *bytes, size_t count, off_t place) { return slowly("pread64", fd, bytes, count, place); }

ssize_t preadv2(int fd, const struct iovec *parts, int count, off_t place, int flags) {
  ssize_t (*real)(int, const struct iovec *, int, off_t, int) =
      (ssize_t (*)(int, const struct iovec *, int, off_t, int))dlsym(RTLD_NEXT, "preadv2");
  if ((flags & RWF_NOWAIT) != 0 && delayOf(fd) > 0) {
    errno = EAGAIN;
    return -1;
  }
  return real(fd, parts, count, place, flags);
}
