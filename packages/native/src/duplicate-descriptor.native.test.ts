import { closeSync, fstatSync, mkdtempSync, openSync, readSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { duplicateDescriptor } from "./duplicate-descriptor.js";

const folder = mkdtempSync(join(tmpdir(), "shoal-descriptors-"));
afterAll(() => rmSync(folder, { recursive: true }));

it("is of the same open file, and lives on when the first one is closed", () => {
  const path = join(folder, "file");
  writeFileSync(path, "abcdef");
  const first = openSync(path, "r");
  const second = duplicateDescriptor(first);
  expect(second).not.toBe(first);
  expect(fstatSync(second).ino).toBe(fstatSync(first).ino);
  const bytes = Buffer.alloc(3);
  readSync(first, bytes, 0, 3, null);
  closeSync(first);
  readSync(second, bytes, 0, 3, null);
  expect(String(bytes)).toBe("def");
  closeSync(second);
  expect(() => duplicateDescriptor(second)).toThrow(expect.objectContaining({ code: "EBADF" }));
});

it.each([[-1], [1.5], [Number.NaN], [2 ** 31], ["3"], [undefined], [null], [{}]])("refuses %s", (descriptor) => {
  expect(() => duplicateDescriptor(descriptor as number)).toThrow(TypeError);
});
