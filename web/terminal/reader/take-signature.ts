import { withTexts } from '../../ui/text/t.ts';
import type { TillContext } from '../screens/till-context.ts';
import type { ChipAsks } from '../screens/use-chip-asks.ts';
import type { Asking, Open } from '../till-phases.ts';
import type { Chip } from './chip-commands.ts';
import type { Unread } from './read-credential.ts';

interface ChipSending
  extends Pick<TillContext, 'runner' | 'api' | 'offline'>,
    Pick<ChipAsks, 'askPin'> {
  /** True while the payment still waits for this signature. */
  readonly isWaiting: () => boolean;
  readonly until: AbortSignal;
}

/** @returns the reason why nothing was sent or stored, or `null`. */
export function takeChip(
  chip: Chip,
  request: Open | Asking,
  sending: ChipSending,
): Promise<Unread | null> {
  return request.at === 'asking'
    ? acceptByChip(chip, request, sending)
    : tapByChip(chip, request, sending);
}

/** Has a chip sign this payment, and sends the signature to the service. */
async function tapByChip(
  chip: Chip,
  { intent, tip }: Open,
  { runner, api, askPin, isWaiting, until }: ChipSending,
): Promise<Unread | null> {
  const { signByChip } = await withTexts(() => import('../reader/sign-by-chip.ts'));
  const payment = { api, intent: intent.id, tip, chip, askPin };
  const signed = await signByChip(payment, until);
  if (signed.is !== 'signed') return signed;
  if (!isWaiting()) return null;
  const tap = { key: crypto.randomUUID(), signed: signed.signed, tip };
  runner.dispatch({ type: 'tap', tap });
  return null;
}

/** Has a chip sign an offline sale, and stores the signature. */
async function acceptByChip(
  chip: Chip,
  request: Asking,
  { runner, offline, askPin, until }: ChipSending,
): Promise<Unread | null> {
  const till = await offline.till();
  if (till === null) return { is: 'not_signed', message: null };
  const { signOffline } = await withTexts(() => import('../offline/sign-offline.ts'));
  const accepted = await signOffline({ till, asked: request, chip, askPin }, until);
  if ('is' in accepted) return accepted;
  runner.dispatch({ type: 'accepted', request: request.request, slip: accepted });
  return null;
}

/** Stores a wallet's answer that a reader has delivered. */
export async function acceptAnswer(
  text: string,
  request: Asking,
  { runner, offline }: Pick<TillContext, 'runner' | 'offline'>,
): Promise<Unread | null> {
  const [till, { problemWords }] = await Promise.all([
    offline.till(),
    withTexts(() => import('../offline/bounce-words.ts')),
  ]);
  const accepted = (await till?.accept(request, text)) ?? 'full';
  if (typeof accepted === 'string' || 'is' in accepted) {
    return { is: 'not_signed', message: problemWords(accepted) };
  }
  runner.dispatch({ type: 'accepted', request: request.request, slip: accepted });
  return null;
}
