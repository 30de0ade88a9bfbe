// Fetches the Node that the images run on, of a pinned version, and prints its folder: node scripts/fetch-node.mjs
// It comes out of a package of the npm registry, into the cache folder of the user; one that is there is used. Needs tar.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

const VERSION = "24.21.0";

const SHA512 = {
  "linux-x64": "3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==",
  "linux-arm64": "FpJRPEz2OvvTLfjIOlNGFY9JLPMKgl5m+d4oGYBLg24kJ1mmvN1Zl/HPJgF4HDaJ51ISev1l1cRZ/DM+keXW5g==",
};

/** The folder of Node `VERSION`, with `bin/node` in it. */
function fetchNode() {
  const platform = `${process.platform}-${process.arch}`;
  if (!Object.hasOwn(SHA512, platform)) {
    throw new Error(`Node ${VERSION} is fetched for ${Object.keys(SHA512).join(", ")}, this is ${platform}`);
  }
  const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "shoal");
  const folder = join(cache, `node-${VERSION}-${platform}`);
  if (existsSync(folder)) return folder;
  mkdirSync(cache, { recursive: true });
  const work = mkdtempSync(join(cache, "fetch-"));
  try {
    const name = `node-${platform}@${VERSION}`;
    const said = execFileSync("npm", ["pack", "--json", "--pack-destination", work, name], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
    const file = join(work, JSON.parse(said)[0].filename);
    const found = createHash("sha512").update(readFileSync(file)).digest("base64");
    if (found !== SHA512[platform]) throw new Error(`${name} has the checksum ${found}, not ${SHA512[platform]}`);
    execFileSync("tar", ["-xzf", file, "-C", work]);
    if (!existsSync(folder)) renameSync(join(work, "package"), folder);
    return folder;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

console.log(fetchNode());
