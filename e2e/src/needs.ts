import { accessSync, constants, statSync } from "node:fs";
import { delimiter, join } from "node:path";
import { hasMemoryGroups } from "./memory-group.js";

/**
 * What a test may need of the machine beside Node and the built server. A test whose needs are not met is skipped, and its
 * name says what they are: `it.skipIf(lacks("etcd"))("… (needs etcd)", …)`.
 */
export type Need = Program | "root" | "C compiler" | "memory control group";

/** By the name of the command. */
type Program =
  | "buildah"
  | "chromium"
  | "curl"
  | "etcd"
  | "etcdctl"
  | "haproxy"
  | "ip"
  | "mount"
  | "nft"
  | "strace"
  | "unshare"
  | "unzip";

/** Whether this machine does not have one of them. */
export function lacks(...needs: readonly Need[]): boolean {
  return !needs.every(isThere);
}

function isThere(need: Need): boolean {
  if (need === "root") return process.getuid?.() === 0;
  if (need === "memory control group") return hasMemoryGroups();
  // Rows call it so.
  return isProgram(need === "C compiler" ? (process.env.CC ?? "cc") : need);
}

function isProgram(name: string): boolean {
  const places = name.includes("/") ? [""] : (process.env.PATH ?? "").split(delimiter).filter((place) => place !== "");
  return places.some((place) => {
    try {
      const path = join(place, name);
      accessSync(path, constants.X_OK);
      return statSync(path).isFile();
    } catch {
      return false;
    }
  });
}
