import { type Server, ServerCredentials } from "@grpc/grpc-js";

/** Listens on a free port of this machine, in the clear. */
export async function listenAnywhere(server: Server): Promise<{ readonly port: number } & Disposable> {
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, taken) => {
      if (error === null) resolve(taken);
      else reject(error);
    });
  });
  return { port, [Symbol.dispose]: () => undefined };
}
