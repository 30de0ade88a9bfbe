import { ShoalError } from "@shoal/model";
import type { RequestContext } from "@shoal/runtime";
import type { MetaChange, MetaState, MetaStore } from "../meta-store.js";
import { type EtcdCertificates, EtcdClient, type EtcdOptions } from "./etcd-client.js";
import { decodeHead, EtcdLayout, encodeHead, encodeHistory } from "./etcd-layout.js";
import { type EtcdContent, EtcdMirror, type MirroredHead } from "./etcd-mirror.js";
import { EtcdWatch } from "./etcd-watch.js";
import { beginStore, type ReadHead, readContent, readHead } from "./read-etcd.js";

/** Etcd takes 1.5 MiB a request (`--max-request-bytes`); the rest is for what is around keys and values. */
const COMMIT_BYTES_MAX = 1_500_000;
/** Etcd takes 128 operations a transaction (`--max-txn-ops`); one is for the head. */
const CHANGES_MAX = 127;
/** From a read that shows a later revision until the watch must have brought it. */
const WATCH_LAG_MS = 200;
/** A watch that is dead without anybody having noticed costs at most this. */
const CHECK_MS = 1_000;

const FOREVER: RequestContext = { deadline: Number.POSITIVE_INFINITY };

export interface EtcdMetaStoreOptions extends EtcdOptions {
  /** What all keys begin with. */
  readonly prefix: string;
  readonly nowMs: () => number;
  /** A text that was never given before. */
  readonly newId: () => string;
  /**
   * Called once, when etcd has another history or an older revision than before: this object can do nothing any more, and
   * the process must begin again.
   */
  readonly onLost: (error: ShoalError) => void;
}

/** One commit: what is written, and what it is compared with. */
interface Commit {
  readonly before: MirroredHead;
  readonly after: MirroredHead;
  readonly changes: readonly MetaChange[];
}

/**
 * MetaStore of several coordinators at once. A commit is one transaction that compares the head; etcd makes it linear and
 * durable. What was read is kept and followed by a watch, so that a question costs one read of the head.
 */
export class EtcdMetaStore implements MetaStore {
  readonly historyId: string;
  readonly #options: EtcdMetaStoreOptions;
  readonly #client: EtcdClient;
  readonly #layout: EtcdLayout;
  readonly #mirror: EtcdMirror;
  readonly #watch: EtcdWatch;
  readonly #listeners = new Set<(state: MetaState) => void>();
  readonly #checks: NodeJS.Timeout;
  #rereading: Promise<ReadHead> | undefined;
  #lost: ShoalError | undefined;

  private constructor(
    options: EtcdMetaStoreOptions,
    client: EtcdClient,
    layout: EtcdLayout,
    content: ReadHead & EtcdContent,
  ) {
    this.historyId = content.historyId;
    this.#options = options;
    this.#client = client;
    this.#layout = layout;
    this.#mirror = new EtcdMirror(layout, (state) => {
      for (const listener of this.#listeners) listener(state);
    });
    this.#mirror.replace(content);
    this.#watch = new EtcdWatch(() => client.etcd, layout.all, content.etcdRevision, {
      onEvents: (events) => {
        if (!this.#mirror.follow(events)) this.#reread(FOREVER).catch(() => undefined);
      },
      reread: async () => (await this.#reread(FOREVER)).etcdRevision,
    });
    this.#checks = setInterval(() => this.load(FOREVER).catch(() => undefined), CHECK_MS);
    this.#checks.unref();
  }

  /** Fails with `unavailable` when etcd cannot be reached, with `invalid` on data of a newer format. */
  static async open(options: EtcdMetaStoreOptions): Promise<EtcdMetaStore> {
    const client = new EtcdClient(options, options.nowMs);
    try {
      const layout = new EtcdLayout(options.prefix);
      await beginStore(client, layout, options.newId, FOREVER);
      return new EtcdMetaStore(options, client, layout, await readContent(client, layout, FOREVER));
    } catch (thrown) {
      client[Symbol.dispose]();
      throw thrown;
    }
  }

  /** Uses these certificates from now on. */
  renew(certificates: EtcdCertificates): void {
    this.#client.renew(certificates);
    this.#watch.renew();
  }

  async load(context: RequestContext): Promise<MetaState> {
    if (this.#lost !== undefined) throw this.#lost;
    const read = await this.#checked(readHead(this.#client, this.#layout, context));
    if (read.head.revision > this.#mirror.state.revision) await this.#catchUp(read.head.revision, context);
    return this.#mirror.state;
  }

  async commit(
    expectedRevision: number,
    changes: readonly MetaChange[],
    context: RequestContext,
  ): Promise<number | undefined> {
    if (this.#lost !== undefined) throw this.#lost;
    const before = this.#mirror.head;
    if (expectedRevision !== before.revision) return undefined;
    checkSize(changes);
    const head = { revision: expectedRevision + 1, commitId: this.#options.newId() };
    return this.#commit({ before, after: { ...head, text: encodeHead(head) }, changes }, context);
  }

  watch(listener: (state: MetaState) => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => this.#listeners.delete(listener) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#checks);
    this.#listeners.clear();
    await this.#watch[Symbol.asyncDispose]();
    this.#client[Symbol.dispose]();
  }

  async #commit(commit: Commit, context: RequestContext): Promise<number | undefined> {
    const { before, after, changes } = commit;
    using own = this.#mirror.expect(after.commitId, changes);
    let attempts = 0;
    const { succeeded, header, responses } = await this.#client.ask(context, (call) => {
      attempts++;
      return this.#transaction(commit).options(call).commit();
    });
    if (succeeded) {
      this.#mirror.commit(after, changes, header.revision);
      return after.revision;
    }
    const found = responses[0]?.response_range.kvs[0]?.value.toString();
    const head = found === undefined ? undefined : decodeHead(found);
    // An earlier attempt was carried out although its result did not come.
    if (head?.commitId === after.commitId) {
      await this.#catchUp(after.revision, context);
      return after.revision;
    }
    if (head === undefined || head.revision <= before.revision) {
      await this.#checked(readHead(this.#client, this.#layout, context));
      return undefined;
    }
    if (attempts === 1 || head.revision === after.revision) return undefined;
    // Others have committed since: perhaps on top of ours.
    await this.#catchUp(head.revision, context);
    if (own.wasSeen) return after.revision;
    throw new ShoalError("unavailable", "etcd did not answer in time: the change may have been made", {
      retryAfterSeconds: 1,
    });
  }

  #transaction({ before, after, changes }: Commit) {
    const { etcd } = this.#client;
    const { history, revision } = this.#layout;
    return etcd
      .if(revision, "Value", "==", before.text)
      .and(history, "Value", "==", encodeHistory(this.historyId))
      .then(
        etcd.put(revision).value(after.text),
        ...changes.map(({ key, value }) => {
          const path = this.#layout.entry(key);
          return value === undefined ? etcd.delete().key(path) : etcd.put(path).value(JSON.stringify(value));
        }),
      )
      .else(etcd.get(revision));
  }

  /** Resolves when `revision` is known: the watch brings it, or else everything is read. */
  async #catchUp(revision: number, context: RequestContext): Promise<void> {
    if (this.#watch.isConnected) await this.#brought(revision);
    // A reading that was under way already may be older.
    while (this.#mirror.state.revision < revision) await this.#reread(context);
  }

  /** Resolves when the watch has brought `revision`, or should have. */
  #brought(revision: number): Promise<void> {
    if (this.#mirror.state.revision >= revision) return Promise.resolve();
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer);
        this.#listeners.delete(listener);
        resolve();
      };
      const listener = (state: MetaState) => {
        if (state.revision >= revision) end();
      };
      const timer = setTimeout(end, WATCH_LAG_MS);
      this.#listeners.add(listener);
    });
  }

  /** Who comes while everything is being read gets the same reading: it has what the watch could not bring. */
  #reread(context: RequestContext): Promise<ReadHead> {
    this.#rereading ??= this.#checked(readContent(this.#client, this.#layout, context))
      .then((content) => {
        this.#mirror.replace(content);
        return content;
      })
      .finally(() => {
        this.#rereading = undefined;
      });
    return this.#rereading;
  }

  /** Fails for good when what was read is not what was known, gone on. */
  async #checked<T extends ReadHead>(reading: Promise<T>): Promise<T> {
    const known = this.#mirror.head;
    const read = await reading;
    const { historyId, head } = read;
    if (historyId !== this.historyId) {
      throw this.#lose(`it holds the history '${historyId}', '${this.historyId}' was known`);
    }
    if (head.revision < known.revision || (head.revision === known.revision && head.text !== known.text)) {
      throw this.#lose(`it is at revision ${head.revision}, revision ${known.revision} was known`);
    }
    return read;
  }

  #lose(reason: string): ShoalError {
    if (this.#lost !== undefined) return this.#lost;
    const where = this.#options.endpoints.join(", ");
    this.#lost = new ShoalError("unavailable", `etcd (${where}) was replaced or put back: ${reason}`);
    this.#options.onLost(this.#lost);
    return this.#lost;
  }
}

/** Refuses what etcd would refuse. */
function checkSize(changes: readonly MetaChange[]): void {
  if (changes.length > CHANGES_MAX) {
    throw new ShoalError("tooLarge", `${changes.length} changes at once, etcd takes at most ${CHANGES_MAX}`);
  }
  let bytes = 0;
  for (const { key, value } of changes) {
    bytes += Buffer.byteLength(key) + (value === undefined ? 0 : Buffer.byteLength(JSON.stringify(value)));
    if (bytes > COMMIT_BYTES_MAX) {
      throw new ShoalError(
        "tooLarge",
        `'${key}' takes ${bytes} bytes in etcd, at most ${COMMIT_BYTES_MAX} are allowed`,
      );
    }
  }
}
