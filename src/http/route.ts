import type { Readable } from 'node:stream';
import type { Static, TSchema } from 'typebox';
import type { Answer, Refusal, ResponseHeaders } from '#core/answer.ts';
import type { ErrorCode } from '#core/error-codes.ts';
import type { IdKind } from '#core/ids.ts';
import type { Tenant } from '#core/mode.ts';
import type { Asks, Moves } from '#http/moves.ts';
import type { IdempotentRequest } from '#idempotency/request.ts';

/** Who calls: every surface has its own kind, with at least this. */
export interface Caller {
  readonly tenant: Tenant;
  /** Whose quota the request counts against. */
  readonly rateKey: string;
  /** Whose idempotency keys these are; '' for the merchant API. */
  readonly idempotencySpace: string;
  /** null: the surface has no scopes. */
  readonly scopes: readonly string[] | null;
  /** The version the caller is pinned to. */
  readonly apiVersion: string;
  /** Sent with every response to this request, such as a renewed session cookie. */
  readonly responseHeaders?: ResponseHeaders;
}

/** What a key of this caller may be limited to. */
type ScopeOf<C extends Caller> = NonNullable<C['scopes']>[number];

type Shape<S> = S extends TSchema ? Static<S> : undefined;

/** A request that passed every check up to its own business. */
export interface Handled<C extends Caller, Q, B> {
  readonly caller: C;
  /** Path parameters by name; ids have the right shape. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: Q;
  readonly body: B;
  /** The bytes of a request to a route with `upload`, else empty. */
  readonly bytes: Buffer;
  /** The media type that they came as, without parameters. */
  readonly contentType: string;
  /** `Last-Event-ID`: the last event that the client of a stream has seen. */
  readonly lastEventId: string | null;
  /** The request's own key, when it sent one. */
  readonly idempotency: IdempotentRequest | null;
  readonly requestId: string;
  readonly now: Date;
  /** Aborted when the client is gone, or the process ends: waits end then. */
  readonly whenGone: () => AbortSignal;
}

/** A body that is sent as it is produced (exports, event streams), with its own headers. */
export interface Stream {
  readonly status: number;
  readonly stream: Readable;
  readonly headers: ResponseHeaders;
}

/** A body of bytes instead of JSON. */
export interface Upload {
  readonly contentTypes: readonly string[];
  readonly maxBytes: number;
}

export interface ResponseDeclaration {
  /** null: no body, or one of these types that is not JSON. */
  readonly schema: TSchema | null;
  readonly contentTypes?: readonly string[];
  readonly description: string;
  readonly example?: unknown;
}

/**
 * The one declaration of a route: validation, types, the order of checks and openapi.json all
 * come from it.
 */
export interface Route<
  C extends Caller = Caller,
  Q extends TSchema | undefined = TSchema | undefined,
  B extends TSchema | undefined = TSchema | undefined,
> {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  /** Below the surface's root: `/payment_intents/{id}`. */
  readonly path: string;
  readonly operationId: string;
  /** What a successful request can move: who has to agree, and how, follows from it. */
  readonly moves: Moves;
  /** Only where it differs from what follows from `moves`. */
  readonly asks?: Asks;
  /** Staff only: one of them is enough, although it moves money or access. Says why beside it. */
  readonly alone?: true;
  /** The account's owners get no mail, although it changes access. Says why beside it. */
  readonly unmailed?: true;
  /** The audit log keeps who has read it, under this action: what others entrusted to us. */
  readonly records?: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  /** null: every authenticated caller of the surface. */
  readonly scope: ScopeOf<C> | null;
  /** What a caller has to be, in the words of the surface's `authorize`, such as a role. */
  readonly access?: string;
  readonly idempotency: 'required' | 'accepted' | 'ignored';
  /**
   * The route asks in its own transaction whether the caller's key still stands, so that it needs
   * not be read before: the hot paths.
   */
  readonly checksCredential?: true;
  /** Takes `Last-Event-ID`, as clients of server-sent events send it when they come back. */
  readonly resumes?: true;
  /** Path parameters: the kind of id, or `text` for others. A misshapen id is a missing object. */
  readonly params?: Readonly<Record<string, IdKind | 'text'>>;
  readonly query?: Q;
  /** Without it the route takes no body (an empty object is let pass). */
  readonly body?: B;
  readonly bodyExample?: unknown;
  /** Members of the body whose text may have line breaks; no other control characters. */
  readonly multiline?: readonly string[];
  /** Takes bytes of these types; `body` is left out then. */
  readonly upload?: Upload;
  readonly responses: Readonly<Record<number, ResponseDeclaration>>;
  /** Codes of its own, beside those that any request may get. */
  readonly errors: readonly ErrorCode[];
  /** Default: 30 s. */
  readonly timeLimitMs?: number;
  readonly handle: (request: Handled<C, Shape<Q>, Shape<B>>) => Promise<Answer | Refusal | Stream>;
}

/** A route of some caller, whatever its shapes. */
export type AnyRoute<C extends Caller = Caller> = Omit<Route<C>, 'handle'> & {
  readonly handle: (request: Handled<C, never, never>) => Promise<Answer | Refusal | Stream>;
};

/** Ties the handler's types to the declared schemas. */
export function defineRoute<
  C extends Caller,
  Q extends TSchema | undefined = undefined,
  B extends TSchema | undefined = undefined,
>(route: Route<C, Q, B>): AnyRoute<C> {
  return route as unknown as AnyRoute<C>;
}

/** One API with its own way to know its callers. */
export interface Surface<C extends Caller = Caller> {
  /** Answers for everything below this, unknown paths included: `/api/v1`. */
  readonly root: string;
  authenticate(request: Credentials): Promise<C | Refusal>;
  /** Whether this caller may use this route: asked before anything of the request is read. */
  authorize?(route: AnyRoute<C>, caller: C, request: Credentials): Refusal | null;
  readonly routes: readonly AnyRoute<C>[];
}

/** A surface whatever its callers: its routes only ever get what its own authenticate made. */
export function anySurface<C extends Caller>(surface: Surface<C>): Surface {
  return surface as unknown as Surface;
}

/** What a request says of who sends it. */
export interface Credentials {
  readonly method: string;
  readonly path: string;
  readonly authorization: string | undefined;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The client's address, from trusted proxies only. */
  readonly address: string;
  readonly now: Date;
  /** A credential that was read a moment ago is not enough: this request changes something. */
  readonly mustStand: boolean;
}
