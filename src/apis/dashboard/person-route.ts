import type { TSchema } from 'typebox';
import type { Access, PersonCaller } from '#apis/dashboard/authorize-person.ts';
import type { Actor } from '#audit/audit.ts';
import { recordTenantChange, type TenantChange } from '#audit/record-change.ts';
import { assert, present } from '#core/assert.ts';
import type { ErrorCode } from '#core/error-codes.ts';
import type { IdKind } from '#core/ids.ts';
import type { Tx } from '#db/database.ts';
import { type AnyRoute, defineRoute, type Handled, type Route } from '#http/route.ts';
import { ROLES, type Role } from '#people/role-order.ts';
import type { SessionRow } from '#people/session-queries.ts';

export const ACCOUNT = '/accounts/{account}';
export const ORGANIZATION = '/organizations/{org}';
export const ORGANIZATION_MODE = '/organizations/{org}/{mode}';
export const MODE = '/accounts/{account}/{mode}';

export type PersonRoute = AnyRoute<PersonCaller>;
export type PersonRequest<Q = unknown, B = unknown> = Handled<PersonCaller, Q, B>;

type Declared<Q extends TSchema | undefined, B extends TSchema | undefined> = Pick<
  Route<PersonCaller, Q, B>,
  | 'method'
  | 'path'
  | 'operationId'
  | 'moves'
  | 'asks'
  | 'alone'
  | 'unmailed'
  | 'records'
  | 'settings'
  | 'tag'
  | 'summary'
  | 'description'
  | 'query'
  | 'body'
  | 'upload'
  | 'handle'
> & {
  readonly access: Access;
  readonly idempotency?: 'required' | 'accepted';
  /** Kinds of the path parameters, except `account`, `org` and `mode`. */
  readonly params?: Readonly<Record<string, IdKind | 'text'>>;
  readonly status?: 200 | 201 | 202;
  /** Schema of the response. Its `description` documents the response in the API reference. */
  readonly response?: TSchema;
  /** Describes a response that is not JSON. */
  readonly returns?: string;
  /** Media types of a response that is not JSON. */
  readonly sends?: readonly string[];
  /** An example of a response of the first media type in `sends`. */
  readonly example?: string;
  readonly errors?: readonly ErrorCode[];
};

function implied(path: string): Readonly<Record<string, IdKind | 'text'>> {
  return {
    ...(path.includes('{account}') ? ({ account: 'account' } as const) : {}),
    ...(path.includes('{org}') ? ({ org: 'organization' } as const) : {}),
    ...(path.includes('{mode}') ? ({ mode: 'text' } as const) : {}),
  };
}

/** Returns the errors that a route can return because of its path and access. */
export function impliedErrors({ access, path, method }: Implying): readonly ErrorCode[] {
  const modes = path.includes('{mode}') ? (['route_missing'] as const) : [];
  const changes = method === 'GET' || !isRole(access) ? [] : (['account_disabled'] as const);
  const isOpen = access === 'public' || access === 'half_signed_in';
  const young = method === 'GET' || isOpen ? [] : (['second_factor_too_new'] as const);
  const byStaff = access === 'operator' && method !== 'GET' ? (['role_missing'] as const) : [];
  return [...accessErrors(access), ...modes, ...changes, ...young, ...byStaff];
}

type Implying = Pick<Declared<undefined, undefined>, 'access' | 'path' | 'method'>;

export function isRole(access: string | undefined): access is Role {
  return ROLES.some((role) => role === access);
}

function accessErrors(access: Access): readonly ErrorCode[] {
  if (access === 'public') return ['csrf_token_invalid'];
  const signedIn = ['session_missing', 'csrf_token_invalid'] as const;
  if (access === 'half_signed_in') return signedIn;
  if (access === 'signed_in' || access === 'operator' || access === 'support') {
    return [...signedIn, 'second_factor_required'];
  }
  return [...signedIn, 'second_factor_required', 'resource_missing', 'role_missing'];
}

export function personRoute<
  Q extends TSchema | undefined = undefined,
  B extends TSchema | undefined = undefined,
>(declared: Declared<Q, B>): PersonRoute {
  const {
    access,
    status = 200,
    response,
    returns,
    sends,
    example,
    params,
    errors = [],
    ...rest
  } = declared;
  const schema = sends === undefined ? present(response, 'response') : null;
  const description = returns ?? (schema as { description?: string } | null)?.description;
  assert(description !== undefined, `${declared.operationId} does not declare its response`);
  return defineRoute<PersonCaller, Q, B>({
    ...rest,
    access,
    scope: null,
    idempotency: declared.idempotency ?? 'ignored',
    params: { ...implied(declared.path), ...params },
    responses: {
      [status]: {
        ...{ schema, description },
        ...(sends === undefined ? {} : { contentTypes: sends }),
        ...(example === undefined ? {} : { example }),
      },
    },
    errors: [...new Set([...impliedErrors(declared), ...errors])],
  });
}

/** Returns the caller's session on a route that requires one. */
export function sessionOf(caller: PersonCaller): SessionRow {
  return present(caller.session, 'session');
}

export function actorOf(caller: PersonCaller, requestId: string): Actor {
  const { user_id: userId, email } = sessionOf(caller);
  const type = caller.realm === 'operator' ? 'operator' : 'user';
  const { visit, onEntry } = caller;
  return { type, userId, email, requestId, address: visit.address, onEntry };
}

type Change = Pick<PersonRequest<never, never>, 'caller' | 'params' | 'requestId' | 'now'>;

/** Returns who changes which object of which account, and when. The path names the object. */
export function changeBy({ caller, params, requestId, now }: Change) {
  const { tenant } = caller;
  const object = { tenant, accountId: tenant.accountId, id: params.id ?? '' };
  return { ...object, actor: actorOf(caller, requestId), now };
}

export function recordChange(tx: Tx, request: Change, change: TenantChange): Promise<void> {
  return recordTenantChange(tx, changeBy(request), change);
}
