// Original file: protos/shoal/schema.proto

export interface FixDimensionsRequest {
  className?: string;
  classId?: string;
  dimensions?: number;
}

export interface FixDimensionsRequest__Output {
  className: string;
  classId: string;
  dimensions: number;
}
