import { at } from "../../http-client.js";
import type { Cluster } from "../cluster.js";

/** A line that a storage node logs when another configuration of a shard counts. */
const LOGGED = '"copies of a shard"';

interface Configuration {
  readonly timeMs: number;
  readonly version: number;
  /** Nodes. */
  readonly primary: string;
  readonly inSync: readonly string[];
}

/** A copy was taken out of those in sync, or another one became primary. */
interface CopyChange {
  readonly timeMs: number;
  readonly told: string;
  /** The nodes that lost by it; of a new primary the old one alone, as it leaves behind those that lack its last entries. */
  readonly losers: readonly string[];
  /** The node that went on. */
  readonly primary: string;
}

interface Fault {
  readonly nodes: ReadonlySet<string>;
  readonly isCut: boolean;
  readonly fromMs: number;
  untilMs: number;
}

/**
 * What became of copies in a row, by the logs of the storage nodes (their counters end with the processes), and what of that no
 * fault of the row explains: such a change is spurious.
 */
export class CopyChanges {
  readonly #faults: Fault[] = [];

  constructor(readonly cluster: Cluster) {}

  /**
   * Something is done to these nodes until `act` ends: their copies may be taken out, and they may lose what they lead. A primary that
   * is cut off may take out those that it does not hear.
   */
  async during<T>(nodes: readonly string[], act: () => Promise<T>, what?: "cut off"): Promise<T> {
    const end = this.begin(nodes, what);
    try {
      return await act();
    } finally {
      end();
    }
  }

  /** The same until what it gives is called. */
  begin(nodes: readonly string[], what?: "cut off"): () => void {
    const isCut = what === "cut off";
    const fault = { nodes: new Set(nodes), isCut, fromMs: Date.now(), untilMs: Number.POSITIVE_INFINITY };
    this.#faults.push(fault);
    return () => {
      fault.untilMs = Date.now();
    };
  }

  read(): { readonly all: number; readonly spurious: readonly string[] } {
    const changes = changesOf(this.cluster.storageNodes.map((node) => node.log()));
    const isExplained = ({ timeMs, losers, primary }: CopyChange): boolean => {
      const faults = this.#faults.filter(({ fromMs, untilMs }) => timeMs >= fromMs && timeMs <= untilMs);
      return losers.every((node) =>
        faults.some(({ nodes, isCut }) => nodes.has(node) || (isCut && nodes.has(primary))),
      );
    };
    return { all: changes.length, spurious: changes.filter((one) => !isExplained(one)).map(({ told }) => told) };
  }
}

/** Each change once, whichever nodes have logged it. */
export function changesOf(logs: readonly string[]): readonly CopyChange[] {
  const shards = new Map<string, Map<number, Configuration>>();
  for (const line of logs.flatMap((log) => log.split("\n"))) {
    if (!line.includes(LOGGED)) continue;
    const { shard, configuration } = parsed(line);
    const known = shards.get(shard) ?? new Map<number, Configuration>();
    shards.set(shard, known);
    const { version, timeMs } = configuration;
    if (timeMs < (known.get(version)?.timeMs ?? Number.POSITIVE_INFINITY)) known.set(version, configuration);
  }
  return [...shards].flatMap(([shard, known]) => {
    const sorted = [...known.values()].sort((a, b) => a.version - b.version);
    return sorted.flatMap((after, number): readonly CopyChange[] => {
      const before = sorted[number - 1];
      if (before === undefined) return [];
      const out = before.inSync.filter((node) => !after.inSync.includes(node));
      const losers = before.primary === after.primary ? out : [before.primary];
      if (losers.length === 0) return [];
      const { timeMs } = after;
      const told = `${new Date(timeMs).toISOString()} ${shard}: primary ${before.primary}, then ${after.primary}; in sync ${before.inSync}, then ${after.inSync}`;
      return [{ timeMs, told, losers, primary: after.primary }];
    });
  });
}

function parsed(line: string): { readonly shard: string; readonly configuration: Configuration } {
  const json: unknown = JSON.parse(line);
  const nodeOf = (copy: unknown): string => String(copy).split("/")[0] ?? "";
  const inSync = at(json, "inSync");
  return {
    shard: `${at(json, "class")} ${at(json, "classId")} ${at(json, "shard")}`,
    configuration: {
      timeMs: new Date(at(json, "time") as string | number).getTime(),
      version: Number(at(json, "version")),
      primary: nodeOf(at(json, "primary")),
      inSync: Array.isArray(inSync) ? inSync.map(nodeOf) : [],
    },
  };
}
