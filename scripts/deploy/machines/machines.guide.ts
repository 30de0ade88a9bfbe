import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readText } from "../../source-tree.js";
import { VirtualMachines } from "./virtual-machines.js";

const ADDRESSES = ["10.77.0.1", "10.77.0.2", "10.77.0.3"];
const GUIDE = readText("deploy/MACHINES.md");
const RESTART = "5. Restart";
const STAND_INS = "scripts/deploy/machines";
const MINUTES = 60_000;

interface Block {
  readonly section: string;
  /** `every` machine, the `first` one, or a slow `build` whose outcome is here already. */
  readonly where: string;
  readonly script: string;
}

function blocksOf(text: string): readonly Block[] {
  const found: Block[] = [];
  let section = "";
  for (const [, heading, where = "", script = ""] of text.matchAll(/^## (.*)$|^```bash (\w+)\n([\s\S]*?)^```$/gm)) {
    if (heading !== undefined) section = heading;
    else found.push({ section, where, script });
  }
  return found;
}

const blocks = blocksOf(GUIDE);

let machines: VirtualMachines;
beforeAll(async () => {
  machines = await VirtualMachines.start(ADDRESSES);
  for (const name of machines.names) {
    // What is installed and built already; both are slow, and the same everywhere.
    const prepare = [
      `cp ${STAND_INS}/systemctl.sh /usr/local/bin/systemctl`,
      `cp ${STAND_INS}/scp.sh /usr/local/bin/scp`,
      "printf '#!/bin/sh\\nexit 0\\n' >/usr/local/bin/apt-get && chmod +x /usr/local/bin/*",
      "mkdir -p /opt/shoal && mount --bind . /opt/shoal",
    ];
    const { code, output } = await machines.run(name, prepare.join("\n"), MINUTES);
    expect(code, output).toBe(0);
  }
});
afterAll(() => machines?.[Symbol.asyncDispose]());

async function runOn(name: string, script: string): Promise<string> {
  const { code, output } = await machines.run(name, script, 2 * MINUTES);
  expect(code, `${name}: ${output}`).toBe(0);
  return output;
}

/** Clients behind HAProxy as `deploy/compose` has it, on a port of its own and with two of the gateways. */
async function startLoad(): Promise<{ stop: () => Promise<{ asked: number; failures: readonly string[] }> }> {
  const adapted = [
    "s/bind :8080/bind 127.0.0.1:8088/",
    // Names stand in a file here, not in a name server.
    "s/ resolvers docker / /",
    "s/gateway-1:8080/10.77.0.1:8080/",
    "s/gateway-2:8080/10.77.0.2:8080/",
  ];
  const start = `sed '${adapted.join(";")}' deploy/compose/haproxy.cfg >/run/haproxy.cfg; haproxy -D -f /run/haproxy.cfg; sleep 2`;
  await runOn("machine-1", start);
  const query = `{"query":"{ Get { Word(limit: 3 nearVector: {vector: [0.2, 0.8]}) { text } } }"}`;
  const object = `{"class":"Word","properties":{"text":"word"},"vector":[0.3,0.7]}`;
  // A line a request: the status, and what is wrong if anything is.
  const loop = `
    ask() {
      curl --silent --show-error --max-time 60 -o /run/answer -w '%{http_code} ' http://127.0.0.1:8088/v1/$1 \\
        -H 'content-type: application/json' -d "$2" 2>&1 || true
      grep -o '"errors\\?":\\[.*' /run/answer || echo
    }
    touch /run/load
    while [ -e /run/load ]; do ask graphql '${query}'; ask objects '${object}'; sleep 0.05; done`;
  const running = machines.run("machine-1", loop, 3 * MINUTES);
  return {
    async stop() {
      await runOn("machine-1", "rm /run/load");
      const { output } = await running;
      const answers = output.split("\n").filter((line) => line !== "");
      return { asked: answers.length, failures: answers.filter((line) => line.trim() !== "200") };
    },
  };
}

describe("the guide for three machines", () => {
  it("has blocks that say where they run", () => {
    expect(GUIDE.match(/^```\w/gm)?.length).toBe(blocks.length);
    expect(new Set(blocks.map((block) => block.where))).toEqual(new Set(["every", "build", "first"]));
  });

  it.each(blocks.filter((block) => block.where !== "build"))(
    "$section, on $where",
    async ({ section, where, script }) => {
      const names = where === "first" ? machines.names.slice(0, 1) : machines.names;
      const load = section.startsWith(RESTART) ? await startLoad() : undefined;
      for (const name of names) await runOn(name, script);
      if (load === undefined) return;
      const { asked, failures } = await load.stop();
      console.log(`${asked} requests through HAProxy meanwhile`);
      expect(failures).toEqual([]);
      expect(asked).toBeGreaterThan(100);
    },
  );

  it("has a section about restarts", () => {
    expect(blocks.filter(({ section }) => section.startsWith(RESTART)).length).toBe(1);
  });

  it("S6: lets nobody into etcd but coordinators", async () => {
    const status = (role: string, door: string): string =>
      `cd /etc/shoal/${role}; curl --http1.1 --silent --max-time 20 -o /dev/null -w '%{http_code}' --cacert ca.pem --cert cert.pem ` +
      `--key key.pem https://$(hostname | sed 's/machine-/10.77.0./'):${door} || true`;
    for (const door of ["2379/version", "2380/members"]) {
      expect(await runOn("machine-1", status("coordinator", door)), door).toBe("200");
      for (const role of ["gateway", "storage-node"]) {
        expect(await runOn("machine-1", status(role, door)), `${role} at ${door}`).toBe("000");
      }
    }
  });

  it("leaves a cluster that goes on without one of its machines", async () => {
    const status = "curl --fail --silent --max-time 20 http://10.77.0.1:8080/v1/schema";
    expect(await runOn("machine-1", status)).toContain('"Word"');
    machines.cutPower("machine-3");
    const classOf = (name: string): string =>
      `curl --silent --max-time 20 -o /dev/null -w '%{http_code}' http://10.77.0.2:8080/v1/schema ` +
      `-H 'content-type: application/json' -d '{"class":"${name}","properties":[]}'`;
    await expect.poll(() => runOn("machine-2", classOf("Sentence")), { timeout: MINUTES, interval: 500 }).toBe("200");
    expect(await runOn("machine-1", status)).toContain('"Sentence"');
  });
});
