import type { RefusalKind } from '#settlement/chain/node-refusals.ts';

export interface RpcCall {
  readonly method: string;
  readonly params: readonly unknown[];
  /** What the caller knows about the answer beyond the schema of the method. */
  readonly accepts?: (result: unknown) => boolean;
}

/** The node understood the call and said no. */
export class RpcRefusal extends Error {
  override name = 'RpcRefusal';
  readonly code: number;
  /** Revert data of a call, if any. */
  readonly data: unknown;

  constructor(code: number, message: string, data: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

/** Why an address gave no answer about the chain. */
type FaultKind =
  | Exclude<RefusalKind, 'answer'>
  /** Not JSON-RPC at all: a time-out, a lost connection, a gateway's page. */
  | 'silent'
  /** No logs within the time limit: fewer blocks may take less. */
  | 'slow'
  /** Not what the method can answer. */
  | 'malformed'
  | 'wrong_chain'
  /** Not asked: it wants to be left alone. */
  | 'closed'
  /** Not asked: our own ceiling of requests per second. */
  | 'ceiling';

export class NodeFault extends Error {
  override name = 'NodeFault';
  readonly kind: FaultKind;
  /** What the node said, if it said anything. */
  readonly refusal: RpcRefusal | null;
  /** How long it wants to be left alone; null: it did not say. */
  readonly pauseMs: number | null;

  constructor(
    kind: FaultKind,
    message: string,
    told: { refusal?: RpcRefusal; pauseMs?: number | null; cause?: unknown } = {},
  ) {
    super(message, { cause: told.cause });
    this.kind = kind;
    this.refusal = told.refusal ?? null;
    this.pauseMs = told.pauseMs ?? null;
  }
}

/** One address's reply to one call. */
export type Reply =
  | { readonly status: 'answered'; readonly result: unknown }
  /** The chain itself refuses. */
  | { readonly status: 'refused'; readonly refusal: RpcRefusal }
  /** Says nothing about the chain: ask the next address. */
  | { readonly status: 'passed'; readonly fault: NodeFault };

export function passed(fault: NodeFault): Reply {
  return { status: 'passed', fault };
}
