/** A node's error response. */
export interface Said {
  readonly method: string;
  /** The HTTP status of the response. */
  readonly status: number;
  readonly code: number;
  readonly message: string;
}

export type RefusalKind =
  /** About the chain's state or the transaction: every node would give the same answer. */
  | 'answer'
  /** Temporary: rate limit, quota or overload. */
  | 'limit'
  /** Access denied: an invalid key, plan or origin. */
  | 'access'
  /** The range has too many blocks. */
  | 'range'
  /** The range has too many logs; another range of the same width may work. */
  | 'results'
  /** The batch has too many calls. */
  | 'batch'
  /** The node does not have the data, or has pruned it. */
  | 'missing'
  /** The node does not support the method or the block tag. */
  | 'unsupported'
  /** Unclassified, so it does not count as an answer about the chain. */
  | 'unknown';

interface Rule {
  readonly kind: RefusalKind;
  /** Applies to these methods only. */
  readonly methods?: RegExp;
  readonly statuses?: readonly number[];
  readonly codes?: readonly number[];
  readonly text?: RegExp;
}

/** Returns a pattern that matches any of these, ignoring case. */
function oneOf(...patterns: readonly RegExp[]): RegExp {
  return new RegExp(patterns.map(({ source }) => source).join('|'), 'i');
}

const RUNS = /^eth_(call|estimateGas)$/;
const SENDS = /^eth_sendRawTransaction$/;
const LOGS = /^eth_getLogs$/;

/**
 * Reverts, in words: go-ethereum, Besu ("Execution reverted"), Hardhat Network reference ("VM
 * Exception"), Nethermind "JSON-RPC errors" (-32015), OpenEthereum ("VM execution error").
 */
const REVERTED: Rule = {
  kind: 'answer',
  methods: RUNS,
  text: oneOf(
    /^(execution |transaction )?revert/,
    /execution reverted/,
    /^(error: )?vm exception while processing transaction: (error: )?revert/,
    /vm execution error.*revert/,
  ),
};

/**
 * Rules; the first that matches by code, status or text decides. Codes mean different things at
 * different providers (-32005 is a rate limit at one, and too wide a range of logs at another), so
 * unambiguous texts come before ambiguous codes. A comment names its sources, which are pages of
 * the provider's documentation or the node's source code, by title.
 */
const RULES: readonly Rule[] = [
  // HTTP semantics (RFC 9110) take precedence over the body.
  { kind: 'access', statuses: [401, 402, 403, 407, 451] },
  { kind: 'limit', statuses: [408, 425, 429] },

  // go-ethereum "internal/ethapi: errors" (3).
  { kind: 'answer', methods: RUNS, codes: [3] },
  REVERTED,
  // go-ethereum "core/types: transaction signing" ("invalid sender: invalid chain id for signer"),
  // reth "InvalidTransactionError" ("chain ID mismatch"): this node serves another chain, and the
  // next node may serve the right one.
  { kind: 'unknown', methods: SENDS, text: /chain.?id/i },
  // go-ethereum "core/txpool: errors" and "core: error", reth "pool errors", Erigon "txpool",
  // Besu "Transaction validation errors", Nethermind "AcceptTxResult", anvil
  // "InvalidTransactionError".
  {
    kind: 'answer',
    methods: SENDS,
    text: oneOf(
      /already (known|imported|in the (mem)?pool)|known transaction/,
      /nonce (is )?too (low|high)|old ?nonce|underpriced|fee too low|feetoolow/,
      /tip.{0,20}(too low|above)|(less|lower) than (the )?(block |current )?base fee/,
      /below (the )?base fee|feecap|insufficient (funds|balance)|insufficientfunds/,
      /intrinsic gas|gas limit|gas too low|out of gas|oversized|invalid sender/,
      /txpool is full|pool is full/,
    ),
  },

  // Log ranges. Alchemy "eth_getLogs limits", Infura "eth_getLogs constraints", QuickNode
  // "eth_getLogs
  // limits" (-32614), Ankr "Advanced API limits", dRPC "Error codes" (35), Cloudflare Web3 gateway
  // (-32047), PublicNode (-32701), Chainstack "Understanding eth_getLogs limitations", reth
  // "rpc.max-blocks-per-filter", OP and Base public nodes ("block range too large").
  {
    kind: 'results',
    methods: LOGS,
    text: oneOf(
      /more than \d+ (results|logs)|(max|too many) (results|logs)|response size/,
      /logs? (response )?(size )?exceeded|time(d ?|-?)out|deadline exceeded/,
      /too large response|response too large/,
    ),
  },
  {
    kind: 'missing',
    methods: LOGS,
    text: oneOf(
      /beyond (the )?(current )?head|after (the )?(last|latest) (accepted )?block/,
      /future block/,
    ),
  },
  { kind: 'range', methods: LOGS, codes: [35, -32_614, -32_047, -32_701] },
  {
    kind: 'range',
    methods: LOGS,
    text: /range|(max|maximum|up to|than|over|limited to).{0,20}\bblocks?\b/i,
  },

  // Batches. dRPC "Error codes" (31), Alchemy "Batch requests", Infura "Make batch requests",
  // PublicNode,
  // go-ethereum "rpc.batch-request-limit" (-32600), Tenderly, BlastAPI.
  { kind: 'batch', codes: [31] },
  { kind: 'batch', text: /batch/i },

  // Rate and capacity. EIP-1474 and Infura "Rate limits" (-32005), QuickNode "Error codes"
  // (-32007),
  // Alchemy "Throughput" (429 with HTTP 200), OP and Base public nodes (-32016), Ankr and BNB nodes
  // (-32029, -32097), dRPC "Error codes" (15, 19, 30), go-ethereum "rpc: errors" (-32002,
  // time-out),
  // Chainstack "Throughput guidelines" (-32005).
  {
    kind: 'limit',
    codes: [429, -32_005, -32_007, -32_029, -32_016, -32_097, -32_002, 15, 19, 30],
  },
  {
    kind: 'limit',
    text: oneOf(
      /rate.{0,4}limit|too many requests|request limit/,
      /(requests?|calls?) (per|\/) ?(second|minute|day)|throughput|capacity/,
      /compute units|credits|quota|daily (request|limit)/,
      /exceeded.{0,40}(limit|allowance)|limit (exceeded|reached)|try again later|retry/,
      /overload|busy|cool ?down|throttl|back ?off|timed? ?out|unavailable/,
    ),
  },
  // Keys and plans. Infura "HTTP and JSON-RPC error codes" (-32000 "project ID", -32001), Alchemy
  // "Error
  // reference", QuickNode "Error codes" (-32008 … -32013), Ankr (-32051 … -32053).
  { kind: 'access', codes: [-32_008, -32_009, -32_010, -32_011, -32_012, -32_013] },
  { kind: 'access', codes: [-32_051, -32_052, -32_053] },
  {
    kind: 'access',
    text: oneOf(
      /unauthori[sz]ed|forbidden|api.?key|project id|access (token|denied)|authenticat/,
      /authori[sz]ation|invalid (key|token)|\bplan\b|subscription|billing/,
      /payment required|white.?list|allow.?list|origin|suspended|expired|deactivated/,
      /upgrade/,
    ),
  },

  // go-ethereum "eth/errors" (-39001), EIP-1474 (-32001), Erigon and Nethermind ("block not
  // found").
  {
    kind: 'unsupported',
    text: /(finali[sz]ed|safe)( block)? (is )?not (found|available|supported)/i,
  },
  { kind: 'missing', codes: [-32_001, -39_001] },
  {
    kind: 'missing',
    text: oneOf(
      /(header|block|resource|transaction) (is )?not found|unknown block|missing trie/,
      /\b(state|history)\b.{0,40}(not|un|pruned)|pruned|not.{0,20}synced|syncing/,
      /beyond (the )?head/,
    ),
  },
  // JSON-RPC 2.0 (-32601), EIP-1474 (-32004, -32006).
  { kind: 'unsupported', codes: [-32_601, -32_004, -32_006] },
  {
    kind: 'unsupported',
    text: oneOf(
      /(method|tag).{0,60}(not|un|does ?n.t).{0,12}(found|supported|available|exist|implemented)/,
      /unsupported (method|tag|block)|invalid block (tag|number)/,
    ),
  },
];

export interface RawError {
  readonly code: number;
  readonly message: string;
  readonly data: unknown;
}

/**
 * How many errors a gateway may wrap around the node's own: `error.data.originalError` is two deep.
 */
const MOST_WRAPPERS = 4;

/**
 * Reads a call's error. If it reports that the contract reverted, in whatever words and however
 * deep inside a gateway's error, it is returned in go-ethereum's form: code 3, with the revert data
 * as `data`. Other errors are returned unchanged.
 */
export function unwrapRevert(method: string, error: RawError): RawError {
  return (RUNS.test(method) ? revertIn(error, MOST_WRAPPERS) : null) ?? error;
}

function revertIn(value: unknown, depth: number): RawError | null {
  if (typeof value !== 'object' || value === null) return null;
  const { code, message, data } = value as { readonly [name: string]: unknown };
  const said = typeof message === 'string' ? message : '';
  // Inside another error, the number alone may mean something else.
  const isOuter = depth === MOST_WRAPPERS;
  if (
    (isOuter && code === 3) ||
    fits(REVERTED, { method: 'eth_call', status: 200, code: 0, message: said })
  ) {
    return { code: 3, message: said, data: revertDataOf(data) };
  }
  // Nethermind and OpenEthereum: "Reverted 0x…" or "revert".
  if (/vm execution error/i.test(said) && typeof data === 'string' && /^revert/i.test(data)) {
    return { code: 3, message: 'execution reverted', data: revertDataOf(data) };
  }
  if (depth === 0) return null;
  for (const part of Object.values(value)) {
    const revert = revertIn(part, depth - 1);
    if (revert !== null) return revert;
  }
  return null;
}

/** Returns the revert data, which nodes report in different fields and with different words. */
function revertDataOf(data: unknown): unknown {
  if (typeof data === 'object' && data !== null && 'data' in data) return data.data;
  return typeof data === 'string' ? (/0x[0-9a-f]*/i.exec(data)?.[0] ?? '0x') : data;
}

/** Returns the meaning of a refusal: see {@link RefusalKind}. */
export function classifyRefusal(said: Said): RefusalKind {
  const rule = RULES.find((one) => fits(one, said));
  if (rule === undefined) return 'unknown';
  // With a 5xx status the server is faulty, so its text is not trusted as an answer about the
  // chain.
  return rule.kind === 'answer' && said.status >= 500 ? 'unknown' : rule.kind;
}

function fits(rule: Rule, { method, status, code, message }: Said): boolean {
  if (rule.methods !== undefined && !rule.methods.test(method)) return false;
  return (
    rule.statuses?.includes(status) === true ||
    rule.codes?.includes(code) === true ||
    rule.text?.test(message) === true
  );
}

/**
 * The longest pause that a provider may request. If a faulty gateway requests an hour, it is tried
 * again after this time.
 */
const MAX_PAUSE_MS = 600_000;

/**
 * Returns the pause that a node requests, from the header `Retry-After` (seconds or a date),
 * Infura's `rate.backoff_seconds`, or the text; `null` if it requests none.
 */
export function retryAfterMs(
  told: { readonly header: string | undefined; readonly message: string; readonly data: unknown },
  now: number,
): number | null {
  const ms = fromHeader(told.header, now) ?? fromData(told.data) ?? fromWords(told.message) ?? null;
  return ms === null || ms < 0 ? null : Math.min(ms, MAX_PAUSE_MS);
}

function fromHeader(header: string | undefined, now: number): number | null {
  if (header === undefined) return null;
  if (/^\d+(\.\d+)?$/.test(header)) return Number(header) * 1000;
  const date = Date.parse(header);
  return Number.isNaN(date) ? null : date - now;
}

function fromData(data: unknown): number | null {
  if (typeof data !== 'object' || data === null || !('rate' in data)) return null;
  const { rate } = data;
  if (typeof rate !== 'object' || rate === null || !('backoff_seconds' in rate)) return null;
  return typeof rate.backoff_seconds === 'number' ? rate.backoff_seconds * 1000 : null;
}

function fromWords(message: string): number | null {
  const match = /(?:retry|try again) (?:after|in) (\d+(?:\.\d+)?) ?(ms|milli|m|s)?/i.exec(message);
  if (match === null) return null;
  const unit = (match[2] ?? 's').toLowerCase();
  const factor = unit === 'ms' || unit === 'milli' ? 1 : unit === 'm' ? 60_000 : 1000;
  return Number(match[1]) * factor;
}
