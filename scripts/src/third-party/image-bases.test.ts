import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { baseImages, pinnedArgument } from "./image-bases.js";

const DIGEST = `sha256:${"a1".repeat(32)}`;
const images = baseImages(readFileSync(new URL("../../../deploy/docker/Dockerfile", import.meta.url), "utf8"));
const [build] = images;
if (build === undefined) throw new Error("the Dockerfile starts from an image");

it("S9: finds what the Dockerfile starts from", () => {
  expect(images).toEqual([
    { argument: "BUILD_IMAGE", registry: "docker.io", repository: "library/node", tag: expect.stringMatching(/^\d+-/) },
    { argument: "RUN_IMAGE", registry: "gcr.io", repository: expect.stringMatching(/^distroless\//), tag: "nonroot" },
  ]);
});

it("S9: asks the registry for the digest, with the token that it wants", async () => {
  const asked: string[] = [];
  const send = async (url: unknown, init: RequestInit = {}): Promise<Response> => {
    asked.push(String(url));
    if (String(url).startsWith("https://auth.example/")) return Response.json({ token: "t" });
    if (new Headers(init.headers).get("Authorization") !== "Bearer t") {
      const challenge =
        'Bearer realm="https://auth.example/token",service="registry",scope="repository:library/node:pull"';
      return new Response(null, { status: 401, headers: { "WWW-Authenticate": challenge } });
    }
    return new Response(null, { headers: { "Docker-Content-Digest": DIGEST } });
  };
  expect(await pinnedArgument(build, send)).toBe(
    `--build-arg BUILD_IMAGE=docker.io/library/node:${build.tag}@${DIGEST}`,
  );
  const manifest = `https://registry-1.docker.io/v2/library/node/manifests/${build.tag}`;
  const token = "https://auth.example/token?service=registry&scope=repository%3Alibrary%2Fnode%3Apull";
  expect(asked).toEqual([manifest, token, manifest]);
});

it("S9: says which registry does not answer, or has no such image", async () => {
  const away = async (): Promise<Response> => {
    throw new TypeError("fetch failed");
  };
  await expect(pinnedArgument(build, away)).rejects.toThrow("the registry docker.io cannot be reached");
  const without = async (): Promise<Response> => new Response(null, { status: 404 });
  await expect(pinnedArgument(build, without)).rejects.toThrow(/has no digest of library\/node:.* \(404\)/);
  const odd = async (): Promise<Response> =>
    new Response(null, { status: 401, headers: { "WWW-Authenticate": 'Bearer realm="http://auth.example"' } });
  await expect(pinnedArgument(build, odd)).rejects.toThrow("names no place for a token");
});
