// Original file: protos/shoal/schema.proto

export interface ClassDrop {
  classId?: string;
  className?: string;
  holders?: string[];
}

export interface ClassDrop__Output {
  classId: string;
  className: string;
  holders: string[];
}
