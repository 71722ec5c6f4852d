import { isRefusal, type Refusal, resourceMissing } from '#core/answer.ts';
import { numberedId, numberOfId } from '#core/ids.ts';
import { tenantOf } from '#core/mode.ts';
import type { ApiContext } from '#payments/api-context.ts';
import { terminalPolls } from '#payments/intent-long-polls.ts';
import type { PaymentIntent } from '#payments/intent-rows.ts';
import { type PayLink, readPayLink } from '#payments/pay-link.ts';
import type { Hex } from '#settlement/chain-requests.ts';
import { selectTaggedTerminal, type TaggedTerminal } from '#terminals/provisioning-queries.ts';
import { tagOfToken } from '#terminals/tag-url.ts';

/** Finds the terminal whose tag has this token now. */
export async function findTag(
  { db, keys }: ApiContext,
  token: string,
): Promise<TaggedTerminal | null> {
  const tag = tagOfToken(keys.id, token);
  return tag === null ? null : ((await selectTaggedTerminal(db, tag)) ?? null);
}

/**
 * Returns the reference by which the tag's page names this payment. It reveals neither the intent
 * nor the pay link.
 */
export function referenceOf({ keys: { id: idKey } }: ApiContext, link: PayLink): string {
  const { livemode } = tenantOf(link.intent);
  return numberedId(idKey, 'tagPayment', { livemode, number: link.number });
}

function readBy(
  ctx: ApiContext,
  { livemode }: TaggedTerminal,
  filter: { readonly number: bigint | null; readonly address: Hex | null },
): Promise<PayLink | null> {
  const { number, address } = filter;
  const chain = ctx.chains.find(({ config }) => config.livemode === livemode);
  if (number === null || chain === undefined) return Promise.resolve(null);
  return readPayLink(ctx, { number, chain, address, bindsOrder: false });
}

/** Finds a payment of the tag's terminal by its reference, whatever its status. */
export async function findTagPayment(
  ctx: ApiContext,
  terminal: TaggedTerminal,
  filter: { readonly reference: string; readonly address: Hex | null },
): Promise<PayLink | Refusal> {
  const { reference: id, address } = filter;
  const number = numberOfId(ctx.keys.id, 'tagPayment', { livemode: terminal.livemode, id });
  const link = await readBy(ctx, terminal, { number, address });
  const isHere = link !== null && link.intent.terminal_id === terminal.id;
  return isHere ? link : resourceMissing('payment', 'payment');
}

/**
 * Waits until the terminal has an open payment and returns the oldest. `null` after the time-out,
 * or if the shop takes no payments now.
 */
export async function awaitTagPayment(
  ctx: ApiContext,
  terminal: TaggedTerminal,
  waiting: { readonly address: Hex | null; readonly waitMs: number; readonly gone: AbortSignal },
): Promise<PayLink | null> {
  const { address, waitMs, gone } = waiting;
  const takesPayments = terminal.status === 'active' && terminal.account_status === 'active';
  const accept = (intent: PaymentIntent | undefined) => takesPayments && intent !== undefined;
  const intent = await terminalPolls(ctx).wait(terminal.id, { accept, waitMs, gone });
  if (intent === undefined || !takesPayments) return null;
  const { livemode } = terminal;
  const number = numberOfId(ctx.keys.id, 'paymentIntent', { livemode, id: intent.id });
  const link = await readBy(ctx, terminal, { number, address });
  return link === null || isRefusal(link.closed) ? null : link;
}
