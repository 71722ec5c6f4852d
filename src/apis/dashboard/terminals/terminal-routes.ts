import Type from 'typebox';
import {
  ManagedTerminalList,
  ManagedTerminalSchema,
  PairingCodeSchema,
  TerminalWithKey,
} from '#apis/dashboard/account/account-schema.ts';
import {
  actorOf,
  changeBy,
  MODE,
  type PersonRequest,
  type PersonRoute,
  personRoute,
} from '#apis/dashboard/person-route.ts';
import { PersonName, Version } from '#apis/dashboard/person-schema.ts';
import {
  hasTrustedFactor,
  requireTrustedFactor,
} from '#apis/dashboard/sessions/confirm-identity.ts';
import { limitInput } from '#apis/merchant/limit-schema.ts';
import { OfflineLimitsInput } from '#apis/merchant/offline-schema.ts';
import { TerminalListQuery } from '#apis/merchant/terminal-schema.ts';
import { answerWith, isRefusal, type Refusal, refuse, resourceMissing } from '#core/answer.ts';
import { present } from '#core/assert.ts';
import { MAX_AMOUNT } from '#core/money.ts';
import type { SettingClasses } from '#core/setting-classes.ts';
import type { Page } from '#db/paging.ts';
import { answerList } from '#http/cursors.ts';
import { idOf, nullable, objectType, text, textOut } from '#http/schema.ts';
import type { ApiContext } from '#payments/api-context.ts';
import { hasRole } from '#people/role-order.ts';
import { editTerminal, rotateDeviceKey } from '#terminals/change-terminal.ts';
import { createTerminal } from '#terminals/create-terminal.ts';
import { createPairingCode } from '#terminals/pairing-code.ts';
import { managedTerminal } from '#terminals/render.ts';
import { switchSmartTap } from '#terminals/smart-tap.ts';
import { makeChip } from '#terminals/tag-chip.ts';
import { rotateTag } from '#terminals/tag-url.ts';
import { selectTerminal, selectTerminalPage } from '#terminals/terminal-queries.ts';

const TAG = 'Terminals';

const CreateBody = Type.Object({
  label: PersonName,
  name: Type.Optional(PersonName),
  platform: Type.Optional(text(40, 'The platform of its software, such as generic.', 1)),
  location: Type.Optional(nullable(idOf('loc_', 'location'))),
});

function createRoute(ctx: ApiContext) {
  const { db, wakeups } = ctx;
  return personRoute<undefined, typeof CreateBody>({
    method: 'POST',
    path: `${MODE}/terminals`,
    operationId: 'createTerminal',
    moves: 'access',
    tag: TAG,
    summary: 'Add a terminal; its device key is shown only once',
    access: 'admin',
    body: CreateBody,
    status: 201,
    response: TerminalWithKey,
    errors: ['kyb_required', 'unexpected_state'],
    handle: async ({ caller, body, requestId, now }) => {
      const actor = actorOf(caller, requestId);
      const issued = await db.transaction((tx) =>
        createTerminal(tx, { tenant: caller.tenant, ...body, actor, now }),
      );
      if (isRefusal(issued)) return issued;
      wakeups.send('deliveries');
      return answerWith(201, {
        ...managedTerminal(ctx.pages, issued.row),
        device_key: issued.secret,
      });
    },
  });
}

function readRoute(ctx: ApiContext) {
  const { db } = ctx;
  return personRoute({
    method: 'GET',
    path: `${MODE}/terminals/{id}`,
    operationId: 'dashboardRetrieveTerminal',
    moves: 'nothing',
    tag: TAG,
    summary: 'Retrieve a terminal, with the version that an edit names',
    access: 'viewer',
    params: { id: 'terminal' },
    response: ManagedTerminalSchema,
    handle: async ({ caller, params }) => {
      const row = await selectTerminal(db, caller.tenant, params.id ?? '');
      return row === null
        ? resourceMissing('terminal')
        : answerWith(200, managedTerminal(ctx.pages, row));
    },
  });
}

function listRoute(ctx: ApiContext) {
  return personRoute<typeof TerminalListQuery>({
    method: 'GET',
    path: `${MODE}/terminals`,
    operationId: 'dashboardListTerminals',
    moves: 'nothing',
    tag: TAG,
    summary: 'List the terminals, newest first',
    access: 'viewer',
    query: TerminalListQuery,
    response: ManagedTerminalList,
    errors: ['cursor_invalid'],
    handle: async ({ caller: { tenant }, query }) => {
      const pagination = { list: 'terminals', tenant, query, cursorKey: ctx.keys.cursor };
      const filter = { tenant, status: query.status ?? null };
      const read = (page: Page) => selectTerminalPage(ctx.db.standby, filter, page);
      return answerList(pagination, read, (row) => managedTerminal(ctx.pages, row));
    },
  });
}

/** The class of each field of a terminal. Its location decides address, currency and taxes. */
const TERMINAL_FIELDS: SettingClasses = {
  ...{ label: 'inner', name: 'printed', location: 'printed' },
  // See `checkLimits`.
  ...{ offline: 'own', refund_limit: 'own' },
};

const LabelBody = Type.Object({
  version: Version,
  label: Type.Optional(PersonName),
  name: Type.Optional(PersonName),
  location: Type.Optional(nullable(idOf('loc_', 'location'))),
  offline: Type.Optional(nullable(OfflineLimitsInput)),
  refund_limit: Type.Optional(
    nullable(
      limitInput(
        MAX_AMOUNT,
        'How much of one sale, over all its refunds, it may refund while no person is signed in; ' +
          '`null` for nothing where people have PINs, else as the account’s `till_refund_limit` ' +
          'says.',
      ),
    ),
  ),
});

/**
 * Refuses to change limits without the admin role and a trusted factor, because the merchant bears
 * the losses. Limits of refunds need the factor only where real money is at stake.
 */
function checkLimits({ caller, body, now }: LabelRequest): Refusal | null {
  const { offline, refund_limit } = body;
  if (offline === undefined && refund_limit === undefined) return null;
  if (!hasRole(present(caller.role, 'role'), 'admin')) {
    return refuse(
      'role_missing',
      `Setting limits requires the admin role; yours is ${caller.role}.`,
    );
  }
  return offline !== undefined || caller.isRealMoney ? requireTrustedFactor(caller, now) : null;
}

type LabelRequest = PersonRequest<unknown, Type.Static<typeof LabelBody>>;

function labelRoute(ctx: ApiContext) {
  const { db, wakeups } = ctx;
  return personRoute<undefined, typeof LabelBody>({
    method: 'PATCH',
    path: `${MODE}/terminals/{id}`,
    operationId: 'updateTerminal',
    // `name`, so that labels and locations need no factor. Limits do: see `checkLimits`.
    moves: 'name',
    tag: TAG,
    summary: "Change a terminal's label, name, location or limits of offline sales",
    description:
      'Admins set `location`: one of the account, or `null`. Later sales carry it; earlier sales ' +
      'keep theirs. `offline` needs the role admin and a fresh second factor. It says how much ' +
      'the terminal may sell offline; the merchant bears the loss of a sale that bounces. ' +
      '`refund_limit` needs the same, the factor only in a live account.',
    access: 'member',
    params: { id: 'terminal' },
    settings: TERMINAL_FIELDS,
    body: LabelBody,
    response: ManagedTerminalSchema,
    errors: ['version_conflict', 'rates_unavailable'],
    handle: async (request) => {
      const { body, caller } = request;
      if (body.location !== undefined && !hasRole(present(caller.role, 'role'), 'admin')) {
        return refuse(
          'role_missing',
          `Setting location requires the admin role; yours is ${caller.role}.`,
        );
      }
      const refusal = checkLimits(request);
      if (refusal !== null) return refusal;
      const row = await db.transaction((tx) => editTerminal(tx, changeBy(request), body));
      if (isRefusal(row)) return row;
      wakeups.send('deliveries');
      return answerWith(200, managedTerminal(ctx.pages, row));
    },
  });
}

function statusRoute(
  ctx: ApiContext,
  change: { readonly verb: 'activate' | 'deactivate'; readonly status: 'active' | 'inactive' },
) {
  const { db, wakeups } = ctx;
  return personRoute({
    method: 'POST',
    path: `${MODE}/terminals/{id}/${change.verb}`,
    operationId: `${change.verb}Terminal`,
    moves: 'access',
    ...(change.verb === 'deactivate' ? ({ asks: 'never' } as const) : {}),
    tag: TAG,
    summary:
      change.verb === 'activate'
        ? 'Activate a terminal: it takes payments'
        : 'Deactivate a terminal: it takes no payments',
    access: 'admin',
    params: { id: 'terminal' },
    response: ManagedTerminalSchema,
    handle: async (request) => {
      const edit = { version: null, status: change.status };
      const row = await db.transaction((tx) => editTerminal(tx, changeBy(request), edit));
      if (isRefusal(row)) return row;
      wakeups.send('deliveries');
      return answerWith(200, managedTerminal(ctx.pages, row));
    },
  });
}

function rotateRoute(ctx: ApiContext) {
  const { db } = ctx;
  return personRoute({
    method: 'POST',
    path: `${MODE}/terminals/{id}/rotate_device_key`,
    operationId: 'rotateDeviceKey',
    moves: 'access',
    tag: TAG,
    summary: 'Create a new device key; the old one becomes invalid at once',
    access: 'admin',
    params: { id: 'terminal' },
    status: 201,
    response: TerminalWithKey,
    handle: async (request) => {
      const issued = await db.transaction((tx) => rotateDeviceKey(tx, changeBy(request)));
      if (isRefusal(issued)) return issued;
      return answerWith(201, {
        ...managedTerminal(ctx.pages, issued.row),
        device_key: issued.secret,
      });
    },
  });
}

function tagRoute(ctx: ApiContext) {
  return personRoute({
    method: 'POST',
    path: `${MODE}/terminals/{id}/tag/rotate`,
    operationId: 'rotateTerminalTag',
    moves: 'access',
    // Requires no factor, because this only revokes the tag's old address. Whoever learns the new
    // address can only see an amount and pay it.
    asks: 'never',
    tag: TAG,
    summary: 'Replace the address of the tag; the old one stops working',
    access: 'admin',
    params: { id: 'terminal' },
    response: ManagedTerminalSchema,
    handle: async (request) => {
      const row = await ctx.db.transaction((tx) => rotateTag(tx, changeBy(request)));
      return isRefusal(row) ? row : answerWith(200, managedTerminal(ctx.pages, row));
    },
  });
}

const KeyOfChip = Type.String({
  pattern: '^[0-9a-f]{32}$',
  description: 'A key: 16 bytes in hex.',
});

const TagChipSchema = Type.Object(
  {
    object: objectType('tag_chip'),
    url_template: textOut('The address for the chip, which writes its message over the zeros.'),
    meta_read_key: KeyOfChip,
    file_read_key: KeyOfChip,
  },
  { title: 'TagChip', description: 'The data to write to the chip. It is shown only once.' },
);

function tagChipRoute(ctx: ApiContext) {
  return personRoute({
    method: 'POST',
    path: `${MODE}/terminals/{id}/tag/chip`,
    operationId: 'createTerminalTagChip',
    moves: 'access',
    tag: TAG,
    summary: 'Set up the tag as a chip (NTAG 424 DNA); its keys are shown only once',
    description:
      'A customer who taps such a tag is at the counter, and also sees the order and the sale. ' +
      'Another set-up, or another address, replaces this one.',
    access: 'admin',
    params: { id: 'terminal' },
    status: 201,
    response: TagChipSchema,
    handle: async (request) => {
      const made = await ctx.db.transaction((tx) => makeChip(tx, ctx.pages, changeBy(request)));
      if (isRefusal(made)) return made;
      return answerWith(201, {
        object: 'tag_chip',
        url_template: made.urlTemplate,
        meta_read_key: made.keys.metaRead.toString('hex'),
        file_read_key: made.keys.fileRead.toString('hex'),
      });
    },
  });
}

const SmartTapBody = Type.Object({
  enabled: Type.Boolean({ description: 'True if its reader reads passes in Google Wallet.' }),
});

const SwitchedSmartTap = Type.Object(
  { smart_tap: Type.Boolean({ description: 'True if it is on now.' }) },
  { description: 'The state of the switch.' },
);

function smartTapRoute(ctx: ApiContext) {
  return personRoute<undefined, typeof SmartTapBody>({
    method: 'POST',
    path: `${MODE}/terminals/{id}/smart_tap`,
    operationId: 'switchTerminalSmartTap',
    moves: 'access',
    // Requires no factor, because this only adds or removes a way for customers to pay. It grants
    // no access.
    asks: 'never',
    tag: TAG,
    summary: 'Switch Smart Tap, by which its reader reads Google Wallet, on or off',
    description:
      'Applies from the next tap on. In live mode it needs an approved business verification. ' +
      'The network needs a key for Smart Tap, which its operator creates.',
    access: 'admin',
    params: { id: 'terminal' },
    body: SmartTapBody,
    response: SwitchedSmartTap,
    errors: ['kyb_required', 'not_configured'],
    handle: async (request) => {
      const { enabled } = request.body;
      const row = await ctx.db.transaction((tx) => switchSmartTap(tx, changeBy(request), enabled));
      return isRefusal(row) ? row : answerWith(200, { smart_tap: row.smart_tap });
    },
  });
}

const PairingCodeBody = Type.Object({
  with_factor: Type.Optional(
    Type.Boolean({
      description: 'true: require a second factor, for a till with a forgotten PIN.',
    }),
  ),
});

function pairingRoute({ db }: ApiContext) {
  return personRoute<undefined, typeof PairingCodeBody>({
    method: 'POST',
    path: `${MODE}/terminals/{id}/pairing_code`,
    operationId: 'createPairingCode',
    moves: 'access',
    tag: TAG,
    summary: 'Create a short code that the terminal exchanges for a device key',
    description:
      'Works once, for ten minutes. The terminal’s current key becomes invalid when the code is ' +
      'used. With `with_factor` it needs a second factor verified in the last five minutes; such ' +
      'a code also unlocks a till with a forgotten PIN.',
    access: 'admin',
    params: { id: 'terminal' },
    body: PairingCodeBody,
    status: 201,
    response: PairingCodeSchema,
    handle: async (request) => {
      const { caller, body, now } = request;
      const stale = body.with_factor === true ? requireTrustedFactor(caller, now) : null;
      if (stale !== null) return stale;
      const ref = { ...changeBy(request), byFreshFactor: hasTrustedFactor(caller, now) };
      const made = await db.transaction((tx) => createPairingCode(tx, ref));
      if (isRefusal(made)) return made;
      const { code, expiresAt } = made;
      return answerWith(201, { code, expires_at: expiresAt, by_fresh_factor: ref.byFreshFactor });
    },
  });
}

export function managedTerminalRoutes(ctx: ApiContext): PersonRoute[] {
  return [
    createRoute(ctx),
    listRoute(ctx),
    readRoute(ctx),
    labelRoute(ctx),
    statusRoute(ctx, { verb: 'activate', status: 'active' }),
    statusRoute(ctx, { verb: 'deactivate', status: 'inactive' }),
    rotateRoute(ctx),
    tagRoute(ctx),
    tagChipRoute(ctx),
    smartTapRoute(ctx),
    pairingRoute(ctx),
  ];
}
