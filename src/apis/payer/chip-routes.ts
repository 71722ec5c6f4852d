import Type from 'typebox';
import { isAddress } from 'viem';
import { payerOfCaller } from '#apis/payer/authenticate-payer.ts';
import { type PayerRoute, payerRoute } from '#apis/payer/payer-route.ts';
import { consentRefusal } from '#apis/payer/require-fresh-signature.ts';
import { answerWith, isRefusal, refuse, resourceMissing } from '#core/answer.ts';
import { checkDirections } from '#core/name-rules.ts';
import {
  Amount,
  commonFields,
  idOf,
  nullable,
  objectType,
  Timestamp,
  text,
  walletAddress,
  walletSignature,
} from '#http/schema.ts';
import {
  type ChipRow,
  deleteChip,
  lockChip,
  selectChips,
  updateChip,
} from '#payers/chip-queries.ts';
import { chipProof, registerChip, renderChip } from '#payers/register-chip.ts';
import type { ApiContext } from '#payments/api-context.ts';

const Address = walletAddress('The address of the chip’s key.');

export const ChipSchema = Type.Object(
  {
    id: idOf('chip_', 'chip'),
    ...commonFields('chip'),
    address: Address,
    label: text(100, "The payer's name for it."),
    per_payment_limit: {
      ...nullable(Amount),
      description: "`null` for no limit besides the chip's balance.",
    },
    blocked: Type.Boolean({
      description: 'True if payments that the chip signs are refused here.',
    }),
    created: Timestamp,
  },
  { title: 'Chip', description: 'A chip that signs payments itself, and the limits of its owner.' },
);

const ChipListSchema = Type.Object(
  {
    object: objectType('list'),
    data: Type.Array(ChipSchema, { description: 'Every chip of the payer, oldest first.' }),
    has_more: Type.Literal(false, { description: 'There is no further page.' }),
    next_cursor: Type.Null({ description: 'There is no further page.' }),
  },
  { title: 'ChipList', description: 'The payer’s chips.' },
);

const Label = text(100, "Up to 100 characters: the payer's name for it.");
const Limit = nullable(
  Type.Integer({
    minimum: 1,
    maximum: 1_000_000_000_000,
    description:
      'The largest payment, sale plus tip, in USDC atoms without fees. `null` for no limit.',
  }),
);
const Blocked = Type.Boolean({
  description: 'true: no payment that the chip signs is accepted here.',
});

const changes = {
  label: Type.Optional(Label),
  per_payment_limit: Type.Optional(Limit),
  blocked: Type.Optional(Blocked),
};

const NewChipBody = Type.Object({
  address: Address,
  signature: walletSignature('The chip’s signature of the text of `GET /chips/proof` (EIP-191).'),
  ...changes,
});

const ProofQuery = Type.Object({ address: Address });

const ProofSchema = Type.Object(
  { message: Type.String({ description: 'The text that the chip signs (EIP-191).' }) },
  { title: 'ChipProof', description: 'Proves that the chip belongs to this wallet.' },
);

function proofRoute() {
  return payerRoute<typeof ProofQuery>({
    method: 'GET',
    path: '/chips/proof',
    operationId: 'retrieveChipProof',
    moves: 'nothing',
    summary: 'Retrieve the text that a chip signs to be registered',
    query: ProofQuery,
    responses: { 200: { schema: ProofSchema, description: 'The text.' } },
    handle: async ({ caller, query }) =>
      answerWith(200, { message: chipProof(payerOfCaller(caller), query.address) }),
  });
}

function listRoute({ db }: ApiContext) {
  return payerRoute({
    method: 'GET',
    path: '/chips',
    operationId: 'listChips',
    moves: 'nothing',
    summary: 'List the payer’s chips',
    responses: { 200: { schema: ChipListSchema, description: 'Every chip of the payer.' } },
    handle: async ({ caller }) => {
      const rows = await selectChips(db, payerOfCaller(caller).id);
      const data = rows.map(renderChip);
      return answerWith(200, { object: 'list', data, has_more: false, next_cursor: null });
    },
  });
}

function registerRoute(ctx: ApiContext) {
  return payerRoute<undefined, typeof NewChipBody>({
    method: 'POST',
    path: '/chips',
    operationId: 'registerChip',
    moves: 'access',
    asks: 'never',
    summary: 'Register a chip, so that its limit and block apply',
    description:
      'For chips that sign payments themselves (HaLo, Burner, Keycard). The first payer who ' +
      'sends the chip’s signature registers it. An unregistered chip pays like any wallet.',
    body: NewChipBody,
    bodyExample: {
      address: '0x5B38Da6a701c568545dCfcB03FcB875f56beddC4',
      signature: `0x${'1b'.repeat(65)}`,
      label: 'Ring',
      per_payment_limit: 20000000,
    },
    responses: { 201: { schema: ChipSchema, description: 'The chip.' } },
    errors: ['signature_invalid', 'wallet_not_deployed', 'unexpected_state', 'service_unavailable'],
    handle: async ({ caller, body, now }) => {
      const { label = '', per_payment_limit: limit = null, blocked = false, ...rest } = body;
      const turned = checkDirections(label, 'label');
      if (turned !== null) return turned;
      const perPaymentLimit = limit === null ? null : BigInt(limit);
      const made = { ...rest, label, perPaymentLimit, blocked, now };
      const row = await registerChip(ctx, payerOfCaller(caller), made);
      return isRefusal(row) ? row : answerWith(201, renderChip(row));
    },
  });
}

const ChangeBody = Type.Object(changes);

type Bounds = Pick<ChipRow, 'per_payment_limit' | 'blocked_at'>;

const UNBOUND: Bounds = { per_payment_limit: null, blocked_at: null };

/** True if the change lets the chip pay more than before. */
function lifts(before: Bounds, after: Bounds): boolean {
  const { per_payment_limit: limit } = before;
  const isHigher =
    limit !== null && (after.per_payment_limit === null || after.per_payment_limit > limit);
  return isHigher || (before.blocked_at !== null && after.blocked_at === null);
}

/**
 * Returns the chip's ID or its printed address, whichever the path contains. Refuses anything else.
 */
function nameIn(params: Readonly<Record<string, string>>) {
  const { id = '' } = params;
  if (id.startsWith('chip_') || isAddress(id, { strict: false })) return id;
  return refuse('resource_missing', 'There is no such chip.', 'id');
}

function changeRoute({ db }: ApiContext) {
  return payerRoute<undefined, typeof ChangeBody>({
    method: 'PATCH',
    path: '/chips/{id}',
    operationId: 'updateChip',
    moves: 'access',
    asks: 'own',
    summary: 'Change a chip’s label, limit or block; by its id or its address',
    description:
      'Raising a limit or lifting a block needs a signature of the wallet, at most five ' +
      'minutes old.',
    params: { id: 'text' },
    body: ChangeBody,
    bodyExample: { blocked: true },
    responses: { 200: { schema: ChipSchema, description: 'The changed chip.' } },
    errors: ['resource_missing'],
    handle: async ({ caller, params, body, now }) => {
      const turned = checkDirections(body.label ?? '', 'label');
      if (turned !== null) return turned;
      const name = nameIn(params);
      if (isRefusal(name)) return name;
      const payerId = payerOfCaller(caller).id;
      // Locks the chip, and so waits for a concurrent payment with it.
      const row = await db.transaction(async (tx) => {
        const before = await lockChip(tx, { payerId, name });
        if (before === undefined) return undefined;
        const { per_payment_limit: limit, blocked } = body;
        const stays = blocked === undefined || blocked === (before.blocked_at !== null);
        const after = {
          ...before,
          label: body.label ?? before.label,
          per_payment_limit:
            limit === undefined ? before.per_payment_limit : limit === null ? null : BigInt(limit),
          blocked_at: stays ? before.blocked_at : blocked ? now : null,
        };
        const refused = lifts(before, after) ? consentRefusal(caller, now) : null;
        if (refused !== null) return refused;
        await updateChip(tx, after);
        return after;
      });
      if (isRefusal(row)) return row;
      return row === undefined ? resourceMissing('chip') : answerWith(200, renderChip(row));
    },
  });
}

const DeletedSchema = Type.Object(
  {
    id: idOf('chip_', 'chip'),
    object: objectType('chip'),
    deleted: Type.Literal(true, { description: 'The chip is no longer registered.' }),
  },
  { title: 'DeletedChip', description: 'The chip that was deleted.' },
);

function deleteRoute({ db }: ApiContext) {
  return payerRoute({
    method: 'DELETE',
    path: '/chips/{id}',
    operationId: 'deleteChip',
    moves: 'access',
    asks: 'own',
    summary: 'Delete a chip; its limit and its block end',
    description:
      'A chip with a limit or a block needs a signature of the wallet, at most five minutes old.',
    params: { id: 'text' },
    responses: { 200: { schema: DeletedSchema, description: 'The chip was deleted.' } },
    errors: ['resource_missing'],
    handle: async ({ caller, params, now }) => {
      const name = nameIn(params);
      if (isRefusal(name)) return name;
      const payerId = payerOfCaller(caller).id;
      const row = await db.transaction(async (tx) => {
        const chip = await lockChip(tx, { payerId, name });
        if (chip === undefined) return undefined;
        const refused = lifts(chip, UNBOUND) ? consentRefusal(caller, now) : null;
        if (refused !== null) return refused;
        await deleteChip(tx, chip.id);
        return chip;
      });
      if (isRefusal(row)) return row;
      if (row === undefined) return resourceMissing('chip');
      return answerWith(200, { id: row.id, object: 'chip', deleted: true });
    },
  });
}

/**
 * Declares the routes that register, list, change and delete chips that sign payments (behavior.md
 * 19.10).
 */
export function chipRoutes(ctx: ApiContext): PayerRoute[] {
  return [proofRoute(), listRoute(ctx), registerRoute(ctx), changeRoute(ctx), deleteRoute(ctx)];
}
