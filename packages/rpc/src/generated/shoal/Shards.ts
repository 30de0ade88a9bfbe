// Original file: protos/shoal/frames.proto

import type * as grpc from "@grpc/grpc-js";
import type { MethodDefinition } from "@grpc/proto-loader";
import type { Packet as _shoal_Packet, Packet__Output as _shoal_Packet__Output } from "../shoal/Packet.js";

export interface ShardsHandlers extends grpc.UntypedServiceImplementation {
  Talk: grpc.handleBidiStreamingCall<_shoal_Packet__Output, _shoal_Packet>;
}

export interface ShardsDefinition extends grpc.ServiceDefinition {
  Talk: MethodDefinition<_shoal_Packet, _shoal_Packet, _shoal_Packet__Output, _shoal_Packet__Output>;
}
