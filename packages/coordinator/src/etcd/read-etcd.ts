import { ShoalError } from "@shoal/model";
import type { RequestContext } from "@shoal/runtime";
import type { IKeyValue } from "etcd3";
import type { EtcdClient } from "./etcd-client.js";
import { decodeHead, decodeHistory, type EtcdLayout, encodeHead, encodeHistory } from "./etcd-layout.js";
import type { EtcdContent, MirroredHead } from "./etcd-mirror.js";

/** Entries that are read at once. */
const PAGE_ENTRIES = 200;

/** What tells which store this is and how far it has come. */
export interface ReadHead {
  readonly historyId: string;
  readonly head: MirroredHead;
  /** Etcd's own revision at that time. */
  readonly etcdRevision: string;
}

/** Writes what a new store begins with, unless it is there. */
export async function beginStore(
  client: EtcdClient,
  { history, revision }: EtcdLayout,
  newId: () => string,
  context: RequestContext,
): Promise<void> {
  const begin = (key: string, value: string) =>
    client.ask(context, (call) =>
      client.etcd.if(key, "Version", "==", 0).then(client.etcd.put(key).value(value)).options(call).commit(),
    );
  await begin(history, encodeHistory(newId()));
  await begin(revision, encodeHead({ revision: 0, commitId: newId() }));
}

/** A linear read: as new as every commit that had been answered before. Fails with `dataLoss` when there is no head. */
export async function readHead(client: EtcdClient, layout: EtcdLayout, context: RequestContext): Promise<ReadHead> {
  const { header, kvs } = await client.ask(context, (call) =>
    client.etcd.getAll().prefix(layout.head).options(call).exec(),
  );
  const text = (key: string) => kvs.find((kv) => kv.key.toString() === key)?.value.toString();
  const history = text(layout.history);
  const revision = text(layout.revision);
  if (history === undefined || revision === undefined) {
    throw new ShoalError("dataLoss", `etcd has lost '${history === undefined ? layout.history : layout.revision}'`);
  }
  const { historyId } = decodeHistory(history);
  return { historyId, head: { ...decodeHead(revision), text: revision }, etcdRevision: header.revision };
}

/** Everything, as of one revision, in several pages. */
export async function readContent(
  client: EtcdClient,
  layout: EtcdLayout,
  context: RequestContext,
): Promise<ReadHead & EtcdContent> {
  const read = await readHead(client, layout, context);
  const entries: { readonly key: string; readonly kv: IKeyValue }[] = [];
  for (let after: string | undefined; ; ) {
    const page = await client.ask(context, (call) =>
      client.etcd
        .getAll()
        .inRange(layout.entriesFrom(after))
        .limit(PAGE_ENTRIES)
        .revision(read.etcdRevision)
        .options(call)
        .exec(),
    );
    for (const kv of page.kvs) {
      const key = layout.entryKey(kv.key.toString());
      if (key !== undefined) entries.push({ key, kv });
      after = key;
    }
    if (!page.more) return { ...read, entries };
  }
}
