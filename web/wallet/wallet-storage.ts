import { useSyncExternalStore } from 'react';
import type { SealedPin } from '../ui/pin.ts';
import type { Pin } from './compare-contract-pins.ts';
import type { Vault } from './key-vault.ts';
import { forgetHeldWallet } from './last-wallet-cookie.ts';
import type { Sending } from './pending-transfer.ts';
import type { ChainFacts } from './sign-permit-and-transfer.ts';

export type Network = 'testnet' | 'mainnet';

/** A session with the service. It can read and answer confirmations but cannot sign. */
export interface Session {
  readonly token: string;
  readonly expiresAt: string;
  readonly address: string;
}

/** A payment that was signed offline, with its price on the till. */
export interface SignedPrice {
  /** ISO 8601. */
  readonly at: string;
  /** The atoms that leave the wallet. */
  readonly value: string;
  readonly currency: string;
  /** Minor units. */
  readonly amount: number;
}

/** Data stored in this browser for all of its windows. */
interface Kept {
  readonly vault: Vault | null;
  readonly sessions: { readonly [network in Network]?: Session };
  /** `null` for the network that the service lists first. */
  readonly network: Network | null;
  /** True if the user has proved that the key is also stored elsewhere. */
  readonly backedUp: boolean;
  /** Locks this screen but does not encrypt the key. `null` if no PIN is set. */
  readonly pin: SealedPin | null;
  /** The currency in which sums are also shown; `null` for USDC alone. */
  readonly currency: string | null;
  /** True if the user was already asked to allow notifications. */
  readonly askedToRing: boolean;
  /** True if each approval and each code of a pass requires the passkey. */
  readonly passkeyEach: boolean;
  /** True if confirmations and results make no sound and do not vibrate. */
  readonly silent: boolean;
  /** Base32 keys by pass id, from which rotating codes are made offline. */
  readonly rotatingKeys: Readonly<Record<string, string>>;
  /**
   * Payments with a static pass were reported up to this time. `null` in a new browser, which
   * reports none of the past.
   */
  readonly heardUntil: string | null;
  /** The place after the last update, of the wallet and network with this name. */
  readonly updates: { readonly name: string; readonly cursor: string } | null;
  /** Refused taps of static passes were reported up to this time. `null` in a new browser. */
  readonly refusedUntil: string | null;
  /**
   * The contracts that this wallet signs for (pinned-contracts.ts), and the data needed to revoke
   * the approval without the service.
   */
  readonly chains: { readonly [network in Network]?: ChainFacts };
  /**
   * The balances in atoms at the wallet's last connection, minus the amounts signed offline since.
   */
  readonly balances: {
    readonly [network in Network]?: { readonly address: string; readonly atoms: string };
  };
  /** The last exchange rates of payments that the service has shown, by currency. */
  readonly seenRates: Readonly<Record<string, string>>;
  /** The last sums in a shop's currency that this wallet has signed offline, newest first. */
  readonly signedPrices: readonly SignedPrice[];
  /** USDC transfers without a known result. */
  readonly sending: { readonly [network in Network]?: Sending };
  /**
   * Contracts that the service named last and that differ from the pins. The user compares them.
   */
  readonly otherContracts: { readonly [network in Network]?: Pin };
  /** Contracts pinned before the current ones. An approval may still exist there. */
  readonly formerContracts: { readonly [network in Network]?: readonly Pin[] };
}

type Name = keyof Kept;

const EMPTY: Kept = {
  vault: null,
  sessions: {},
  network: null,
  backedUp: false,
  pin: null,
  currency: null,
  askedToRing: false,
  passkeyEach: false,
  silent: false,
  rotatingKeys: {},
  heardUntil: null,
  updates: null,
  refusedUntil: null,
  chains: {},
  balances: {},
  seenRates: {},
  signedPrices: [],
  sending: {},
  otherContracts: {},
  formerContracts: {},
};

const itemOf = (name: Name) => `tapline.wallet.${name}`;
const listeners = new Set<() => void>();
/** The last value read, so that an unchanged text yields the same object. */
const read = new Map<Name, { readonly text: string | null; readonly value: unknown }>();

export function kept<N extends Name>(name: N): Kept[N] {
  const text = localStorage.getItem(itemOf(name));
  const before = read.get(name);
  if (before?.text === text) return before.value as Kept[N];
  let value: unknown = null;
  try {
    value = text === null ? null : JSON.parse(text);
  } catch {
    // The stored text was not written by this app.
  }
  read.set(name, { text, value: value ?? EMPTY[name] });
  return (value ?? EMPTY[name]) as Kept[N];
}

export function keep<N extends Name>(name: N, value: Kept[N]): void {
  localStorage.setItem(itemOf(name), JSON.stringify(value));
  for (const listener of listeners) listener();
}

export function forgetWallet(): void {
  for (const name of Object.keys(EMPTY)) localStorage.removeItem(itemOf(name as Name));
  forgetHeldWallet();
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  // Listens for changes in other windows.
  window.addEventListener('storage', listener);
  return () => {
    listeners.delete(listener);
    window.removeEventListener('storage', listener);
  };
}

export function useKept<N extends Name>(name: N): Kept[N] {
  return useSyncExternalStore(subscribe, () => kept(name));
}
