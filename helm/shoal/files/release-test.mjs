// `helm test`: the gateways are ready, and all storage nodes have joined. Where tokens are demanded, the second is not asked.
const { ORIGIN_OF_GATEWAYS: origin = "", STORAGE_NODES: expected = "" } = process.env;

async function ask(path) {
  const answer = await fetch(`${origin}${path}`, { signal: AbortSignal.timeout(10_000) });
  return { status: answer.status, body: await answer.text() };
}

const ready = await ask("/v1/.well-known/ready");
if (ready.status !== 200) throw new Error(`the gateways are not ready: ${ready.status} ${ready.body}`);
const { status, body } = await ask("/v1/nodes");
if (status === 401) {
  console.log("ready; /v1/nodes asks for a token, as everything does");
} else {
  if (status !== 200) throw new Error(`GET /v1/nodes is ${status}: ${body}`);
  const { nodes } = JSON.parse(body);
  const well = nodes.filter((node) => node.status === "HEALTHY");
  if (well.length < Number(expected)) throw new Error(`${well.length} of ${expected} storage nodes are well: ${body}`);
  console.log(`ready, with ${well.length} storage nodes`);
}
