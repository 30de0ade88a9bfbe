import { execFileSync, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { root } from "../../source-tree.js";

const DOCKERFILE = join(root, "deploy", "docker", "Dockerfile");

/** The part of an image's configuration that the checks look at. */
export interface ImageConfiguration {
  readonly User: string;
  readonly Cmd: readonly string[];
  readonly Entrypoint: readonly string[];
  readonly Env: readonly string[];
  readonly ExposedPorts: Readonly<Record<string, unknown>>;
  readonly Volumes: Readonly<Record<string, unknown>>;
  readonly StopSignal: string;
  readonly Healthcheck: { readonly Test: readonly string[] };
}

function buildah(...args: readonly string[]): string {
  return execFileSync("buildah", args, { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });
}

/** Fakes for the images that the Dockerfile starts from, made of this machine's packages and the Node that they have. */
export function makeLocalBases(): void {
  const node = execFileSync("node", [join(root, "scripts", "fetch-node.mjs")], { encoding: "utf8" }).trim();
  execFileSync("bash", [join(root, "deploy", "docker", "make-local-bases.sh")], {
    env: { ...process.env, PATH: `${join(node, "bin")}:${process.env.PATH}` },
    stdio: ["ignore", "ignore", "inherit"],
  });
}

/** The version of Node in the name of the image that the Dockerfile builds in. */
export function nodeOfDockerfile(): string | undefined {
  return /^ARG BUILD_IMAGE=\S+\/node:(\d+)-/m.exec(readFileSync(DOCKERFILE, "utf8"))?.[1];
}

/** Builds a target of the Dockerfile; what targets share is built once. */
export function buildImage(target: string): string {
  const name = `localhost/shoal-check-${target}`;
  const bases = ["BUILD_IMAGE=localhost/shoal-build-base", "RUN_IMAGE=localhost/shoal-run-base"];
  buildah(
    ...[
      "build",
      "--quiet",
      "--isolation",
      "chroot",
      "--layers",
      "--format",
      "docker",
      "--target",
      target,
      "--tag",
      name,
    ],
    ...bases.flatMap((base) => ["--build-arg", base]),
    ...["--file", DOCKERFILE, "--ignorefile", `${DOCKERFILE}.dockerignore`, root],
  );
  return name;
}

export function configurationOf(image: string): ImageConfiguration {
  return JSON.parse(buildah("inspect", "--type", "image", image)).Docker.config as ImageConfiguration;
}

/** The files of an image, mounted; disposing of it takes them away again. */
export function mountImage(image: string): { readonly folder: string } & Disposable {
  const container = buildah("from", image).trim();
  return {
    folder: buildah("mount", container).trim(),
    [Symbol.dispose]: () => void spawnSync("buildah", ["rm", container]),
  };
}

/** How an engine would start it: its user, a read-only root, one writable volume, its environment and nothing else. */
export function startInImage(
  folder: string,
  { User, Env, Entrypoint }: Pick<ImageConfiguration, "User" | "Env" | "Entrypoint">,
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
) {
  const place = mkdtempSync(join(tmpdir(), "shoal-image-"));
  const script = [
    'mount --bind "$1" "$2" && mount -o remount,bind,ro "$2"',
    'mount -t tmpfs -o uid=65532,gid=65532 tmpfs "$2/var/lib/shoal"',
    'mount --rbind /proc "$2/proc" && mount --rbind /dev "$2/dev"',
    'target=$2 user=$3; shift 3; exec chroot --userspec="$user" "$target" "$@"',
  ].join(" && ");
  const own = Object.fromEntries(Env.map((one) => one.split(/=(.*)/s).slice(0, 2)));
  const child = spawn("unshare", ["--mount", "sh", "-c", script, "sh", folder, place, User, ...Entrypoint, ...args], {
    env: { ...own, ...environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (output += String(chunk)));
  const ended = new Promise<number | null>((resolve) => {
    child.on("close", (code) => {
      rmdirSync(place);
      resolve(code);
    });
  });
  return { child, ended, output: () => output };
}
