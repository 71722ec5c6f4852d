import Type from 'typebox';
import { type ApiKeyRow, selectApiKeys } from '#accounts/api-key-queries.ts';
import {
  editApiKey,
  MAX_OVERLAP_SECONDS,
  revokeApiKey,
  rotateApiKey,
} from '#accounts/change-api-key.ts';
import { createApiKey } from '#accounts/create-api-key.ts';
import {
  AllowlistField,
  ApiKeySchema,
  ApiKeyWithSecret,
  ScopeList,
} from '#apis/dashboard/account/account-schema.ts';
import {
  actorOf,
  changeBy,
  MODE,
  type PersonRoute,
  personRoute,
} from '#apis/dashboard/person-route.ts';
import { listed, PersonName, Version } from '#apis/dashboard/person-schema.ts';
import { answerWith, isRefusal } from '#core/answer.ts';
import { networkOf } from '#core/mode.ts';
import { nullable } from '#http/schema.ts';
import type { ApiContext } from '#payments/api-context.ts';

const TAG = 'API keys';

function statusOf(row: ApiKeyRow, now: Date): 'active' | 'expired' | 'revoked' {
  if (row.revoked_at !== null) return 'revoked';
  return row.expires_at !== null && row.expires_at <= now ? 'expired' : 'active';
}

function keyView(row: ApiKeyRow, now: Date) {
  const { account_id: _account, livemode, id, ...rest } = row;
  const object = 'api_key';
  return {
    id,
    object,
    livemode,
    network: networkOf(livemode),
    ...rest,
    status: statusOf(row, now),
  };
}

function listRoute({ db }: ApiContext) {
  return personRoute({
    method: 'GET',
    path: `${MODE}/api_keys`,
    operationId: 'listApiKeys',
    moves: 'nothing',
    tag: TAG,
    summary: 'List all API keys of the mode, newest first',
    access: 'admin',
    response: listed(ApiKeySchema, 'The API keys of the mode, without their secrets.'),
    handle: async ({ caller, now }) => {
      const rows = await selectApiKeys(db, caller.tenant);
      return answerWith(200, { object: 'list', data: rows.map((row) => keyView(row, now)) });
    },
  });
}

const ExpiresAt = Type.Optional(
  nullable(
    Type.String({
      format: 'date-time',
      description: 'When the key stops working; `null` for never.',
    }),
  ),
);
const CreateBody = Type.Object({
  name: PersonName,
  scopes: ScopeList,
  ip_allowlist: Type.Optional(AllowlistField),
  expires_at: ExpiresAt,
});

function createRoute({ db }: ApiContext) {
  return personRoute<undefined, typeof CreateBody>({
    method: 'POST',
    path: `${MODE}/api_keys`,
    operationId: 'createApiKey',
    moves: 'access',
    tag: TAG,
    summary: 'Create an API key; it is shown only once',
    access: 'admin',
    body: CreateBody,
    status: 201,
    response: ApiKeyWithSecret,
    errors: ['kyb_required', 'unexpected_state'],
    handle: async ({ caller, body, requestId, now }) => {
      const expires = body.expires_at ?? null;
      const issued = await db.transaction((tx) =>
        createApiKey(tx, {
          tenant: caller.tenant,
          name: body.name,
          scopes: body.scopes,
          ipAllowlist: body.ip_allowlist ?? [],
          expiresAt: expires === null ? null : new Date(expires),
          actor: actorOf(caller, requestId),
          now,
        }),
      );
      if (isRefusal(issued)) return issued;
      return answerWith(201, { ...keyView(issued.row, now), secret: issued.secret });
    },
  });
}

const EditBody = Type.Object({
  version: Version,
  name: Type.Optional(PersonName),
  scopes: Type.Optional(ScopeList),
  ip_allowlist: Type.Optional(AllowlistField),
  expires_at: ExpiresAt,
});

function editRoute({ db }: ApiContext) {
  return personRoute<undefined, typeof EditBody>({
    method: 'PATCH',
    path: `${MODE}/api_keys/{id}`,
    operationId: 'updateApiKey',
    moves: 'access',
    tag: TAG,
    summary: 'Change name, scopes, allowlist or expiry',
    access: 'admin',
    params: { id: 'apiKey' },
    body: EditBody,
    response: ApiKeySchema,
    errors: ['version_conflict', 'unexpected_state'],
    handle: async (request) => {
      const { body, now } = request;
      const { expires_at: expires } = body;
      const edit = {
        version: body.version,
        ...(body.name === undefined ? {} : { name: body.name }),
        ...(body.scopes === undefined ? {} : { scopes: body.scopes }),
        ...(body.ip_allowlist === undefined ? {} : { ipAllowlist: body.ip_allowlist }),
        ...(expires === undefined
          ? {}
          : { expiresAt: expires === null ? null : new Date(expires) }),
      };
      const row = await db.transaction((tx) => editApiKey(tx, changeBy(request), edit));
      return isRefusal(row) ? row : answerWith(200, keyView(row, now));
    },
  });
}

const RotateBody = Type.Object({
  overlap_seconds: Type.Integer({
    minimum: 0,
    maximum: MAX_OVERLAP_SECONDS,
    description: 'How long the old key still works: 0 (not at all) to 604800 seconds.',
  }),
});

function rotateRoute({ db }: ApiContext) {
  return personRoute<undefined, typeof RotateBody>({
    method: 'POST',
    path: `${MODE}/api_keys/{id}/rotate`,
    operationId: 'rotateApiKey',
    moves: 'access',
    tag: TAG,
    summary: 'Replace a key with a new one with the same rights',
    access: 'admin',
    params: { id: 'apiKey' },
    body: RotateBody,
    status: 201,
    response: ApiKeyWithSecret,
    errors: ['kyb_required', 'unexpected_state'],
    handle: async (request) => {
      const { body, now } = request;
      const issued = await db.transaction((tx) =>
        rotateApiKey(tx, changeBy(request), body.overlap_seconds),
      );
      if (isRefusal(issued)) return issued;
      return answerWith(201, { ...keyView(issued.row, now), secret: issued.secret });
    },
  });
}

function revokeRoute({ db }: ApiContext) {
  return personRoute({
    method: 'POST',
    path: `${MODE}/api_keys/{id}/revoke`,
    operationId: 'revokeApiKey',
    moves: 'access',
    asks: 'never',
    tag: TAG,
    summary: 'Revoke a key: it stops working within a second',
    access: 'admin',
    params: { id: 'apiKey' },
    response: ApiKeySchema,
    handle: async (request) => {
      const row = await db.transaction((tx) => revokeApiKey(tx, changeBy(request)));
      return isRefusal(row) ? row : answerWith(200, keyView(row, request.now));
    },
  });
}

export function apiKeyRoutes(ctx: ApiContext): PersonRoute[] {
  return [listRoute(ctx), createRoute(ctx), editRoute(ctx), rotateRoute(ctx), revokeRoute(ctx)];
}
