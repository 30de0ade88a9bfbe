import { ChannelCredentials, type ChannelOptions } from "@grpc/grpc-js";
import { isOutsider } from "./outsiders.js";
import { inWords, peerNames } from "./peer-names.js";
import type { TlsSource } from "./tls-source.js";

/** How a client proves itself, and that whoever answers has `name` in its certificate. Plain text without a source. */
export function clientCredentials(tls: TlsSource | undefined, name: string): ChannelCredentials {
  if (tls === undefined) return ChannelCredentials.createInsecure();
  const { ca, certificate, key } = tls.current();
  return ChannelCredentials.createSsl(ca, key, certificate, {
    checkServerIdentity(_host, { subjectaltname = "" }) {
      const names = peerNames({ subjectaltname });
      if (names.includes(name) && !isOutsider(names)) return undefined;
      return new Error(`its certificate is that of ${inWords(names)}, not '${name}'`);
    },
  });
}

/** Of a channel to whoever has `name` in its certificate. */
export function channelOptions(name: string): ChannelOptions {
  return {
    // Each connection is its own: nobody shares one through the process.
    "grpc.use_local_subchannel_pool": 1,
    "grpc.initial_reconnect_backoff_ms": 50,
    "grpc.max_reconnect_backoff_ms": 1000,
    // As much as a sender has on its way, or distant machines wait for each other.
    "grpc-node.flow_control_window": 1024 * 1024,
    "grpc.enable_http_proxy": 0,
    "grpc.service_config_disable_resolution": 1,
    "grpc.enable_retries": 0,
    // Connections are mostly made to addresses that no certificate could name.
    "grpc.ssl_target_name_override": name,
  };
}
