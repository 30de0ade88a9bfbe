import { Command } from "commander";
import { describe, expect, it } from "vitest";
import { unknownCommand } from "./unknown-command.js";

function program(): Command {
  const shoal = new Command("shoal").version("1");
  shoal.command("serve").option("--port <port>");
  const cluster = shoal.command("cluster");
  cluster.command("status").option("--target <url>");
  cluster.command("remove").argument("<node>");
  return shoal;
}

describe("U6: a word of the command line that is no command", () => {
  it.each<[string, string]>([
    ["frobnicate", `error: unknown command "frobnicate" of 'shoal'`],
    ["frobnicate --help", `error: unknown command "frobnicate" of 'shoal'`],
    ["help frobnicate", `error: unknown command "frobnicate" of 'shoal'`],
    ["sevre --help", `error: unknown command "sevre" of 'shoal', did you mean 'serve'?`],
    ["cluster frob", `error: unknown command "frob" of 'shoal cluster'`],
    ["cluster frob -h", `error: unknown command "frob" of 'shoal cluster'`],
    ["cluster help statsu", `error: unknown command "statsu" of 'shoal cluster', did you mean 'status'?`],
    ["help cluster frob", `error: unknown command "frob" of 'shoal cluster'`],
    ["--nope --help", `error: unknown option "--nope" of 'shoal'`],
    ["cluster --nope", `error: unknown option "--nope" of 'shoal cluster'`],
    ["\u001b[2J", `error: unknown command "\\u001b[2J" of 'shoal'`],
  ])("%j is told", (line, message) => {
    expect(unknownCommand(program(), line.split(" "))?.message).toBe(message);
  });

  it.each(["", "serve", "serve --port 1 x", "serve --nope", "--help", "-V", "cluster", "cluster status --target x"])(
    "%j has none that is looked for here",
    (line) => {
      expect(unknownCommand(program(), line === "" ? [] : line.split(" "))).toBeUndefined();
    },
  );

  it.each(["help", "help serve", "help cluster status", "cluster help remove", "cluster remove node1"])(
    "%j is known",
    (line) => expect(unknownCommand(program(), line.split(" "))).toBeUndefined(),
  );
});
