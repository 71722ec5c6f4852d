import type { RefusalKind } from '#settlement/chain/rpc/node-refusals.ts';

export interface RpcCall {
  readonly method: string;
  readonly params: readonly unknown[];
  /** The caller's checks of the result, in addition to the method's own. */
  readonly accepts?: (result: unknown) => boolean;
}

/** A node understood the call and refused it. */
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

/** The reason why a provider gave no answer about the chain. */
type FaultKind =
  | Exclude<RefusalKind, 'answer'>
  /** No JSON-RPC response: a time-out, a lost connection, or a gateway's error page. */
  | 'silent'
  /** No logs within the time limit; a smaller range may work. */
  | 'slow'
  /** The result is not valid for this method. */
  | 'malformed'
  | 'wrong_chain'
  /** The call was not sent, because the provider has requested a pause. */
  | 'closed'
  /** The call was not sent, because our own limit of requests per second was reached. */
  | 'ceiling';

export class NodeFault extends Error {
  override name = 'NodeFault';
  readonly kind: FaultKind;
  /** The node's error, if it returned one. */
  readonly refusal: RpcRefusal | null;
  /** The pause that the provider requests; `null` if it requested none. */
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

export type Reply =
  | { readonly status: 'answered'; readonly result: unknown }
  /** The chain itself refuses. */
  | { readonly status: 'refused'; readonly refusal: RpcRefusal }
  /** The provider gave no answer about the chain, so the next one is tried. */
  | { readonly status: 'passed'; readonly fault: NodeFault };

export function passed(fault: NodeFault): Reply {
  return { status: 'passed', fault };
}
