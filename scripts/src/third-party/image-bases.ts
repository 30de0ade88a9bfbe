import { ShoalError } from "@shoal/model";

/** A build argument of the Dockerfile that names an image by its tag. */
export interface BaseImage {
  readonly argument: string;
  readonly registry: string;
  readonly repository: string;
  readonly tag: string;
}

const ANSWER_MS_MAX = 30_000;
/** Lists of manifests, for all kinds of machines at once. */
const ACCEPT = "application/vnd.oci.image.index.v1+json, application/vnd.docker.distribution.manifest.list.v2+json";
/** Docker's own registry answers under another name. */
const HOST_OF: Readonly<Record<string, string>> = { "docker.io": "registry-1.docker.io" };

/** The images that a Dockerfile starts from, as `ARG NAME_IMAGE=registry/repository:tag`. */
export function baseImages(dockerfile: string): readonly BaseImage[] {
  return [...dockerfile.matchAll(/^ARG (\w+_IMAGE)=([^/\s]+)\/([^:\s]+):([\w.-]+)$/gm)].map(
    ([, argument = "", registry = "", repository = "", tag = ""]) => ({ argument, registry, repository, tag }),
  );
}

/** `--build-arg NAME=image@sha256:…`: the bytes that the tag stands for now. Fails with `unavailable`, naming the registry. */
export async function pinnedArgument(
  { argument, registry, repository, tag }: BaseImage,
  send: typeof fetch,
): Promise<string> {
  const url = `https://${HOST_OF[registry] ?? registry}/v2/${repository}/manifests/${tag}`;
  const ask = async (headers: Readonly<Record<string, string>>): Promise<Response> => {
    try {
      const signal = AbortSignal.timeout(ANSWER_MS_MAX);
      return await send(url, { method: "HEAD", headers: { Accept: ACCEPT, ...headers }, signal });
    } catch (cause) {
      throw new ShoalError("unavailable", `the registry ${registry} cannot be reached`, { cause });
    }
  };
  let answer = await ask({});
  if (answer.status === 401) {
    const token = await tokenFor(answer.headers.get("www-authenticate") ?? "", registry, send);
    answer = await ask({ Authorization: `Bearer ${token}` });
  }
  const digest = answer.headers.get("docker-content-digest") ?? "";
  if (answer.status !== 200 || !/^sha256:[0-9a-f]{64}$/.test(digest)) {
    throw new ShoalError(
      "unavailable",
      `the registry ${registry} has no digest of ${repository}:${tag} (${answer.status})`,
    );
  }
  return `--build-arg ${argument}=${registry}/${repository}:${tag}@${digest}`;
}

/** What the registry asks for, of whomever it names: `Bearer realm="…",service="…",scope="…"`. */
async function tokenFor(challenge: string, registry: string, send: typeof fetch): Promise<string> {
  const asked = new Map([...challenge.matchAll(/(\w+)="([^"]*)"/g)].map(([, name = "", value = ""]) => [name, value]));
  const realm = asked.get("realm") ?? "";
  if (!realm.startsWith("https://"))
    throw new ShoalError("unavailable", `the registry ${registry} names no place for a token`);
  asked.delete("realm");
  const answer = await send(`${realm}?${new URLSearchParams([...asked])}`, {
    signal: AbortSignal.timeout(ANSWER_MS_MAX),
  });
  const { token, access_token: other } = (await answer.json()) as {
    readonly token?: string;
    readonly access_token?: string;
  };
  return token ?? other ?? "";
}
