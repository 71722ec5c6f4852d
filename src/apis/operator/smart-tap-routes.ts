import Type from 'typebox';
import { type PersonRoute, personRoute } from '#apis/dashboard/person-route.ts';
import { listed } from '#apis/dashboard/person-schema.ts';
import { byOf, ReasonBody } from '#apis/operator/staff-changes.ts';
import { answerWith, isRefusal } from '#core/answer.ts';
import { nullable, oneOf, Timestamp, textOut } from '#http/schema.ts';
import type { ApiContext } from '#payments/api-context.ts';
import { type CollectorKeyRow, selectCollectorKeys } from '#terminals/collector-key-queries.ts';
import { endKey, makeKey, statusOfKey, useKey } from '#terminals/collector-keys.ts';

const TAG = 'Smart Tap';

const KeyVersion = Type.Integer({
  minimum: 1,
  maximum: 2 ** 31 - 1,
  description: 'The version of the key.',
});
const CollectorId = Type.Integer({
  minimum: 1,
  maximum: 2 ** 32 - 1,
  description: 'The collector id that Google gave to this network.',
});

const CollectorKeySchema = Type.Object(
  {
    version: KeyVersion,
    collector_id: CollectorId,
    status: oneOf(
      ['ready', 'in_use', 'replaced', 'ended'] as const,
      'ready: not used yet. replaced: still valid. The list may grow.',
    ),
    public_key: textOut('PEM, to register with Google under this version.'),
    created: Timestamp,
    used_from: nullable(Timestamp),
    ended_at: nullable(Timestamp),
  },
  {
    title: 'CollectorKey',
    description: 'A key that identifies this network to phones with Google Wallet.',
  },
);

const CollectorKeyWithSecret = Type.Object(
  {
    ...CollectorKeySchema.properties,
    private_key: textOut('PEM, shown only once: for terminals of other makers.'),
  },
  { description: 'The new key with its private half.' },
);

function render(key: CollectorKeyRow, all: readonly CollectorKeyRow[]) {
  return {
    version: key.version,
    collector_id: Number(key.collector_id),
    status: statusOfKey(key, all),
    public_key: key.public_key,
    created: key.created.toISOString(),
    used_from: key.used_from?.toISOString() ?? null,
    ended_at: key.ended_at?.toISOString() ?? null,
  };
}

function listRoute({ db }: ApiContext) {
  return personRoute({
    method: 'GET',
    path: '/smart_tap/keys',
    operationId: 'listCollectorKeys',
    moves: 'nothing',
    tag: TAG,
    summary: 'List the Smart Tap keys of this network, newest first',
    access: 'operator',
    response: listed(CollectorKeySchema, 'The keys.'),
    handle: async () => {
      const all = await selectCollectorKeys(db);
      return answerWith(200, { object: 'list', data: all.map((key) => render(key, all)) });
    },
  });
}

const MakeBody = Type.Object({ ...ReasonBody.properties, collector_id: CollectorId });

function makeRoute(ctx: ApiContext) {
  const {
    db,
    keys: { card: cardKey },
  } = ctx;
  return personRoute<undefined, typeof MakeBody>({
    method: 'POST',
    path: '/smart_tap/keys',
    operationId: 'makeCollectorKey',
    moves: 'access',
    // One operator can do it alone, because the key cannot pay: only a paired terminal submits
    // taps.
    alone: true,
    tag: TAG,
    summary: 'Create a key; its private half is shown only once',
    description:
      'Readers use it once it is activated: register its public half with Google before that. ' +
      'Two versions are valid at a time.',
    access: 'operator',
    body: MakeBody,
    status: 201,
    response: CollectorKeyWithSecret,
    errors: ['unexpected_state'],
    handle: async (request) => {
      const { reason, collector_id } = request.body;
      const { actor, now } = byOf(ctx, request);
      const collectorId = BigInt(collector_id);
      const made = await db.transaction((tx) =>
        makeKey(tx, { actor, reason, now, cardKey, collectorId }),
      );
      if (isRefusal(made)) return made;
      return answerWith(201, { ...render(made.row, [made.row]), private_key: made.privateKey });
    },
  });
}

const ChangeBody = Type.Object({ ...ReasonBody.properties, version: KeyVersion });

function changeRoute(
  ctx: ApiContext,
  change: Pick<Parameters<typeof personRoute>[0], 'path' | 'operationId' | 'summary'> & {
    readonly carryOut: typeof useKey;
  },
) {
  const { carryOut, ...declared } = change;
  return personRoute<undefined, typeof ChangeBody>({
    ...declared,
    method: 'POST',
    moves: 'access',
    // One operator can do it alone, because it changes which phones can be read, but not who may
    // charge. Replacing a leaked key is urgent.
    alone: true,
    tag: TAG,
    access: 'operator',
    body: ChangeBody,
    response: CollectorKeySchema,
    errors: ['resource_missing', 'unexpected_state'],
    handle: async (request) => {
      const { reason, version } = request.body;
      const { actor, now } = byOf(ctx, request);
      const row = await ctx.db.transaction((tx) => carryOut(tx, version, { actor, reason, now }));
      if (isRefusal(row)) return row;
      return answerWith(200, render(row, await selectCollectorKeys(ctx.db)));
    },
  });
}

/**
 * Declares the routes for the keys with which readers prove to Google Wallet to which network they
 * belong.
 */
export function smartTapRoutes(ctx: ApiContext): PersonRoute[] {
  return [
    listRoute(ctx),
    makeRoute(ctx),
    changeRoute(ctx, {
      path: '/smart_tap/keys/use',
      operationId: 'useCollectorKey',
      summary: 'Activate this version for readers; the previous one stays valid until it is ended',
      carryOut: useKey,
    }),
    changeRoute(ctx, {
      path: '/smart_tap/keys/end',
      operationId: 'endCollectorKey',
      summary: 'End a version and erase its private half',
      carryOut: endKey,
    }),
  ];
}
