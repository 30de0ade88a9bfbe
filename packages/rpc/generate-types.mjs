// Writes the types of `protos/` to the folder that is given, `src/generated` when none is.
import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const here = fileURLToPath(new URL(".", import.meta.url));
const root = join(here, "..", "..");
const target = process.argv[2] ?? join(here, "src", "generated");
const protos = readdirSync(join(root, "protos", "shoal")).map((name) => `shoal/${name}`);
const options = ["--longs=Number", "--enums=Number", "--defaults", "--importFileExtension=.js"];
const drawn = mkdtempSync(join(tmpdir(), "shoal-protos-"));
try {
  execFileSync(
    join(here, "node_modules", ".bin", "proto-loader-gen-types"),
    [...options, "--grpcLib=@grpc/grpc-js", "-I", "protos", "-O", drawn, ...protos],
    { cwd: root },
  );
  rmSync(target, { recursive: true, force: true });
  // What stands beside the package's folder is only for loading packages whole, which nobody does.
  cpSync(join(drawn, "shoal"), join(target, "shoal"), { recursive: true });
  // Clients with a method each in eight forms: the near sides call by definition.
  for (const name of readdirSync(join(target, "shoal"))) {
    const path = join(target, "shoal", name);
    const text = readFileSync(path, "utf8");
    writeFileSync(path, text.replace(/export interface \w+Client extends grpc\.Client \{[^}]*\}\n/, ""));
  }
  const biome = join(root, "node_modules", ".bin", "biome");
  execFileSync(biome, ["check", "--write", "--vcs-enabled=false", target], {
    cwd: root,
    stdio: ["ignore", "ignore", "inherit"],
  });
} finally {
  rmSync(drawn, { recursive: true, force: true });
}
