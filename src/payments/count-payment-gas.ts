import { isRefusal, type Refusal } from '#core/answer.ts';
import { tenantOf } from '#core/mode.ts';
import type { Tx } from '#db/database.ts';
import { createPayer } from '#payers/create-payer.ts';
import { type PayerRow, selectHasPaid } from '#payers/payer-queries.ts';
import type { ApiContext } from '#payments/api-context.ts';
import type { PayLink } from '#payments/pay-link.ts';
import type { VerifiedAuthorization } from '#payments/verify-authorization.ts';
import type { Hex } from '#settlement/chain-requests.ts';
import { takeGas } from '#settlement/gas-budget.ts';
import { AUTHORIZED_PAYMENT_GAS, withCallData } from '#settlement/gas-ceilings.ts';
import { deleteUnsent } from '#settlement/gas-spending-queries.ts';

/** The payer of an authorization. `counted` is null for a wallet that signs with a key. */
interface Counted {
  readonly payer: PayerRow;
  readonly counted: bigint | null;
}

type By = {
  readonly from: Hex;
  readonly verified: Pick<VerifiedAuthorization, 'byCode' | 'signature'>;
  readonly now: Date;
};

/**
 * Creates the payer, and counts the payment if the wallet is a contract: it may refuse in the block
 * what it accepts now, and the operator pays for that. Keys are never counted.
 */
export async function countPayment(
  tx: Tx,
  { settings }: ApiContext,
  link: PayLink,
  by: By,
): Promise<Counted | Refusal> {
  const { intent, bindsOrder } = link;
  const { livemode, accountId } = tenantOf(intent);
  const { from, verified, now } = by;
  const payer = await createPayer(tx, { livemode, address: from, now });
  if (!verified.byCode) return { payer, counted: null };
  const call = {
    ...({ livemode, kind: 'payment', subjectId: intent.id, wallet: payer.address, now } as const),
    ...(await selectHasPaid(tx, { payerId: payer.id, accountId })),
    // All payments at a tag are of its terminal, and a stranger with a photo of it sees each.
    door: bindsOrder ? `link ${intent.id}` : `tag ${intent.terminal_id}`,
    gas: withCallData(AUTHORIZED_PAYMENT_GAS, verified.signature),
  };
  const taken = await takeGas(tx, call, settings.gas.perDay.payment);
  return isRefusal(taken) ? taken : { payer, counted: taken.id };
}

/** Returns the refusal that {@link countPayment} would give now, and counts nothing. */
export async function paymentRefused(
  ctx: ApiContext,
  link: PayLink,
  by: By,
): Promise<Refusal | null> {
  const taken = await ctx.db.transaction((tx) => countPayment(tx, ctx, link, by));
  if (isRefusal(taken)) return taken;
  const { counted } = taken;
  if (counted === null) return null;
  await deleteUnsent(ctx.db, { id: counted, subjectId: link.intent.id, isRefused: true });
  return null;
}
