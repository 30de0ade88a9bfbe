import type { Message } from "./protobuf.js";

/** What both sides need to know of a method beside its messages. */
export interface CallRules {
  /** Whether a call that may have been carried out may be sent again, to another coordinator. */
  readonly isRepeatable?: boolean;
  /** Whether it waits for storage nodes or for other changes: such calls are answered within ten seconds. */
  readonly isSlow?: boolean;
  /** Whether every process of the cluster may call it. Absent: gateways alone. */
  readonly isForAll?: boolean;
}

/** A method of a service as grpc-js takes it: `Asked` and `Answer` are read, `AskedGiven` and `AnswerGiven` written. */
export interface MethodDefinition<Asked, AskedGiven, Answer, AnswerGiven, IsStream extends boolean> extends CallRules {
  readonly path: string;
  readonly requestStream: false;
  readonly responseStream: IsStream;
  readonly requestSerialize: (request: AskedGiven) => Buffer;
  readonly requestDeserialize: (bytes: Buffer) => Asked;
  readonly responseSerialize: (answer: AnswerGiven) => Buffer;
  readonly responseDeserialize: (bytes: Buffer) => Answer;
  /** What it is made of, by name. */
  readonly request: Message<Asked, AskedGiven>;
  readonly answer: Message<Answer, AnswerGiven>;
}

type AtPath<Definition> = (path: string) => Definition;

/** A method that is asked once and answers once. */
export function unary<Asked, AskedGiven, Answer, AnswerGiven>(
  request: Message<Asked, AskedGiven>,
  answer: Message<Answer, AnswerGiven>,
  rules: CallRules = {},
): AtPath<MethodDefinition<Asked, AskedGiven, Answer, AnswerGiven, false>> {
  return (path) => define(path, request, answer, false, rules);
}

/** A method that is asked once and answers until one of both sides ends it. */
export function watch<Asked, AskedGiven, Answer, AnswerGiven>(
  request: Message<Asked, AskedGiven>,
  answer: Message<Answer, AnswerGiven>,
  rules: CallRules = {},
): AtPath<MethodDefinition<Asked, AskedGiven, Answer, AnswerGiven, true>> {
  return (path) => define(path, request, answer, true, rules);
}

/** A service by its methods, whose names stand in their paths. */
export function service<Methods extends Readonly<Record<string, AtPath<unknown>>>>(
  name: string,
  methods: Methods,
): { readonly [Name in keyof Methods]: ReturnType<Methods[Name]> } {
  const defined = Object.entries(methods).map(([method, at]) => [method, at(`/shoal.${name}/${method}`)]);
  return Object.fromEntries(defined) as { readonly [Name in keyof Methods]: ReturnType<Methods[Name]> };
}

function define<Asked, AskedGiven, Answer, AnswerGiven, IsStream extends boolean>(
  path: string,
  request: Message<Asked, AskedGiven>,
  answer: Message<Answer, AnswerGiven>,
  responseStream: IsStream,
  rules: CallRules,
): MethodDefinition<Asked, AskedGiven, Answer, AnswerGiven, IsStream> {
  return {
    path,
    requestStream: false,
    responseStream,
    requestSerialize: request.encode,
    requestDeserialize: request.decode,
    responseSerialize: answer.encode,
    responseDeserialize: answer.decode,
    request,
    answer,
    ...rules,
  };
}
