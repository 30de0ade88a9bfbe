// Original file: protos/shoal/schema.proto

import type * as grpc from "@grpc/grpc-js";
import type { MethodDefinition } from "@grpc/proto-loader";
import type {
  ClassRequest as _shoal_ClassRequest,
  ClassRequest__Output as _shoal_ClassRequest__Output,
} from "../shoal/ClassRequest.js";
import type {
  DeleteClassAnswer as _shoal_DeleteClassAnswer,
  DeleteClassAnswer__Output as _shoal_DeleteClassAnswer__Output,
} from "../shoal/DeleteClassAnswer.js";
import type {
  DeleteClassRequest as _shoal_DeleteClassRequest,
  DeleteClassRequest__Output as _shoal_DeleteClassRequest__Output,
} from "../shoal/DeleteClassRequest.js";
import type {
  FixDimensionsAnswer as _shoal_FixDimensionsAnswer,
  FixDimensionsAnswer__Output as _shoal_FixDimensionsAnswer__Output,
} from "../shoal/FixDimensionsAnswer.js";
import type {
  FixDimensionsRequest as _shoal_FixDimensionsRequest,
  FixDimensionsRequest__Output as _shoal_FixDimensionsRequest__Output,
} from "../shoal/FixDimensionsRequest.js";
import type {
  PropertiesRequest as _shoal_PropertiesRequest,
  PropertiesRequest__Output as _shoal_PropertiesRequest__Output,
} from "../shoal/PropertiesRequest.js";
import type {
  PropertyRequest as _shoal_PropertyRequest,
  PropertyRequest__Output as _shoal_PropertyRequest__Output,
} from "../shoal/PropertyRequest.js";
import type {
  RecordAnswer as _shoal_RecordAnswer,
  RecordAnswer__Output as _shoal_RecordAnswer__Output,
} from "../shoal/RecordAnswer.js";
import type {
  RestoreRequest as _shoal_RestoreRequest,
  RestoreRequest__Output as _shoal_RestoreRequest__Output,
} from "../shoal/RestoreRequest.js";
import type {
  SchemaPosition as _shoal_SchemaPosition,
  SchemaPosition__Output as _shoal_SchemaPosition__Output,
} from "../shoal/SchemaPosition.js";
import type {
  SchemaUpdate as _shoal_SchemaUpdate,
  SchemaUpdate__Output as _shoal_SchemaUpdate__Output,
} from "../shoal/SchemaUpdate.js";
import type {
  SettleRequest as _shoal_SettleRequest,
  SettleRequest__Output as _shoal_SettleRequest__Output,
} from "../shoal/SettleRequest.js";
import type {
  UpdateClassRequest as _shoal_UpdateClassRequest,
  UpdateClassRequest__Output as _shoal_UpdateClassRequest__Output,
} from "../shoal/UpdateClassRequest.js";

export interface SchemaHandlers extends grpc.UntypedServiceImplementation {
  AddClass: grpc.handleUnaryCall<_shoal_ClassRequest__Output, _shoal_RecordAnswer>;

  AddProperty: grpc.handleUnaryCall<_shoal_PropertyRequest__Output, _shoal_RecordAnswer>;

  Current: grpc.handleUnaryCall<_shoal_SchemaPosition__Output, _shoal_SchemaUpdate>;

  DeleteClass: grpc.handleUnaryCall<_shoal_DeleteClassRequest__Output, _shoal_DeleteClassAnswer>;

  EnsureClass: grpc.handleUnaryCall<_shoal_ClassRequest__Output, _shoal_RecordAnswer>;

  EnsureProperties: grpc.handleUnaryCall<_shoal_PropertiesRequest__Output, _shoal_RecordAnswer>;

  FixDimensions: grpc.handleUnaryCall<_shoal_FixDimensionsRequest__Output, _shoal_FixDimensionsAnswer>;

  Restore: grpc.handleUnaryCall<_shoal_RestoreRequest__Output, _shoal_SchemaPosition>;

  Settle: grpc.handleUnaryCall<_shoal_SettleRequest__Output, _shoal_SchemaPosition>;

  UpdateClass: grpc.handleUnaryCall<_shoal_UpdateClassRequest__Output, _shoal_RecordAnswer>;

  Watch: grpc.handleServerStreamingCall<_shoal_SchemaPosition__Output, _shoal_SchemaUpdate>;
}

export interface SchemaDefinition extends grpc.ServiceDefinition {
  AddClass: MethodDefinition<
    _shoal_ClassRequest,
    _shoal_RecordAnswer,
    _shoal_ClassRequest__Output,
    _shoal_RecordAnswer__Output
  >;
  AddProperty: MethodDefinition<
    _shoal_PropertyRequest,
    _shoal_RecordAnswer,
    _shoal_PropertyRequest__Output,
    _shoal_RecordAnswer__Output
  >;
  Current: MethodDefinition<
    _shoal_SchemaPosition,
    _shoal_SchemaUpdate,
    _shoal_SchemaPosition__Output,
    _shoal_SchemaUpdate__Output
  >;
  DeleteClass: MethodDefinition<
    _shoal_DeleteClassRequest,
    _shoal_DeleteClassAnswer,
    _shoal_DeleteClassRequest__Output,
    _shoal_DeleteClassAnswer__Output
  >;
  EnsureClass: MethodDefinition<
    _shoal_ClassRequest,
    _shoal_RecordAnswer,
    _shoal_ClassRequest__Output,
    _shoal_RecordAnswer__Output
  >;
  EnsureProperties: MethodDefinition<
    _shoal_PropertiesRequest,
    _shoal_RecordAnswer,
    _shoal_PropertiesRequest__Output,
    _shoal_RecordAnswer__Output
  >;
  FixDimensions: MethodDefinition<
    _shoal_FixDimensionsRequest,
    _shoal_FixDimensionsAnswer,
    _shoal_FixDimensionsRequest__Output,
    _shoal_FixDimensionsAnswer__Output
  >;
  Restore: MethodDefinition<
    _shoal_RestoreRequest,
    _shoal_SchemaPosition,
    _shoal_RestoreRequest__Output,
    _shoal_SchemaPosition__Output
  >;
  Settle: MethodDefinition<
    _shoal_SettleRequest,
    _shoal_SchemaPosition,
    _shoal_SettleRequest__Output,
    _shoal_SchemaPosition__Output
  >;
  UpdateClass: MethodDefinition<
    _shoal_UpdateClassRequest,
    _shoal_RecordAnswer,
    _shoal_UpdateClassRequest__Output,
    _shoal_RecordAnswer__Output
  >;
  Watch: MethodDefinition<
    _shoal_SchemaPosition,
    _shoal_SchemaUpdate,
    _shoal_SchemaPosition__Output,
    _shoal_SchemaUpdate__Output
  >;
}
