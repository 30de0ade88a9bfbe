/* LD_PRELOAD shim: fsync and fdatasync of files whose path contains the text in the file $SYNC_FAULT fail with EIO.
 * While that file is missing or empty nothing fails. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int must_fail(int fd) {
  const char *control = getenv("SYNC_FAULT");
  if (control == NULL) return 0;
  int saved = errno;
  char wanted[512] = {0}, link[64], path[1024] = {0};
  int file = open(control, O_RDONLY | O_CLOEXEC);
  ssize_t length = file < 0 ? 0 : read(file, wanted, sizeof wanted - 1);
  if (file >= 0) close(file);
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t got = readlink(link, path, sizeof path - 1);
  errno = saved;
  return length > 0 && got > 0 && strstr(path, wanted) != NULL;
}

static int call(const char *name, int fd) {
  if (must_fail(fd)) {
    errno = EIO;
    return -1;
  }
  int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, name);
  return real(fd);
}

int fsync(int fd) { return call("fsync", fd); }
int fdatasync(int fd) { return call("fdatasync", fd); }
