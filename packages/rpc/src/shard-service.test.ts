import { openLink } from "./testing/open-link.js";
import { describeShardService } from "./testing/shard-service-suite.js";

describeShardService("in the process", async (node) => ({
  service: node,
  [Symbol.asyncDispose]: async () => undefined,
}));

describeShardService("over gRPC", async (node) => {
  const link = await openLink(node);
  return { service: link.client, [Symbol.asyncDispose]: () => link[Symbol.asyncDispose]() };
});
