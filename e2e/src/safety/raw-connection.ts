import { connect, type Socket } from "node:net";

/** A connection to a server of this machine, for bytes that no HTTP client would send. Its errors are swallowed. */
export function openSocket(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1", () => resolve(socket));
    socket.once("error", reject);
    socket.on("error", () => undefined);
  });
}

/** Everything that a server says to bytes on a connection of their own, until it closes it or a while has passed. */
export async function saidTo(port: number, bytes: string | Buffer, waitMs = 5_000): Promise<Said> {
  const socket = await openSocket(port);
  return new Promise((resolve) => {
    let text = "";
    const end = (closed: boolean): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve({
        text,
        closed,
        statuses: [...text.matchAll(/^HTTP\/1\.1 (\d{3}) /gm)].map(([, status]) => Number(status)),
      });
    };
    const timer = setTimeout(() => end(false), waitMs);
    socket.setEncoding("latin1").on("data", (chunk) => {
      text += chunk;
    });
    socket.on("close", () => end(true));
    socket.write(bytes);
  });
}

export interface Said {
  readonly text: string;
  /** Whether the server closed the connection. */
  readonly closed: boolean;
  readonly statuses: readonly number[];
}

/** What of a number of values is at most the wanted share. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
