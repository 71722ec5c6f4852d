import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import { codeOf } from '#db/database.ts';

/** Time limit for DNS, connection, request and response together (behavior.md 11.4). */
export const DELIVERY_LIMIT_MS = 10_000;
/**
 * Bytes read from a response before the socket is destroyed. The body has no meaning, but helps in
 * debugging.
 */
export const MAX_BODY_BYTES = 16 * 1024;
/** Bytes of the body that are stored by default. */
const KEPT_BODY_BYTES = 1024;
/**
 * Maximum number of interim responses. Some servers send one per resource; more than this is a
 * flood.
 */
const MAX_INFORMATIONAL = 64;

/** The reason why an attempt got no response, as the delivery object shows it. */
export type NoAnswer =
  | 'address_refused'
  | 'dns_failed'
  | 'connection_refused'
  | 'connection_reset'
  | 'host_unreachable'
  | 'tls_failed'
  | 'timeout'
  | 'invalid_response'
  | 'connection_failed';

export type Reply =
  | {
      readonly answered: true;
      readonly status: number;
      /** The first 1 KiB, or as much as requested, as text; `null` if it was empty. */
      readonly body: string | null;
      /** True if `body` is the whole response. */
      readonly isWhole: boolean;
      readonly retryAfter: string | null;
      readonly durationMs: number;
    }
  | { readonly answered: false; readonly error: NoAnswer; readonly durationMs: number };

const BY_CODE: readonly (readonly [RegExp, NoAnswer])[] = [
  [/^ECONNREFUSED$/, 'connection_refused'],
  [/^(ECONNRESET|EPIPE|UND_ERR_SOCKET)$/, 'connection_reset'],
  [/^(ENETUNREACH|EHOSTUNREACH|EADDRNOTAVAIL)$/, 'host_unreachable'],
  [/^(ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT)$/, 'timeout'],
  [/^(HPE_|UND_ERR_HEADERS_OVERFLOW|UND_ERR_RES)/, 'invalid_response'],
  [/^(ERR_TLS|ERR_SSL|EPROTO|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|ERR_OSSL)/, 'tls_failed'],
];

function reasonOf(error: Error): NoAnswer {
  if (error.name === 'AddressRefused') return 'address_refused';
  if (error.name === 'HTTPParserError') return 'invalid_response';
  const code = codeOf(error);
  return BY_CODE.find(([pattern]) => pattern.test(code))?.[1] ?? 'connection_failed';
}

/** Replaces NUL, which PostgreSQL cannot store, and omits a character that the limit has cut. */
function toText(bytes: Buffer, keptBytes: number): string | null {
  if (bytes.length === 0) return null;
  const text = new TextDecoder().decode(bytes, { stream: bytes.length >= keptBytes });
  return text.replaceAll('\0', '\ufffd');
}

function firstOf(value: string | string[] | undefined): string | null {
  return (Array.isArray(value) ? value[0] : value) ?? null;
}

const ended = new Error('the exchange has ended');

/**
 * One request to a receiver that may be slow, broken or hostile. It ends exactly once: with the
 * response (complete, or as far as it was read at the size or time limit), or with an error. Once
 * the status is known, it cannot end with an error.
 */
export class Exchange implements Dispatcher.DispatchHandler {
  readonly reply: Promise<Reply>;
  #resolve: (reply: Reply) => void = () => {};
  readonly #started = performance.now();
  readonly #timer: NodeJS.Timeout;
  #controller: Dispatcher.DispatchController | null = null;
  #lookup: AbortController | null = null;
  #status: number | null = null;
  #retryAfter: string | null = null;
  #informational = 0;
  #chunks: Buffer[] = [];
  #bytes = 0;
  #hasEnded = false;
  #over = false;
  readonly #keptBytes: number;

  constructor(keptBytes = KEPT_BODY_BYTES) {
    this.#keptBytes = keptBytes;
    this.reply = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    this.#timer = setTimeout(() => this.#cut('timeout'), DELIVERY_LIMIT_MS);
  }

  get isOver(): boolean {
    return this.#over;
  }

  /** Returns a signal for the DNS look-up before the request, aborted at the time limit. */
  lookupSignal(): AbortSignal {
    this.#lookup ??= new AbortController();
    return this.#lookup.signal;
  }

  /** Ends with the response if its status is known, otherwise with `error`. */
  finish(error: NoAnswer): void {
    if (this.#over) return;
    this.#over = true;
    clearTimeout(this.#timer);
    const durationMs = Math.round(performance.now() - this.#started);
    if (this.#status === null) {
      this.#resolve({ answered: false, error, durationMs });
      return;
    }
    this.#resolve({
      answered: true,
      status: this.#status,
      body: toText(Buffer.concat(this.#chunks), this.#keptBytes),
      isWhole: this.#hasEnded && this.#bytes <= this.#keptBytes,
      retryAfter: this.#retryAfter,
      durationMs,
    });
  }

  /** Ends the exchange and destroys its socket, because no further data is needed. */
  #cut(error: NoAnswer): void {
    this.finish(error);
    this.#lookup?.abort();
    this.#controller?.abort(ended);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // The time limit was reached while the connection was being made.
    if (this.#over) controller.abort(ended);
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: IncomingHttpHeaders,
  ): void {
    if (status >= 200) {
      this.#status = status;
      this.#retryAfter = firstOf(headers['retry-after']);
      return;
    }
    this.#informational++;
    if (this.#informational > MAX_INFORMATIONAL) this.#cut('invalid_response');
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#bytes < this.#keptBytes) {
      this.#chunks.push(Buffer.from(chunk.subarray(0, this.#keptBytes - this.#bytes)));
    }
    this.#bytes += chunk.length;
    if (this.#bytes > MAX_BODY_BYTES) this.#cut('invalid_response');
  }

  onResponseEnd(): void {
    this.#hasEnded = true;
    this.finish('invalid_response');
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.finish(reasonOf(error));
  }
}
