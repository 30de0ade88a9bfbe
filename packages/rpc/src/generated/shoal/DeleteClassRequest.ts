// Original file: protos/shoal/schema.proto

export interface DeleteClassRequest {
  className?: string;
  classId?: string;
  changeId?: string;
}

export interface DeleteClassRequest__Output {
  className: string;
  classId: string;
  changeId: string;
}
