import { useSyncExternalStore } from 'react';
import type { SealedPin } from '../ui/pin.ts';
import type { Pin } from './contracts.ts';
import { forgetHeldWallet } from './held.ts';
import type { Sending } from './sending.ts';
import type { ChainFacts } from './signing.ts';
import type { Vault } from './vault.ts';

export type Network = 'testnet' | 'mainnet';

/** A sign-in at the service. It reads, and answers questions; it cannot sign. */
export interface Session {
  readonly token: string;
  readonly expiresAt: string;
  readonly address: string;
}

/** What this browser keeps, for all of its windows. */
interface Kept {
  readonly vault: Vault | null;
  readonly sessions: { readonly [network in Network]?: Session };
  /** null: the one that the service names first. */
  readonly network: Network | null;
  /** Whether the person has shown that the key is kept elsewhere too. */
  readonly backedUp: boolean;
  /** Keeps curious hands off this screen; opens no key. null: none is set. */
  readonly pin: SealedPin | null;
  /** Whether the person was asked if this device may ring: once is enough. */
  readonly askedToRing: boolean;
  /** Whether each yes and each code of a pass asks the passkey. */
  readonly passkeyEach: boolean;
  /** Whether a question makes no sound. */
  readonly silent: boolean;
  /** Base32, by the id of the pass: what its rotating codes are made with, without a network. */
  readonly rotatingKeys: Readonly<Record<string, string>>;
  /** Payments with a static pass were told of until then; null: this browser is new. */
  readonly heardUntil: string | null;
  /** The same for taps of static passes that were refused. */
  readonly refusedUntil: string | null;
  /**
   * The contracts that this wallet signs for (pins.ts), and what it takes to end the permission
   * without the service.
   */
  readonly chains: { readonly [network in Network]?: ChainFacts };
  /** USDC that left the wallet, until it is known what became of it. */
  readonly sending: { readonly [network in Network]?: Sending };
  /** What the service named last where it differs: for a person to compare. */
  readonly otherContracts: { readonly [network in Network]?: Pin };
  /** Whom this wallet signed for before it trusted others: a permission may be left there. */
  readonly formerContracts: { readonly [network in Network]?: readonly Pin[] };
}

type Name = keyof Kept;

const EMPTY: Kept = {
  vault: null,
  sessions: {},
  network: null,
  backedUp: false,
  pin: null,
  askedToRing: false,
  passkeyEach: false,
  silent: false,
  rotatingKeys: {},
  heardUntil: null,
  refusedUntil: null,
  chains: {},
  sending: {},
  otherContracts: {},
  formerContracts: {},
};

const itemOf = (name: Name) => `tapline.wallet.${name}`;
const listeners = new Set<() => void>();
/** What was read last: the same text gives the same object. */
const read = new Map<Name, { readonly text: string | null; readonly value: unknown }>();

export function kept<N extends Name>(name: N): Kept[N] {
  const text = localStorage.getItem(itemOf(name));
  const before = read.get(name);
  if (before?.text === text) return before.value as Kept[N];
  let value: unknown = null;
  try {
    value = text === null ? null : JSON.parse(text);
  } catch {
    // Nothing that this app has written.
  }
  read.set(name, { text, value: value ?? EMPTY[name] });
  return (value ?? EMPTY[name]) as Kept[N];
}

export function keep<N extends Name>(name: N, value: Kept[N]): void {
  localStorage.setItem(itemOf(name), JSON.stringify(value));
  for (const listener of listeners) listener();
}

/** Everything of this wallet leaves the browser. */
export function forgetWallet(): void {
  for (const name of Object.keys(EMPTY)) localStorage.removeItem(itemOf(name as Name));
  forgetHeldWallet();
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  // Another window has changed it.
  window.addEventListener('storage', listener);
  return () => {
    listeners.delete(listener);
    window.removeEventListener('storage', listener);
  };
}

export function useKept<N extends Name>(name: N): Kept[N] {
  return useSyncExternalStore(subscribe, () => kept(name));
}
