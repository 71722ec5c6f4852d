import { pause } from '../abortable-pause.ts';
import { CardGone, type Transceive } from '../protocols/apdu.ts';
import { readTap, type Tap, type ToSign, type Wallets } from '../protocols/read-tap.ts';
import { PcscError, PcscSession, type ReaderState, UNRESPONSIVE } from './service.ts';

/** The reader's activity, for display or further handling. */
export type ReaderEvent = CardEvent<Tap>;

/** Events of communicating with cards, where each card results in a `T`. */
export type CardEvent<T> =
  /**
   * No reader is connected, or the PC/SC service is not running. The program waits for a reader.
   */
  | { readonly status: 'no_reader' }
  | { readonly status: 'ready'; readonly readers: readonly string[] }
  | { readonly status: 'tapped'; readonly reader: string; readonly tap: T | TwoCards | Gone };

/** Two cards are on the reader: it detects them but cannot communicate with either. */
export interface TwoCards {
  readonly status: 'two_cards';
}

interface Gone {
  readonly status: 'gone';
}

/** Retry interval after a reader was unplugged, or the machine slept. */
const RETRY_MS = 1000;

export interface ReadersOptions {
  readonly socket: string;
  readonly wallets: () => Wallets;
  /** Provides the digest for a chip to sign. Without it, chips that sign cannot pay here. */
  readonly toSign?: ToSign;
  readonly onEvent: (event: ReaderEvent) => void;
  readonly signal: AbortSignal;
}

/** Reads each card presented to any reader, once, until `signal` aborts. */
export function watchReaders({ wallets, toSign, ...options }: ReadersOptions): Promise<void> {
  return watchCards<Tap>({ ...options, converse: (card) => readTap(card, wallets(), toSign) });
}

export interface CardsOptions<T> extends Pick<ReadersOptions, 'socket' | 'signal'> {
  readonly converse: (card: Transceive) => Promise<T>;
  readonly onEvent: (event: CardEvent<T>) => void;
}

/** Communicates with each card presented to any reader, once. */
export async function watchCards<T>(options: CardsOptions<T>): Promise<void> {
  let told = '';
  const tell = (event: CardEvent<T>) => {
    const key = event.status === 'tapped' ? '' : JSON.stringify(event);
    if (key !== '' && key === told) return;
    if (key !== '') told = key;
    options.onEvent(event);
  };
  while (!options.signal.aborted) {
    await watchOnce(options, tell).catch(() => undefined);
    if (options.signal.aborted) return;
    tell({ status: 'no_reader' });
    await pause(RETRY_MS, options.signal);
  }
}

async function watchOnce<T>(options: CardsOptions<T>, tell: (event: CardEvent<T>) => void) {
  const session = await PcscSession.open(options.socket);
  const end = () => session.close();
  options.signal.addEventListener('abort', end, { once: true });
  try {
    let states = await session.readerStates();
    // A card that is already on the reader at the start is not a tap.
    const seen = new Map(states.map((state) => [state.name, state.events]));
    for (;;) {
      const readers = states.map((state) => state.name);
      tell(readers.length === 0 ? { status: 'no_reader' } : { status: 'ready', readers });
      for (const state of states) await attend(state, { seen, options, tell });
      states = await session.nextChange(states);
    }
  } finally {
    options.signal.removeEventListener('abort', end);
    session.close();
  }
}

interface Attending<T> {
  readonly seen: Map<string, number>;
  readonly options: CardsOptions<T>;
  readonly tell: (event: CardEvent<T>) => void;
}

async function attend<T>(state: ReaderState, { seen, options, tell }: Attending<T>) {
  const isNew = seen.get(state.name) !== state.events;
  seen.set(state.name, state.events);
  if (!isNew || !state.cardPresent) return;
  const tap = await speakTo(state.name, options);
  tell({ status: 'tapped', reader: state.name, tap });
}

/**
 * Uses a separate session, so that the watching one notices the removal of a card that stopped
 * responding.
 */
async function speakTo<T>(reader: string, options: CardsOptions<T>): Promise<T | TwoCards | Gone> {
  const session = await PcscSession.open(options.socket);
  try {
    const card = await session.connect(reader);
    const tap = await options.converse(card.transceive);
    await card.end().catch(() => undefined);
    return tap;
  } catch (error) {
    if (error instanceof CardGone) return { status: 'gone' };
    if (error instanceof PcscError && error.code === UNRESPONSIVE) return { status: 'two_cards' };
    throw error;
  } finally {
    session.close();
  }
}
