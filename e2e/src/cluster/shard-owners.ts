import { at, type HttpClient } from "../http-client.js";

/** A storage node as `GET /v1/nodes` shows it. */
export interface NodeReport {
  readonly name: string;
  readonly status: string;
  readonly shards: readonly { readonly name: string; readonly class: string; readonly objectCount: number }[];
}

export async function nodeReports(http: HttpClient): Promise<readonly NodeReport[]> {
  const answer = await http.get("/v1/nodes");
  const nodes = at(answer.json, "nodes");
  if (!Array.isArray(nodes)) throw new Error(`GET /v1/nodes: ${answer.status} ${answer.text}`);
  return nodes as readonly NodeReport[];
}

const CLASSES_MAX = 60;

/** Creates classes of one shard until each of these nodes has one: the class of each node. */
export async function classOnEach(
  http: HttpClient,
  nodes: readonly string[],
  create: (className: string) => Promise<void>,
): Promise<ReadonlyMap<string, string>> {
  const classOf = new Map<string, string>();
  for (let number = 0; number < CLASSES_MAX && classOf.size < nodes.length; number++) {
    const className = `Single${number}`;
    await create(className);
    const owner = (await nodeReports(http)).find(({ shards }) => shards.some((shard) => shard.class === className));
    if (owner === undefined) throw new Error(`no node has a shard of ${className}`);
    if (classOf.has(owner.name)) await http.delete(`/v1/schema/${className}`);
    else classOf.set(owner.name, className);
  }
  if (classOf.size < nodes.length) throw new Error(`${CLASSES_MAX} classes have only come to ${[...classOf.keys()]}`);
  return classOf;
}
