import type { Readable } from 'node:stream';
import type { Static, TSchema } from 'typebox';
import type { Answer, Refusal, ResponseHeaders } from '#core/answer.ts';
import type { ErrorCode } from '#core/error-codes.ts';
import type { IdKind } from '#core/ids.ts';
import type { Tenant } from '#core/mode.ts';
import type { SettingClasses } from '#core/setting-classes.ts';
import type { Asks, Moves } from '#http/second-factor-by-effect.ts';
import type { IdempotentRequest } from '#idempotency/request-fingerprint.ts';

/** The caller of a route. Every surface has its own kind, with at least these fields. */
export interface Caller {
  readonly tenant: Tenant;
  /** The rate-limit bucket against which the request counts. */
  readonly rateKey: string;
  /** The owner of the caller's idempotency keys; an empty string for the merchant API. */
  readonly idempotencySpace: string;
  /** The key's scopes; `null` if the surface has no scopes. */
  readonly scopes: readonly string[] | null;
  /** The version to which the caller is pinned. */
  readonly apiVersion: string;
  /** Headers sent with every response to this request, such as a renewed session cookie. */
  readonly responseHeaders?: ResponseHeaders;
}

type ScopeOf<C extends Caller> = NonNullable<C['scopes']>[number];

type Shape<S> = S extends TSchema ? Static<S> : undefined;

export interface Handled<C extends Caller, Q, B> {
  readonly caller: C;
  /** Path parameters by name. Their ids have the right format. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: Q;
  readonly body: B;
  /** The body of a request to a route with `upload`; otherwise empty. */
  readonly bytes: Buffer;
  /** The media type of the request's body, without parameters. */
  readonly contentType: string;
  /** `Last-Event-ID`: the last event that the client of a stream has seen. */
  readonly lastEventId: string | null;
  /** The idempotency key of the request, if it sent one. */
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
  /**
   * Schema of the body; `null` if there is no body, or if its type is one of `contentTypes` other
   * than JSON.
   */
  readonly schema: TSchema | null;
  readonly contentTypes?: readonly string[];
  readonly description: string;
  readonly example?: unknown;
}

/**
 * The only declaration of a route. Validation, types, the order of checks and openapi.json derive
 * from it.
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
  /**
   * The kind of thing that a successful request can change. It determines the confirmation that is
   * required.
   */
  readonly moves: Moves;
  /**
   * The condition for requiring a second factor. Set only if it differs from the default for
   * `moves`.
   */
  readonly asks?: Asks;
  /**
   * For staff routes: one operator is enough, although the route moves money or changes access.
   * Give the reason in a comment.
   */
  readonly alone?: true;
  /**
   * The account's owners get no mail, although the route changes access. Give the reason in a
   * comment.
   */
  readonly unmailed?: true;
  /**
   * The action under which the audit log records each read. For data that others entrusted to us.
   */
  readonly records?: string;
  /**
   * The class of each setting that the route changes. A route for people that changes data or names
   * below an account or organization declares one for each field of its body.
   */
  readonly settings?: SettingClasses;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  /** The required scope; `null` if every authenticated caller of the surface may use the route. */
  readonly scope: ScopeOf<C> | null;
  /** The access that the caller needs, such as a role. The surface's `authorize` interprets it. */
  readonly access?: string;
  readonly idempotency: 'required' | 'accepted' | 'ignored';
  /**
   * Members of the body that only prove a right. They are no part of the idempotency fingerprint:
   * a repeated request may omit them, and a stored fingerprint reveals nothing about a PIN.
   */
  readonly credentials?: readonly string[];
  /**
   * True if the route checks in its own transaction that the caller's key is still valid. This
   * saves a query on hot paths.
   */
  readonly checksCredential?: true;
  /**
   * True if the route accepts `Last-Event-ID`, which clients of server-sent events send when they
   * reconnect.
   */
  readonly resumes?: true;
  /**
   * Kind of id for each path parameter; `text` for other parameters. A malformed id gets the
   * response for a missing object.
   */
  readonly params?: Readonly<Record<string, IdKind | 'text'>>;
  readonly query?: Q;
  /** The body's schema. Without one, the route accepts only an empty body or an empty object. */
  readonly body?: B;
  readonly bodyExample?: unknown;
  /** True if errors name list elements as `payments[3].amount` rather than `payments.3.amount`. */
  readonly namesElements?: true;
  /** Names of body members whose text may have line breaks, but no other control characters. */
  readonly multiline?: readonly string[];
  /** The route accepts bytes of these types; it then has no `body`. */
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

/** Checks the handler's types against the declared schemas. */
export function defineRoute<
  C extends Caller,
  Q extends TSchema | undefined = undefined,
  B extends TSchema | undefined = undefined,
>(route: Route<C, Q, B>): AnyRoute<C> {
  return route as unknown as AnyRoute<C>;
}

export interface Surface<C extends Caller = Caller> {
  /** Handles every path below this, including unknown ones: `/api/v1`. */
  readonly root: string;
  authenticate(request: Credentials): Promise<C | Refusal>;
  /** Refuses a caller that may not use this route, before the query and body are read. */
  authorize?(route: AnyRoute<C>, caller: C, request: Credentials): Refusal | null;
  readonly routes: readonly AnyRoute<C>[];
}

/**
 * Widens a surface's type to any caller. This is safe, because its routes only get callers that the
 * surface itself authenticated.
 */
export function anySurface<C extends Caller>(surface: Surface<C>): Surface {
  return surface as unknown as Surface;
}

export interface Credentials {
  readonly method: string;
  readonly path: string;
  readonly authorization: string | undefined;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The client's IP address. Forwarded addresses count only if a trusted proxy sent them. */
  readonly address: string;
  readonly now: Date;
  /** True if a cached credential is not enough, because this request changes something. */
  readonly mustStand: boolean;
}
