// Original file: protos/shoal/frames.proto

export const FrameKind = {
  NONE: 0,
  REQUEST_PART: 1,
  REQUEST: 2,
  CANCEL: 3,
  ANSWER_PART: 4,
  ANSWER: 5,
  FAILURE: 6,
  HELLO: 7,
  DRAINING: 8,
  PING: 9,
  PONG: 10,
} as const;

export type FrameKind =
  | "NONE"
  | 0
  | "REQUEST_PART"
  | 1
  | "REQUEST"
  | 2
  | "CANCEL"
  | 3
  | "ANSWER_PART"
  | 4
  | "ANSWER"
  | 5
  | "FAILURE"
  | 6
  | "HELLO"
  | 7
  | "DRAINING"
  | 8
  | "PING"
  | 9
  | "PONG"
  | 10;

export type FrameKind__Output = (typeof FrameKind)[keyof typeof FrameKind];
