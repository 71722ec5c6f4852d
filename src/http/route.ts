import type { Readable } from 'node:stream';
import type { Static, TSchema } from 'typebox';
import type { Answer, Refusal, ResponseHeaders } from '#core/answer.ts';
import type { ErrorCode } from '#core/error-codes.ts';
import type { IdKind } from '#core/ids.ts';
import type { Tenant } from '#core/mode.ts';
import type { Asks, Moves } from '#http/moves.ts';
import type { IdempotentRequest } from '#idempotency/request-fingerprint.ts';

/** The caller: every surface has its own kind, with at least these fields. */
export interface Caller {
  readonly tenant: Tenant;
  /** The rate-limit bucket against which the request counts. */
  readonly rateKey: string;
  /** The owner of the idempotency keys; the empty string for the merchant API. */
  readonly idempotencySpace: string;
  /** The key's scopes; `null` if the surface has no scopes. */
  readonly scopes: readonly string[] | null;
  /** The version to which the caller is pinned. */
  readonly apiVersion: string;
  /** Headers sent with every response to this request, such as a renewed session cookie. */
  readonly responseHeaders?: ResponseHeaders;
}

/** The scopes of this caller's keys. */
type ScopeOf<C extends Caller> = NonNullable<C['scopes']>[number];

type Shape<S> = S extends TSchema ? Static<S> : undefined;

/** A request that has passed every check before its handler. */
export interface Handled<C extends Caller, Q, B> {
  readonly caller: C;
  /** Path parameters by name; ids have the right format. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: Q;
  readonly body: B;
  /** The bytes of a request to a route with `upload`, otherwise empty. */
  readonly bytes: Buffer;
  /** The media type of these bytes, without parameters. */
  readonly contentType: string;
  /** `Last-Event-ID`: the last event that the client of a stream has seen. */
  readonly lastEventId: string | null;
  /** The request's own key, if it sent one. */
  readonly idempotency: IdempotentRequest | null;
  readonly requestId: string;
  readonly now: Date;
  /**
   * Returns a signal that aborts when the client disconnects or the process ends. Waits must end
   * when it aborts.
   */
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
  /** Schema of the body; `null` for no body, or for one of the `contentTypes` that is not JSON. */
  readonly schema: TSchema | null;
  readonly contentTypes?: readonly string[];
  readonly description: string;
  readonly example?: unknown;
}

/**
 * The single declaration of a route, from which validation, types, the order of checks and
 * openapi.json follow.
 */
export interface Route<
  C extends Caller = Caller,
  Q extends TSchema | undefined = TSchema | undefined,
  B extends TSchema | undefined = TSchema | undefined,
> {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  /** The path below the surface's root: `/payment_intents/{id}`. */
  readonly path: string;
  readonly operationId: string;
  /** The kind of thing that a successful request can change. It determines the required consent. */
  readonly moves: Moves;
  /** Set only if it differs from the default for `moves`. */
  readonly asks?: Asks;
  /**
   * Staff only: one operator is enough, although it moves money or access. Give the reason next to
   * it.
   */
  readonly alone?: true;
  /** The account's owners get no mail, although it changes access. Give the reason next to it. */
  readonly unmailed?: true;
  /**
   * The audit log records who has read it, with this action, because others entrusted the data to
   * us.
   */
  readonly records?: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  /** The required scope; `null` if every authenticated caller of the surface may use the route. */
  readonly scope: ScopeOf<C> | null;
  /** The caller's required access in terms of the surface's `authorize`, such as a role. */
  readonly access?: string;
  readonly idempotency: 'required' | 'accepted' | 'ignored';
  /**
   * True if the route checks in its own transaction whether the caller's key is still valid, so
   * that the key need not be read before. For the hot paths.
   */
  readonly checksCredential?: true;
  /** Takes `Last-Event-ID`, which clients of server-sent events send when they reconnect. */
  readonly resumes?: true;
  /** Path parameters: the kind of id, or `text` for others. A malformed id is a missing object. */
  readonly params?: Readonly<Record<string, IdKind | 'text'>>;
  readonly query?: Q;
  /** The body's schema. Without a schema, the route accepts no body except an empty object. */
  readonly body?: B;
  readonly bodyExample?: unknown;
  /** Errors name the elements of lists as `payments[3].amount`, not as `payments.3.amount`. */
  readonly namesElements?: true;
  /** Members of the body whose text may have line breaks; no other control characters. */
  readonly multiline?: readonly string[];
  /** Takes bytes of these types; `body` is then omitted. */
  readonly upload?: Upload;
  readonly responses: Readonly<Record<number, ResponseDeclaration>>;
  /** The route's own error codes, besides those that any request may get. */
  readonly errors: readonly ErrorCode[];
  /** Default: 30 s. */
  readonly timeLimitMs?: number;
  readonly handle: (request: Handled<C, Shape<Q>, Shape<B>>) => Promise<Answer | Refusal | Stream>;
}

/** A route of any surface, with any schemas. */
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

/** One API with its own way of authenticating callers. */
export interface Surface<C extends Caller = Caller> {
  /** Handles every path below this, including unknown ones: `/api/v1`. */
  readonly root: string;
  authenticate(request: Credentials): Promise<C | Refusal>;
  /** Refuses a caller that may not use this route, before anything of the request is read. */
  authorize?(route: AnyRoute<C>, caller: C, request: Credentials): Refusal | null;
  readonly routes: readonly AnyRoute<C>[];
}

/**
 * Converts a surface to one of any caller. This is safe, because its routes only get callers that
 * the surface authenticated itself.
 */
export function anySurface<C extends Caller>(surface: Surface<C>): Surface {
  return surface as unknown as Surface;
}

/** The credentials in a request. */
export interface Credentials {
  readonly method: string;
  readonly path: string;
  readonly authorization: string | undefined;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The client's address, from trusted proxies only. */
  readonly address: string;
  readonly now: Date;
  /** True if a cached credential is not enough, because this request changes something. */
  readonly mustStand: boolean;
}
