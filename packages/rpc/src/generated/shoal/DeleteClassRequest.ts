// Original file: protos/shoal/schema.proto

export interface DeleteClassRequest {
  className?: string;
}

export interface DeleteClassRequest__Output {
  className: string;
}
