import { ChannelCredentials, Client, type ClientReadableStream, type ServiceError, status } from "@grpc/grpc-js";
import { beforeAll, expect, test } from "vitest";
import { connectCoordinator } from "./client/connect-coordinator.js";
import type { ServedSchema } from "./schema-service.js";
import { createRpcServer } from "./server/rpc-server.js";
import { SwappedTls, TestAuthority } from "./testing/test-certificates.js";
import type { TlsMaterial } from "./tls/tls-source.js";
import { SCHEMA } from "./wire/services.js";

const now = () => Date.now();
const SNAPSHOT = { historyId: "h", version: 1, classes: [] };
/** Of one certificate, and of one connection. */
const CALLS_MAX = 1_000;

let authority: TestAuthority;
beforeAll(async () => {
  authority = await TestAuthority.make("ours");
});

/** A coordinator's schema; who watches it over the wire, and how many ask for it until they are answered. */
class WatchedSchema {
  readonly watchers = new Set<object>();
  asking = 0;
  #response: () => void = () => undefined;
  readonly #responded = new Promise<void>((resolve) => {
    this.#response = resolve;
  });
  readonly service = {
    current: async () => {
      this.asking++;
      await this.#responded;
      return SNAPSHOT;
    },
    watch: (listener: (snapshot: typeof SNAPSHOT) => void) => {
      const watcher = {};
      this.watchers.add(watcher);
      listener(SNAPSHOT);
      return { [Symbol.dispose]: () => void this.watchers.delete(watcher) };
    },
  } as Partial<ServedSchema> as ServedSchema;

  /** Whoever asks, and has asked, gets a response. */
  response(): void {
    this.#response();
  }
}

async function serve(schema: WatchedSchema) {
  const tls = new SwappedTls(await authority.sign(["coordinator"]));
  const server = await createRpcServer({ schema: schema.service }, { host: "127.0.0.1", port: 0, now, tls });
  // The server itself watches, too.
  schema.watchers.clear();
  return server;
}

/** Calls over one connection; what became of them. */
class Caller implements Disposable {
  readonly #client: Client;
  readonly #streams: ClientReadableStream<object>[] = [];
  heard = 0;
  readonly refusals: string[] = [];

  constructor(port: number, { ca, key, certificate }: TlsMaterial) {
    const credentials = ChannelCredentials.createSsl(ca, key, certificate, { checkServerIdentity: () => undefined });
    this.#client = new Client(`127.0.0.1:${port}`, credentials, { "grpc.use_local_subchannel_pool": 1 });
  }

  open(count: number): void {
    const { path, requestSerialize, responseDeserialize } = SCHEMA.Watch;
    for (let at = 0; at < count; at++) {
      const none = { historyId: "", version: 0 };
      const stream = this.#client.makeServerStreamRequest(path, requestSerialize, responseDeserialize, none);
      stream.once("data", () => this.heard++);
      stream.on("error", ({ code, details }: ServiceError) => {
        if (code !== status.CANCELLED) this.refusals.push(details);
      });
      this.#streams.push(stream);
    }
  }

  ask(): Promise<unknown> {
    const { path, requestSerialize, responseDeserialize } = SCHEMA.Current;
    return new Promise((resolve, reject) => {
      const none = { historyId: "", version: 0 };
      this.#client.makeUnaryRequest(path, requestSerialize, responseDeserialize, none, (error, response) =>
        error === null ? resolve(response) : reject(error),
      );
    });
  }

  cancel(): void {
    for (const stream of this.#streams.splice(0)) stream.cancel();
  }

  [Symbol.dispose](): void {
    this.cancel();
    this.#client.close();
  }
}

test("S11: who has the certificate of one storage node has so many calls and no more, over all connections; nobody else misses any", async () => {
  const schema = new WatchedSchema();
  await using server = await serve(schema);
  const stolen = await authority.sign(["node-1"]);
  using one = new Caller(server.port, stolen);
  using two = new Caller(server.port, stolen);
  one.open(700);
  two.open(700);
  await expect.poll(() => one.refusals.length + two.refusals.length).toBe(400);
  expect([...new Set([...one.refusals, ...two.refusals])]).toEqual([
    "more than 1000 calls at once by whoever has the certificate of 'node-1'",
  ]);
  expect(schema.watchers.size).toBe(CALLS_MAX);
  schema.response();
  for (const name of ["gateway", "node-2"]) {
    const tls = new SwappedTls(await authority.sign([name]));
    using other = connectCoordinator([`127.0.0.1:${server.port}`], { now, tls });
    expect(await other.schema.current({ deadline: now() + 10_000 })).toEqual(SNAPSHOT);
  }
  // What has ended counts no longer.
  one.cancel();
  two.cancel();
  await expect.poll(() => schema.watchers.size).toBe(0);
  const before = two.heard;
  two.open(900);
  await expect.poll(() => two.heard - before).toBe(900);
});

test("S11: one connection has so many calls at once; a gateway that asks more waits, and gets every answer", async () => {
  const schema = new WatchedSchema();
  await using server = await serve(schema);
  const gateway = await authority.sign(["gateway"]);
  using caller = new Caller(server.port, gateway);
  const responses = Array.from({ length: 1_500 }, () => caller.ask());
  await expect.poll(() => schema.asking).toBe(CALLS_MAX);
  using other = new Caller(server.port, gateway);
  const another = other.ask();
  await expect.poll(() => schema.asking).toBe(CALLS_MAX + 1);
  schema.response();
  await Promise.all([...responses, another]);
  expect(schema.asking).toBe(1_501);
});
