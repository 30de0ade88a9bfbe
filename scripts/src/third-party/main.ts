// node scripts/run.mjs third-party notice|sbom|bases: what the images hold of others, on stdout; of `bases`, the build arguments
// that pin what they start from.
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ShoalError } from "@shoal/model";
import { EXIT_FAILURE } from "@shoal/service-runtime";
import { cycloneDx } from "./cyclone-dx.js";
import { baseImages, pinnedArgument } from "./image-bases.js";
import { noticeText } from "./notice.js";
import { productionPackages } from "./production-packages.js";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));

async function textOf(what: string | undefined): Promise<string> {
  if (what === "notice") return noticeText(productionPackages(ROOT));
  if (what === "bases") {
    const images = baseImages(readFileSync(join(ROOT, "deploy", "docker", "Dockerfile"), "utf8"));
    return (await Promise.all(images.map((image) => pinnedArgument(image, fetch)))).map((line) => `${line}\n`).join("");
  }
  if (what !== "sbom") throw new ShoalError("invalid", "usage: node scripts/run.mjs third-party notice|sbom|bases");
  const { version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { readonly version: string };
  const about = { shoalVersion: version, serial: randomUUID(), nowMs: Date.now() };
  return `${JSON.stringify(cycloneDx(productionPackages(ROOT), about), undefined, 2)}\n`;
}

try {
  process.stdout.write(await textOf(process.argv[2]));
} catch (thrown) {
  console.error(`shoal: ${ShoalError.from(thrown).message}`);
  process.exitCode = EXIT_FAILURE;
}
