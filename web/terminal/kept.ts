import { NEW_TILL, type Till } from './phases.ts';

/** What outlives a reload. Changes whenever its shape does: an older shape is not understood. */
const TILL = 'tapline.terminal.till.1';
const PAIRING = 'tapline.terminal.pairing';
const SETTINGS = 'tapline.terminal.settings';
const REFUND = 'tapline.terminal.refund';
const USB_READER = 'tapline.terminal.usb-reader';

/** JSON has no bigint. */
function toJson(value: unknown): string {
  return JSON.stringify(value, (_, one) => (typeof one === 'bigint' ? { $atoms: `${one}` } : one));
}

function isAtoms(value: unknown): value is { readonly $atoms: string } {
  return typeof value === 'object' && value !== null && '$atoms' in value;
}

function readKept<T>(name: string): T | null {
  const text = localStorage.getItem(name);
  if (text === null) return null;
  try {
    return JSON.parse(text, (_, one) => (isAtoms(one) ? BigInt(one.$atoms) : one)) as T;
  } catch {
    return null;
  }
}

function keep(name: string, value: unknown): void {
  if (value === null) localStorage.removeItem(name);
  else localStorage.setItem(name, toJson(value));
}

/** The clock starts over with the page, so everything kept is older than anything asked now. */
export function keptTill(): Till {
  const till = readKept<Till>(TILL) ?? NEW_TILL;
  return { ...till, phase: { ...till.phase, since: 0 } };
}

export function keepTill(till: Till): void {
  keep(TILL, till);
}

/** The terminal that this device is, and its key. */
export interface Pairing {
  readonly key: string;
  readonly terminal: string;
}

export function keptPairing(): Pairing | null {
  return readKept<Pairing>(PAIRING);
}

/** The same terminal with a new key goes on where it was; another one starts over. */
export function keepPairing(pairing: Pairing): void {
  if (keptPairing()?.terminal !== pairing.terminal) {
    keep(TILL, null);
    keep(REFUND, null);
  }
  keep(PAIRING, pairing);
}

/** A reader on this computer: a code until its program has answered to it, a token from then on. */
export interface UsbReader {
  readonly port: number;
  readonly code: string | null;
  readonly token: string | null;
}

export function keptUsbReader(): UsbReader | null {
  return readKept<UsbReader>(USB_READER);
}

export function keepUsbReader(usb: UsbReader | null): void {
  keep(USB_READER, usb);
}

export interface Settings {
  /** When the shift began; null outside of one. ISO 8601, by the service's clock. */
  readonly shiftSince: string | null;
  /** Who is at the till, for the totals by cashier; empty: nobody is named. */
  readonly cashier: string;
  readonly asksForTips: boolean;
  readonly sound: boolean;
  /** A hash of the cashier's PIN, with its salt; null: none is set. */
  readonly pin: { readonly salt: string; readonly hash: string } | null;
  readonly locked: boolean;
  /** Whether a second window shows the customer what the till does. */
  readonly display: boolean;
  /** On a cable of this computer; the width is that of the paper, in characters. null: none. */
  readonly printer: { readonly width: 32 | 48; readonly drawer: boolean } | null;
}

const NEW_SETTINGS: Settings = {
  shiftSince: null,
  cashier: '',
  asksForTips: false,
  sound: true,
  pin: null,
  locked: false,
  display: false,
  printer: null,
};

export function keptSettings(): Settings {
  return { ...NEW_SETTINGS, ...readKept<Partial<Settings>>(SETTINGS) };
}

export function keepSettings(settings: Settings): void {
  keep(SETTINGS, settings);
}

/** A refund of which it is not known yet what became of it. */
export interface PendingRefund {
  readonly key: string;
  readonly payment: string;
  readonly amount: bigint;
  readonly cashier: string | null;
  readonly managerCode?: string | null;
}

export function keptRefund(): PendingRefund | null {
  return readKept<PendingRefund>(REFUND);
}

export function keepRefund(refund: PendingRefund | null): void {
  keep(REFUND, refund);
}
