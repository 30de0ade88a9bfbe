import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { type Backend, Balancer } from "./balancer.js";

const open: (AsyncDisposable | Server)[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one[Symbol.asyncDispose]();
});

/** A backend that answers with its name and what it was sent, once the client has finished. */
async function backend(name: string, isReady = () => true): Promise<Backend & { readonly server: Server }> {
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    const chunks: Buffer[] = [];
    socket.on("data", (chunk) => chunks.push(chunk));
    socket.on("end", () => socket.end(Buffer.concat([Buffer.from(name), ...chunks])));
    socket.on("error", () => undefined);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  open.push(server);
  return { host: "127.0.0.1", port: (server.address() as AddressInfo).port, isReady, server };
}

async function balancer(backends: readonly Backend[]): Promise<number> {
  const one = new Balancer(backends, 1_000);
  open.push(one);
  return one.listen("127.0.0.1", 0);
}

/** What comes back, or the error. */
function ask(port: number, text: Buffer | string): Promise<Buffer | Error> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    const socket: Socket = connect({ host: "127.0.0.1", port, allowHalfOpen: true });
    socket.on("data", (chunk) => chunks.push(chunk));
    socket.on("end", () => resolve(Buffer.concat(chunks)));
    socket.on("error", resolve);
    socket.end(text);
  });
}

describe("Balancer", () => {
  it("gives connections to its backends in turn, whatever they carry", async () => {
    const port = await balancer([await backend("a"), await backend("b"), await backend("c")]);
    const bytes = Buffer.alloc(3_000_000, "\u0000\u00ff");
    const counts = new Map<string, number>();
    for (let i = 0; i < 9; i++) {
      const answer = (await ask(port, bytes)) as Buffer;
      const name = answer.subarray(0, 1).toString();
      counts.set(name, (counts.get(name) ?? 0) + 1);
      expect(answer.subarray(1).equals(bytes)).toBe(true);
    }
    expect([...counts].sort()).toEqual([
      ["a", 3],
      ["b", 3],
      ["c", 3],
    ]);
  });

  it("passes over backends that are not ready, and those that refuse", async () => {
    const gone = await backend("gone");
    await new Promise((resolve) => gone.server.close(resolve));
    const port = await balancer([gone, await backend("late", () => false), await backend("good")]);
    const answers = await Promise.all(Array.from({ length: 6 }, () => ask(port, "!")));
    expect(answers.map(String)).toEqual(Array(6).fill("good!"));
  });

  it("holds connections until a backend is ready", async () => {
    let isReady = false;
    const port = await balancer([await backend("a", () => isReady)]);
    let isAnswered = false;
    const answer = ask(port, "!").finally(() => {
      isAnswered = true;
    });
    await ask((await backend("clock")).port, "!");
    expect(isAnswered).toBe(false);
    isReady = true;
    expect(String(await answer)).toBe("a!");
  });

  it("breaks the client's connection when the backend's breaks: half an answer is not a whole one", async () => {
    const server = createServer((socket) => {
      socket.write("half");
      socket.on("data", () => socket.resetAndDestroy());
      socket.on("error", () => undefined);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    open.push(server);
    const port = await balancer([
      { host: "127.0.0.1", port: (server.address() as AddressInfo).port, isReady: () => true },
    ]);
    expect(await ask(port, "!")).toMatchObject({ code: "ECONNRESET" });
  });

  it("says why it cannot listen", async () => {
    const taken = await backend("a");
    await expect(new Balancer([], 1).listen("127.0.0.1", taken.port)).rejects.toThrow(/^cannot listen on 127.0.0.1:/);
  });
});
