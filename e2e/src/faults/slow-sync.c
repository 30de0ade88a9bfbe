/* LD_PRELOAD shim: fsync and fdatasync of files whose path contains a text take longer. The file $SYNC_DELAY says it, as
 * "milliseconds text"; while it is missing or empty nothing does. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void delay(int fd) {
  const char *control = getenv("SYNC_DELAY");
  if (control == NULL) return;
  int saved = errno, milliseconds = 0;
  char line[512] = {0}, text[512] = {0}, link[64], path[1024] = {0};
  int file = open(control, O_RDONLY | O_CLOEXEC);
  ssize_t length = file < 0 ? 0 : read(file, line, sizeof line - 1);
  if (file >= 0) close(file);
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t got = readlink(link, path, sizeof path - 1);
  if (length > 0 && got > 0 && sscanf(line, "%d %511s", &milliseconds, text) == 2 && strstr(path, text) != NULL)
    usleep(milliseconds * 1000);
  errno = saved;
}

static int call(const char *name, int fd) {
  delay(fd);
  int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, name);
  return real(fd);
}

int fsync(int fd) { return call("fsync", fd); }
int fdatasync(int fd) { return call("fdatasync", fd); }
