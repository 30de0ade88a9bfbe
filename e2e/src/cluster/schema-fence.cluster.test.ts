import { seededRandom } from "@shoal/seeded-random";
import { describe, expect, it } from "vitest";
import { Failures } from "../faults/fault-row.js";
import type { Answer } from "../http-client.js";
import { lacks } from "../needs.js";
import { testSeed } from "../random-objects.js";
import { type Cluster, withCluster } from "./cluster.js";
import { classBody, ReMadeClass, untilAnswered } from "./rows/re-made-class.js";
import { healed, msUntil, pause } from "./rows/row-on-cluster.js";
import { FAST } from "./slow-link.js";

/** A holder that does not confirm makes an answer 503 after 10 s. */
const SILENT_MS_MAX = 15_000;
const HELD_MS_MAX = 15_000;
const SETTLED_MS = 3_000;
const EMBEDDED = { coordinators: 1, etcdMembers: 0, env: { AUTOSCHEMA_ENABLED: "false" } } as const;

/** What was acknowledged is there, at every gateway. */
async function expectAll(cluster: Cluster, made: ReMadeClass): Promise<void> {
  const failures = new Failures();
  await healed(cluster);
  for (const { name, http } of cluster.gateways) await made.check(name, http, failures);
  expectNone(failures);
}

function expectNone({ lines }: Failures): void {
  if (lines.length > 0) expect.fail(lines.join("\n"));
}

describe("a change that was answered with an error", () => {
  it.each(["weaviate", "spec"])("F1: is answered as success when it is repeated, profile %s", async (profile) => {
    const options = { gateways: 1, storageNodes: 2, ...EMBEDDED, slowToCoordinators: ["gateway-0"] };
    await withCluster({ ...options, env: { ...EMBEDDED.env, WIRE_PROFILE: profile } }, async (cluster) => {
      const link = cluster.links.get("coordinator-0");
      if (link === undefined) throw new Error("nothing is between the gateway and the coordinator");
      /** Its answer never arrives; it is repeated when answers arrive again. */
      const withoutAnswer = async (send: () => Promise<Answer>): Promise<string> => {
        link.backSpeed = { ...FAST, delayMs: 2 * HELD_MS_MAX };
        const answers = setTimeout(() => {
          link.backSpeed = undefined;
        }, HELD_MS_MAX);
        const first = await send();
        clearTimeout(answers);
        link.backSpeed = undefined;
        const { answer } = first.status < 500 ? { answer: first } : await untilAnswered(send);
        return `${answer.status} ${answer.status === 200 ? "" : answer.text}`;
      };
      const { http } = cluster;
      expect(await withoutAnswer(() => http.post("/v1/schema", classBody("Car")))).toBe("200 ");
      expect((await http.post("/v1/schema", classBody("Car"))).status).toBe(422);
      expect(await withoutAnswer(() => http.delete("/v1/schema/Car"))).toBe("200 ");
      expect((await http.delete("/v1/schema/Car")).status).toBe(400);
    });
  });

  it.skipIf(lacks("etcd"))(
    "F14: a DELETE that waits in a stopped coordinator does not meet the class that was made since (needs etcd)",
    async () => {
      const options = { gateways: 2, storageNodes: 2, coordinators: 2, etcdMembers: 1, env: EMBEDDED.env } as const;
      await withCluster(options, async (cluster) => {
        const [behind, other] = cluster.gateways;
        if (behind === undefined || other === undefined) throw new Error("no such process");
        const failures = new Failures();
        const made = new ReMadeClass("Car", seededRandom(testSeed()).next);
        await made.make(behind.http, failures);
        await made.fill(behind.http);
        // One of them is the one that the gateway asks, until its connection counts as lost.
        for (const stopped of cluster.coordinators) {
          stopped.pause();
          await made.makeAnew(behind.http, failures);
          await made.fill(other.http);
          stopped.resume();
          await pause(SETTLED_MS);
          await expectAll(cluster, made);
        }
        expectNone(failures);
      });
    },
  );

  it("F14: a DELETE that the network held does not meet the class that was made since", async () => {
    const options = { gateways: 2, storageNodes: 2, ...EMBEDDED, slowToCoordinators: ["gateway-0"] };
    await withCluster(options, async (cluster) => {
      const link = cluster.links.get("coordinator-0");
      const [behind, other] = cluster.gateways;
      if (behind === undefined || other === undefined || link === undefined) throw new Error("no such process");
      const failures = new Failures();
      const made = new ReMadeClass("Car", seededRandom(testSeed()).next);
      await made.make(behind.http, failures);
      await made.fill(behind.http);
      link.speed = { ...FAST, delayMs: HELD_MS_MAX };
      const arriving = pause(HELD_MS_MAX);
      // Its client gets an error when the connection counts as lost, and asks elsewhere.
      await behind.http.delete("/v1/schema/Car");
      link.speed = FAST;
      await made.makeAnew(other.http, failures);
      await made.fill(other.http);
      await arriving;
      await pause(SETTLED_MS);
      await expectAll(cluster, made);
      expectNone(failures);
    });
  });

  it("F14: a DELETE that was answered with an error by a stopped coordinator is not made behind its client's back", async () => {
    await withCluster({ gateways: 1, storageNodes: 2, ...EMBEDDED }, async (cluster) => {
      const { http } = cluster;
      const coordinator = cluster.member("coordinator-0");
      expect((await http.post("/v1/schema", classBody("Car"))).status).toBe(200);
      coordinator.pause();
      const answer = await http.delete("/v1/schema/Car");
      coordinator.resume();
      await pause(SETTLED_MS);
      await cluster.reached();
      const found = await http.get("/v1/schema/Car");
      // What was made although it was answered with an error is answered as success to whoever repeats it.
      const repeated = await untilAnswered(() => http.delete("/v1/schema/Car"));
      expect([answer.status >= 500, [200, 404].includes(found.status), repeated.answer.status]).toEqual([
        true,
        true,
        200,
      ]);
    });
  });
});

it("F14: a gateway that cannot reach the coordinator does not say that a class is there, or is not, as it was before", async () => {
  const options = { gateways: 2, storageNodes: 2, ...EMBEDDED, slowToCoordinators: ["gateway-0"] };
  await withCluster(options, async (cluster) => {
    const link = cluster.links.get("coordinator-0");
    const [behind, other] = cluster.gateways;
    if (behind === undefined || other === undefined || link === undefined) throw new Error("no such process");
    expect((await behind.http.post("/v1/schema", classBody("Gone"))).status).toBe(200);
    link.speed = { ...FAST, delayMs: HELD_MS_MAX };
    expect((await other.http.delete("/v1/schema/Gone")).status).toBe(200);
    expect((await other.http.post("/v1/schema", classBody("Car"))).status).toBe(200);
    const id = "00000000-0000-4000-8000-000000000001";
    const object = { class: "Car", id, properties: { n: 1 }, vector: [1, 2] };
    expect((await other.http.post("/v1/objects", object)).status).toBe(200);
    const answers = [
      ["GET class", await behind.http.get("/v1/schema/Car")],
      ["POST object", await behind.http.post("/v1/objects", { ...object, id: undefined })],
      ["POST class", await behind.http.post("/v1/schema", classBody("Gone"))],
      ["DELETE class", await behind.http.delete("/v1/schema/Car")],
    ] as const;
    link.speed = FAST;
    const wrong = answers.filter(([, { status }]) => status !== 503);
    expect(wrong.map(([what, { status, text }]) => `${what}: ${status} ${text}`).join("")).toBe("");
    await expect.poll(async () => (await behind.http.get(`/v1/objects/${id}`)).status).toBe(200);
  });
});

describe("a DELETE waits for every holder", () => {
  it("F1: names one that was killed, stays pending, and is done when that one is back", async () => {
    await withCluster({ gateways: 2, storageNodes: 3, ...EMBEDDED }, async (cluster) => {
      const { http } = cluster;
      const failures = new Failures();
      const made = new ReMadeClass("Car", seededRandom(testSeed()).next);
      await made.make(http, failures);
      await made.fill(http);
      const node = cluster.member("storage-1");
      await node.kill();
      const begun = performance.now();
      const silent = await http.delete("/v1/schema/Car");
      const tookMs = performance.now() - begun;
      expect([silent.status, silent.headers.has("retry-after")], silent.text).toEqual([503, true]);
      expect(silent.text).toContain("storage-1");
      expect(tookMs).toBeLessThan(SILENT_MS_MAX);
      for (const gateway of cluster.gateways) {
        const refused = await gateway.http.post("/v1/schema", classBody("Car"));
        expect([refused.status, refused.text.includes("storage-1")], refused.text).toEqual([503, true]);
        expect((await gateway.http.get("/v1/schema/Car")).status).toBe(404);
      }
      node.spawn();
      await made.makeAnew(http, failures);
      await made.fill(http);
      await expectAll(cluster, made);
      expectNone(failures);
    });
  });

  it("F1: is answered 200 after one that stood still for 5 s goes on", async () => {
    await withCluster({ gateways: 2, storageNodes: 3, ...EMBEDDED }, async (cluster) => {
      const { http } = cluster;
      const failures = new Failures();
      const made = new ReMadeClass("Car", seededRandom(testSeed()).next);
      await made.make(http, failures);
      await made.fill(http);
      const node = cluster.member("storage-1");
      node.pause();
      let isDone = false;
      const making = made.makeAnew(http, failures).then(() => {
        isDone = true;
      });
      const doneMs = await msUntil(async () => isDone, 5_000);
      node.resume();
      await making;
      expect(doneMs).toBeUndefined();
      await made.fill(http);
      await expectAll(cluster, made);
      expectNone(failures);
    });
  });
});
