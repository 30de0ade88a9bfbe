import type { Memory } from "@shoal/cluster";
import type { Json } from "@shoal/model";
import { expect, it } from "vitest";
import { FileExtensions } from "./file-extensions.js";

class OneFile implements Memory<Readonly<Record<string, Json>>> {
  stored: string | undefined;
  isFull = false;

  async load() {
    return this.stored === undefined ? undefined : (JSON.parse(this.stored) as Readonly<Record<string, Json>>);
  }

  async store(value: Readonly<Record<string, Json>>) {
    if (this.isFull) throw new Error("disk full");
    await new Promise((resolve) => setImmediate(resolve));
    this.stored = JSON.stringify(value);
  }
}

it("keeps all that was put at the same time, tells of it, and has it after a start", async () => {
  const file = new OneFile();
  const extensions = await FileExtensions.open(file);
  let reported = 0;
  using _ = extensions.onChange(() => reported++);
  await Promise.all([1, 2, 3].map((number) => extensions.put(`key ${number}`, { number })));
  expect(reported).toBe(3);
  const again = await FileExtensions.open(file);
  expect([...again.entries]).toEqual([1, 2, 3].map((number) => [`key ${number}`, { number }]));
});

it("does not know what could not be stored, and goes on", async () => {
  const file = new OneFile();
  const extensions = await FileExtensions.open(file);
  file.isFull = true;
  await expect(extensions.put("a", 1)).rejects.toThrow("disk full");
  expect(extensions.entries.size).toBe(0);
  file.isFull = false;
  await extensions.put("b", 2);
  expect([...extensions.entries.keys()]).toEqual(["b"]);
});
