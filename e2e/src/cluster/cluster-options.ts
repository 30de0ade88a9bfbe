export interface ClusterOptions {
  readonly gateways?: number;
  readonly storageNodes?: number;
  readonly coordinators?: number;
  /** 0: the one coordinator keeps the schema itself. */
  readonly etcdMembers?: 0 | 1 | 3;
  /** Of each object, in classes that do not say (`REPLICATION_FACTOR`). */
  readonly copies?: number;
  /** In `namespaces` links can be cut, and the processes speak mutual TLS. Needs root, `ip` and `nft`. */
  readonly network?: "loopback" | "namespaces";
  /** Settings of every process of ours. */
  readonly env?: Readonly<Record<string, string>>;
  /** Words in front of a command, such as `strace -f`. */
  readonly prefix?: (name: string) => readonly string[];
  /** Storage nodes whose data lies on a small disk, with its size. Needs root. */
  readonly smallDisks?: Readonly<Record<string, number>>;
  /** Storage nodes that others reach through a proxy (SlowLink). On loopback only. */
  readonly slowLinks?: readonly string[];
  /** Processes that reach the coordinators through proxies (SlowLink), one for each coordinator. On loopback only. */
  readonly slowToCoordinators?: readonly string[];
}
