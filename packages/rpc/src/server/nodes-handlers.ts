import { ShoalError } from "@shoal/model";
import type { NodeDirectory, NodeRecord, NodeService } from "../node-service.js";
import { peerNames } from "../tls/peer-names.js";
import type { Handlers } from "../wire/service-definition.js";
import type { NODES } from "../wire/services.js";
import { sendLatest } from "./send-latest.js";
import { unaryHandler } from "./unary-handler.js";

/** `NodeService` behind gRPC, until `stopped`. `isSecure`: callers prove by their certificates who they are. */
export function nodesHandlers(service: NodeService, isSecure: boolean, stopped: AbortSignal): Handlers<typeof NODES> {
  return {
    Register: unaryHandler(async (request, context, call) => {
      const { name, shoalVersion, gitHash, secret, process, replaces } = request;
      const address = request.address === "" ? undefined : request.address;
      const node: NodeRecord = { name, address, shoalVersion, gitHash };
      if (isSecure) checkIsNode(name, peerNames(call.getAuthContext().sslPeerCertificate ?? {}));
      await service.register(node, context, secret === "" ? undefined : { secret, process, replaces });
      return wireNode(node);
    }),
    ConfirmDropped: unaryHandler(async (request, context, call) => {
      const { nodeName, classIds } = request;
      if (isSecure) checkIsNode(nodeName, peerNames(call.getAuthContext().sslPeerCertificate ?? {}));
      await service.confirmDropped(nodeName, classIds, context);
      return request;
    }),
    Remove: unaryHandler(async ({ name }, context) => wireNode(await service.remove(name, context))),
    Watch: (call) =>
      sendLatest<NodeDirectory>(call, stopped, {
        watch: (listener) => service.watchNodes(listener),
        write: ({ version, expectedStorageNodes, nodes }) =>
          call.write({ version, expectedStorageNodes, nodes: nodes.map(wireNode) }),
      }),
  };
}

function checkIsNode(name: string, names: readonly string[]): void {
  if (names.includes(name)) return;
  const proven = names.map((one) => `'${one}'`).join(", ") || "nobody";
  throw new ShoalError("forbidden", `whoever has the certificate of ${proven} spoke for node '${name}'`);
}

function wireNode({ name, address = "", shoalVersion, gitHash }: NodeRecord) {
  return { name, address, shoalVersion, gitHash };
}
