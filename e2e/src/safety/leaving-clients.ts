import { connect } from "node:net";

/**
 * A process of clients that ask for much and leave before the answer: `node leaving-clients.js PORT COUNT`, so many at the same
 * time, each on a connection of its own. It runs until it is killed, and prints a line after its first connection.
 */
const [port = "", count = ""] = process.argv.slice(2);

const STAY_MS = 5;
const QUERY = JSON.stringify({ query: "{ Get { Item(limit: 5000) { name _additional { id } } } }" });
const REQUEST =
  "POST /v1/graphql HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n" +
  `Content-Length: ${QUERY.length}\r\n\r\n${QUERY}`;

let isTold = false;

function ask(): void {
  const socket = connect(Number(port), "127.0.0.1");
  socket.on("error", () => undefined);
  socket.on("connect", () => {
    if (!isTold) process.stdout.write("connected\n");
    isTold = true;
    socket.write(REQUEST);
    setTimeout(() => socket.destroy(), STAY_MS);
  });
  socket.resume();
  socket.on("close", () => setImmediate(ask));
}

for (let client = 0; client < Number(count); client++) ask();
