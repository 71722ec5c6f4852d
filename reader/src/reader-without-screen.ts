import { randomUUID } from 'node:crypto';
import { pause } from './abortable-pause.ts';
import { type DeviceApi, DeviceApiError, type Intent } from './device-api.ts';
import { addressOf, ethereumSignature } from './ethereum/signature.ts';
import { digestOf } from './ethereum/typed-data.ts';
import type { TwoCards } from './pcsc/readers.ts';
import type { SignedByChip, Tap, ToSign } from './protocols/read-tap.ts';

/**
 * An event that a reader without a screen reports to its caller, for example to control lights and
 * sounds.
 */
export type TillEvent =
  | { readonly status: 'idle' }
  /** A payment is open, and the customer may tap. */
  | { readonly status: 'waiting'; readonly intent: Intent }
  /** The card was read and may be removed. The network decides about the payment. */
  | { readonly status: 'read' }
  | { readonly status: 'paid'; readonly intent: Intent }
  | { readonly status: 'confirm'; readonly intent: Intent }
  | { readonly status: 'declined'; readonly message: string }
  | { readonly status: 'ended'; readonly intent: Intent }
  /** The item cannot pay. The message is meant for the customer. */
  | { readonly status: 'not_read'; readonly message: string }
  | { readonly status: 'offline' }
  /** The device key is no longer valid. The reader must be paired again. */
  | { readonly status: 'unpaired' };

export interface Taps {
  /** A tap is dropped if no caller waits for one. */
  /** @param toSign Provides the digest for a chip presented during this wait. */
  next(signal: AbortSignal, toSign: ToSign): Promise<Tap | TwoCards>;
}

export interface WithoutScreen {
  readonly api: DeviceApi;
  readonly taps: Taps;
  readonly onEvent: (event: TillEvent) => void;
  readonly signal: AbortSignal;
}

/**
 * Pause before a tap is sent again after a lost response. It has the same key, so it can charge
 * only once.
 */
const AGAIN_MS = 1000;
const OPEN = 'requires_payment_method';

const WORDS: Readonly<Record<Exclude<Tap['status'], 'read' | 'signed'> | 'two_cards', string>> = {
  nothing_to_sign: 'This card cannot pay this amount now.',
  no_pass: 'The phone has no pass for this shop.',
  tap_again: 'Unlock the phone, then tap again.',
  not_a_payment_card: 'This is not a payment card of this network.',
  gone: 'Hold it there a little longer.',
  unreadable: 'The card could not be read. Tap again.',
  two_cards: 'Hold only one card to the reader.',
};

/**
 * Reports this program's version.
 * @throws if the server cannot be reached or the device key is no longer valid.
 */
async function reportSoftware({ api, signal }: WithoutScreen): Promise<void> {
  try {
    await api.report(signal);
  } catch (error) {
    const isRefused = error instanceof DeviceApiError && error.status < 500;
    // Servers of an earlier release do not accept the report, but payments still work.
    if (!isRefused || error.status === 401) throw error;
  }
}

/** Runs until `signal` aborts or the device key is no longer valid. */
export async function runWithoutScreen(till: WithoutScreen): Promise<void> {
  let isReported = false;
  while (!till.signal.aborted) {
    till.onEvent({ status: 'idle' });
    try {
      if (!isReported) await reportSoftware(till);
      isReported = true;
      const intent = await till.api.nextIntent(till.signal);
      if (intent !== null) await takePayment(till, intent);
    } catch (error) {
      if (till.signal.aborted) return;
      if (error instanceof DeviceApiError && error.status === 401) {
        return till.onEvent({ status: 'unpaired' });
      }
      till.onEvent({ status: 'offline' });
      await pause(AGAIN_MS, till.signal);
    }
  }
}

async function takePayment(till: WithoutScreen, first: Intent): Promise<void> {
  let intent = first;
  while (intent.status === OPEN && !till.signal.aborted) {
    till.onEvent({ status: 'waiting', intent });
    const tap = await tapOrChange(till, intent);
    if ('id' in tap) {
      // A customer may pay with a phone instead, at the tag or by a link.
      intent = await settled(till, tap);
      tell(till, intent);
    } else {
      const send = sending(till, intent, tap);
      if (typeof send === 'string') till.onEvent({ status: 'not_read', message: send });
      else {
        till.onEvent({ status: 'read' });
        intent = await settled(till, await handIn(till, intent, send));
        tell(till, intent);
      }
    }
  }
  if (intent.status !== 'succeeded') till.onEvent({ status: 'ended', intent });
}

/**
 * Returns a function that submits the tap and may be called repeatedly. If the item cannot pay,
 * returns a message for the customer.
 */
function sending(
  { api }: WithoutScreen,
  { id }: Intent,
  tap: Tap | TwoCards,
): string | (() => Promise<Intent>) {
  if (tap.status === 'signed') {
    const authorization = authorizationOf(tap.signed);
    return authorization === null ? WORDS.unreadable : () => api.authorize(id, authorization);
  }
  if (tap.status !== 'read') return WORDS[tap.status];
  const key = randomUUID();
  return () => api.tap(id, tap.credential, key);
}

/** Returns the signature in the network's format, or `null` if the chip signed something else. */
function authorizationOf({ public_key, digest, r, s }: SignedByChip) {
  const key = Buffer.from(public_key, 'hex');
  const parts = { r: BigInt(`0x${r}`), s: BigInt(`0x${s}`) };
  const signature = ethereumSignature(Buffer.from(digest, 'hex'), parts, key);
  return signature === null ? null : { from: addressOf(key), signature };
}

/** Returns a function that requests the message that a chip must sign to pay this intent. */
function toSignOf({ api, signal }: WithoutScreen, { id }: Intent): ToSign {
  return async (publicKey) => {
    const typedData = await api.toSign(id, addressOf(publicKey), signal).catch(() => null);
    return typedData === null ? null : digestOf(typedData);
  };
}

/**
 * Waits for a tap. @returns the intent if it was canceled, has expired or was paid in another way.
 */
async function tapOrChange(till: WithoutScreen, intent: Intent): Promise<Tap | TwoCards | Intent> {
  const end = new AbortController();
  const { signal } = end;
  const stop = () => end.abort(till.signal.reason);
  till.signal.addEventListener('abort', stop);
  if (till.signal.aborted) stop();
  const changed = changeOf(till, intent, signal);
  try {
    return await Promise.race([till.taps.next(signal, toSignOf(till, intent)), changed]);
  } finally {
    till.signal.removeEventListener('abort', stop);
    end.abort();
    await changed.catch(() => undefined);
  }
}

/** Waits until the intent's status changes, also while the network cannot be reached. */
async function changeOf(till: WithoutScreen, { id, status }: Intent, signal: AbortSignal) {
  for (;;) {
    try {
      const now = await till.api.changed(id, status, signal);
      if (now.status !== status) return now;
    } catch (error) {
      const isFinal = error instanceof DeviceApiError && !mayComeAgain(error);
      if (signal.aborted || isFinal) throw error;
      till.onEvent({ status: 'offline' });
      await pause(AGAIN_MS, signal);
    }
  }
}

/**
 * Sends the tap until there is a response. Reports a refusal as an event. @throws DeviceApiError if
 * the device key is no longer valid.
 */
async function handIn(till: WithoutScreen, intent: Intent, send: () => Promise<Intent>) {
  for (;;) {
    try {
      return await send();
    } catch (error) {
      if (error instanceof DeviceApiError && !mayComeAgain(error)) {
        if (error.status === 401) throw error;
        till.onEvent({ status: 'not_read', message: error.message });
        return till.api.intent(intent.id, till.signal);
      }
      if (till.signal.aborted) throw error;
      till.onEvent({ status: 'offline' });
      await pause(AGAIN_MS, till.signal);
    }
  }
}

/** True if the same request with the same key may still succeed after this refusal. */
export function mayComeAgain(error: DeviceApiError): boolean {
  return error.status >= 500 || error.status === 429 || error.code.endsWith('_in_progress');
}

/** Returns the intent once its result is known. The reader accepts no other tap before that. */
async function settled(till: WithoutScreen, first: Intent): Promise<Intent> {
  let intent = first;
  while (intent.status === 'processing' || intent.status === 'requires_action') {
    if (intent.status === 'requires_action') till.onEvent({ status: 'confirm', intent });
    const seen = intent.status;
    intent = await till.api.changed(intent.id, seen, till.signal).catch(async (error) => {
      if (till.signal.aborted || (error as DeviceApiError).status === 401) throw error;
      till.onEvent({ status: 'offline' });
      await pause(AGAIN_MS, till.signal);
      return intent;
    });
  }
  return intent;
}

function tell(till: WithoutScreen, intent: Intent): void {
  const message = intent.last_payment_error?.customer_message;
  if (intent.status === 'succeeded') till.onEvent({ status: 'paid', intent });
  else if (intent.status === OPEN && message !== undefined) {
    till.onEvent({ status: 'declined', message });
  }
}
