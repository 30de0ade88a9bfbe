import { expect, test } from "vitest";
import { readFaultArguments } from "./fault-arguments.js";

const ONE_PROCESS = ["R1", "R3", "R10", "R11", "R13", "R14", "R15", "R17", "R29"];
const CLUSTER = [
  ...["R1", "R1", "R3", "R3", "R4", "R4", "R5", "R5", "R7", "R7", "R8", "R8", "R9", "R9"],
  ...["R18", "R18", "R19", "R19-many", "R20", "R21", "R22", "R25"],
  ...["R28", "R28", "F14", "F14", "S11", "S12"],
].map((id) => `${id} cluster`);

test.each([
  [[], { rows: [...ONE_PROCESS, ...CLUSTER], size: "long", seed: undefined }],
  [["--on", "process"], { rows: ONE_PROCESS, size: "long", seed: undefined }],
  [["--on", "cluster", "--short"], { rows: CLUSTER, size: "short", seed: undefined }],
  [["R1"], { rows: ["R1", "R1 cluster", "R1 cluster"], size: "long", seed: undefined }],
  [["R1", "--copies", "1"], { rows: ["R1", "R1 cluster"], size: "long", seed: undefined }],
  [["R1", "R18", "--copies", "3"], { rows: ["R1 cluster", "R18 cluster"], size: "long", seed: undefined }],
  [["R1", "--copies", "2"], undefined],
  [["R1", "R3", "--short", "--on", "process"], { rows: ["R1", "R3"], size: "short", seed: undefined }],
  [["--seed", "7", "R13"], { rows: ["R13"], size: "long", seed: 7 }],
  [["R13", "--seed", "7"], { rows: ["R13"], size: "long", seed: 7 }],
  [["R99"], undefined],
  [["R13", "--on", "cluster"], undefined],
  [["--on", "moon"], undefined],
  [["--long"], undefined],
  [["R1", "--seed"], undefined],
  [["--seed", "x"], undefined],
])("%j", (words, expected) => {
  const read = readFaultArguments(words);
  const rows = read?.rows.map(({ id, on }) => (on === undefined ? id : `${id} ${on}`));
  expect(read === undefined ? undefined : { ...read, rows }).toEqual(expected);
});
