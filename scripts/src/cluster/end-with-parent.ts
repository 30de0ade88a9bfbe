// node end-with-parent.js COMMAND…: runs a command that does not know by itself when who started it is gone.
import { spawn } from "node:child_process";

const [command = "", ...args] = process.argv.slice(2);
const child = spawn(command, args, { stdio: "inherit" });
const end = (): void => {
  child.kill("SIGTERM");
};
process.on("disconnect", end);
process.on("SIGTERM", end);
process.on("SIGINT", end);
child.on("error", ({ message }) => {
  console.error(message);
  process.exit(1);
});
child.on("exit", (code, signal) => process.exit(code ?? (signal === "SIGTERM" ? 0 : 1)));
