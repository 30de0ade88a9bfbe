import { readFile } from "node:fs/promises";
import { ShoalError } from "@shoal/model";

/** Where the processes are found: one gateway, or the file that `npm run cluster` writes. */
export interface StatusSource {
  readonly target?: string | undefined;
  readonly file?: string | undefined;
  /** For gateways that ask for one. */
  readonly token?: string | undefined;
}

/** One process or storage node. What nobody could tell is "". */
export interface StatusRow {
  readonly name: string;
  readonly role: string;
  readonly state: string;
  readonly isWell: boolean;
  readonly version: string;
  readonly objects: string;
  readonly shards: string;
  readonly address: string;
}

/** A storage node as `GET /v1/nodes` shows it. */
interface NodeStatus {
  readonly name: string;
  readonly status: string;
  readonly version?: string;
  readonly gitHash?: string;
  readonly stats?: { readonly objectCount: number; readonly shardCount: number };
}

interface Process {
  readonly name: string;
  readonly role: string;
  readonly address: string;
}

const TIMEOUT_MS = 5_000;
const UNKNOWN = { version: "", objects: "", shards: "", address: "" };

/** How all of them are. Fails with `invalid` or `unavailable` when there is nothing to ask. */
export async function clusterStatus(source: StatusSource): Promise<readonly StatusRow[]> {
  const processes = await processesOf(source);
  const gateways = processes.filter(({ role }) => role === "gateway");
  const rows = await Promise.all(processes.filter(({ role }) => role !== "storage-node").map(rowOfProcess));
  const nodes = await nodesOf(gateways, source.token);
  const known = new Map(nodes?.map((node) => [node.name, node]));
  const probed = await Promise.all(
    processes
      .filter(({ role }) => role === "storage-node")
      .map(async (process) => {
        const node = known.get(process.name);
        known.delete(process.name);
        const row = await rowOfProcess(process);
        if (node === undefined) return row;
        // A process that is not ready is unwell, whatever gateways have seen of it so far.
        const shown = { ...rowOfNode(node), address: process.address };
        return row.isWell ? shown : { ...shown, state: row.state, isWell: false };
      }),
  );
  const others = [...known.values()].map(rowOfNode);
  const faults =
    nodes === undefined && processes.length > 0
      ? [{ ...UNKNOWN, name: "/v1/nodes", role: "", state: "no gateway answers it", isWell: false }]
      : [];
  return [...rows, ...probed, ...others, ...faults];
}

/** The rows as a table; names and states left, counts right. */
export function statusTable(rows: readonly StatusRow[]): string {
  const columns = ["name", "role", "state", "version", "objects", "shards", "address"] as const;
  const cells = [columns.map((column) => column.toUpperCase()), ...rows.map((row) => columns.map((one) => row[one]))];
  const widths = columns.map((_, at) => Math.max(...cells.map((line) => line[at]?.length ?? 0)));
  return cells
    .map((line) =>
      line
        .map((cell, at) => (at === 4 || at === 5 ? cell.padStart(widths[at] ?? 0) : cell.padEnd(widths[at] ?? 0)))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

async function processesOf({ target, file }: StatusSource): Promise<readonly Process[]> {
  if ((target === undefined) === (file === undefined)) {
    throw new ShoalError("invalid", "either --target or --file must be given");
  }
  if (target !== undefined) {
    if (!URL.canParse(target)) throw new ShoalError("invalid", `--target must be a URL, got ${JSON.stringify(target)}`);
    const { origin } = new URL(target);
    return [{ name: new URL(target).host, role: "gateway", address: origin }];
  }
  try {
    const { processes } = JSON.parse(await readFile(file ?? "", "utf8")) as { readonly processes: readonly Process[] };
    return processes.map(({ name, role, address }) => ({ name, role, address }));
  } catch (thrown) {
    throw new ShoalError("invalid", `'${file}' cannot be read: ${ShoalError.from(thrown).message}`, { cause: thrown });
  }
}

async function rowOfProcess({ name, role, address }: Process): Promise<StatusRow> {
  const path = role === "gateway" ? "/v1/.well-known/ready" : "/ready";
  const { state, isWell } = await ask(`${address}${path}`, {}).then(
    async (response) => {
      const text = (await response.text()).split("\n", 1)[0] ?? "";
      if (response.ok) return { state: "ready", isWell: true };
      const isPlain = response.headers.get("content-type")?.startsWith("text/plain") === true && text !== "";
      return { state: isPlain ? `not ready: ${text}` : "not ready", isWell: false };
    },
    () => ({ state: "does not answer", isWell: false }),
  );
  return { ...UNKNOWN, name, role, address, state, isWell };
}

function rowOfNode({ name, status, version = "", gitHash = "", stats }: NodeStatus): StatusRow {
  return {
    name,
    role: "storage-node",
    state: status.toLowerCase(),
    isWell: status === "HEALTHY",
    version: gitHash === "" ? version : `${version} (${gitHash.slice(0, 7)})`,
    objects: String(stats?.objectCount ?? ""),
    shards: String(stats?.shardCount ?? ""),
    address: "",
  };
}

/** What the first gateway says that answers; undefined when none does. */
async function nodesOf(
  gateways: readonly Process[],
  token: string | undefined,
): Promise<readonly NodeStatus[] | undefined> {
  for (const { address } of gateways) {
    const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const response = await ask(`${address}/v1/nodes`, headers).catch(() => undefined);
    if (response?.status === 401 || response?.status === 403) {
      throw new ShoalError(
        "unauthenticated",
        `${address}/v1/nodes is ${response.status}: give a --token that may read`,
      );
    }
    if (response?.ok !== true) continue;
    const { nodes } = (await response.json()) as { readonly nodes: readonly NodeStatus[] };
    return nodes;
  }
  return undefined;
}

function ask(url: string, headers: Record<string, string>): Promise<Response> {
  return fetch(url, { headers, signal: AbortSignal.timeout(TIMEOUT_MS) });
}
