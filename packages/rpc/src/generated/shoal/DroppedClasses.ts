// Original file: protos/shoal/nodes.proto

export interface DroppedClasses {
  nodeName?: string;
  classIds?: string[];
}

export interface DroppedClasses__Output {
  nodeName: string;
  classIds: string[];
}
