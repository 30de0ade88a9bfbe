import { describe, expect, it } from "vitest";
import { memoryLimit } from "./memory-limit.js";

const MIB = 1024 * 1024;
const MACHINE = 8_192 * MIB;

const V1_MOUNT = "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory";
const OTHER_V1_MOUNT = "32 31 0:29 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu";
const V2_MOUNT = "41 31 0:38 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate";

function limitOf(files: Readonly<Record<string, string>>) {
  const { bytes, source } = memoryLimit((path) => files[path], MACHINE);
  return { mib: bytes / MIB, source };
}

const ofMachine = { mib: 8_192, source: "the memory of the machine" };

describe("memoryLimit", () => {
  it("is the memory of the machine where there are no control groups", () => {
    expect(limitOf({})).toEqual(ofMachine);
    expect(limitOf({ "/proc/self/cgroup": "garbage\n\n1:memory", "/proc/self/mountinfo": "x - y\n-" })).toEqual(
      ofMachine,
    );
    expect(limitOf({ "/proc/self/cgroup": "0::/a\n" })).toEqual(ofMachine);
  });

  it("is memory.max of the own group", () => {
    const files = { "/proc/self/cgroup": "0::/a.slice/b.service\n", "/proc/self/mountinfo": V2_MOUNT };
    const own = { ...files, "/sys/fs/cgroup/a.slice/b.service/memory.max": `${600 * MIB}\n` };
    expect(limitOf(own)).toEqual({ mib: 600, source: "memory.max of control group /a.slice/b.service" });
    expect(limitOf({ ...own, "/sys/fs/cgroup/a.slice/b.service/memory.max": "max\n" })).toEqual(ofMachine);
    expect(limitOf(files)).toEqual(ofMachine);
  });

  it("is that of a group above when that is less", () => {
    const files = {
      "/proc/self/cgroup": "0::/a/b/c\n",
      "/proc/self/mountinfo": V2_MOUNT,
      "/sys/fs/cgroup/a/b/c/memory.max": "max\n",
      "/sys/fs/cgroup/a/b/memory.max": `${900 * MIB}\n`,
      "/sys/fs/cgroup/a/memory.max": `${700 * MIB}\n`,
      "/sys/fs/cgroup/memory.max": `${4_000 * MIB}\n`,
    };
    expect(limitOf(files)).toEqual({ mib: 700, source: "memory.max of control group /a" });
    expect(limitOf({ ...files, "/sys/fs/cgroup/a/b/c/memory.max": `${100 * MIB}` }).mib).toBe(100);
  });

  it("is memory.limit_in_bytes of version 1, where a number that no machine has says none", () => {
    const files = {
      "/proc/self/cgroup": "5:cpu,cpuacct:/x\n4:memory:/one/two\n0::/\n",
      "/proc/self/mountinfo": [OTHER_V1_MOUNT, V1_MOUNT, V2_MOUNT].join("\n"),
      "/sys/fs/cgroup/memory/one/two/memory.limit_in_bytes": "9223372036854771712\n",
      "/sys/fs/cgroup/cpu/x/memory.limit_in_bytes": "1",
    };
    expect(limitOf(files)).toEqual(ofMachine);
    expect(limitOf({ ...files, "/sys/fs/cgroup/memory/one/memory.limit_in_bytes": `${512 * MIB}\n` })).toEqual({
      mib: 512,
      source: "memory.limit_in_bytes of control group /one",
    });
  });

  it("is found in a container, which sees its own part of the hierarchy alone", () => {
    const part = V1_MOUNT.replace(" / ", " /docker/abc ");
    const v1 = { "/proc/self/mountinfo": part, "/sys/fs/cgroup/memory/memory.limit_in_bytes": `${300 * MIB}` };
    const found = { mib: 300, source: "memory.limit_in_bytes of control group /docker/abc" };
    expect(limitOf({ ...v1, "/proc/self/cgroup": "4:memory:/docker/abc\n" })).toEqual(found);
    // In a name space of its own, and in one whose root lies elsewhere.
    const v2 = { "/proc/self/mountinfo": V2_MOUNT, "/sys/fs/cgroup/memory.max": `${256 * MIB}` };
    expect(limitOf({ ...v2, "/proc/self/cgroup": "0::/\n" }).mib).toBe(256);
    expect(limitOf({ ...v2, "/proc/self/cgroup": "0::/../other\n" }).mib).toBe(256);
  });

  it("reads a path with spaces", () => {
    const mountinfo = V2_MOUNT.replace("/sys/fs/cgroup", "/control\\040groups");
    const files = { "/proc/self/cgroup": "0::/\n", "/proc/self/mountinfo": mountinfo };
    expect(limitOf({ ...files, "/control groups/memory.max": `${200 * MIB}` }).mib).toBe(200);
  });

  it("is found on this machine, whatever it has", () => {
    const { bytes, source } = memoryLimit();
    expect(bytes).toBeGreaterThan(0);
    expect(source).toMatch(/^the memory of the machine$|of control group \//);
  });
});
