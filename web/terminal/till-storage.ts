import type { RefundPart } from '../data/refund-request-fields.ts';
import type { CatalogueItem } from '../data/types/device.ts';
import {
  canSeal,
  type SealedText,
  StorageUnavailable,
  sealText,
  unsealText,
} from './sealed-storage.ts';
import { NEW_TILL, type Till } from './till-phases.ts';

/**
 * Storage key of the state that survives a reload. Its number changes with the shape of the state,
 * and older shapes are ignored.
 */
const TILL = 'tapline.terminal.till.3';
const PAIRING = 'tapline.terminal.pairing';
const SETTINGS = 'tapline.terminal.settings';
const REFUND = 'tapline.terminal.refund.2';
const USB_READER = 'tapline.terminal.usb-reader';
const OFFLINE = 'tapline.terminal.offline';
const CATALOGUE = 'tapline.terminal.catalogue';

/** JSON has no bigint, so it is stored as a string. */
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

/**
 * `performance.now()` restarts with the page, so stored times count as older than any new request.
 * Digits without a recorded currency are dropped, because the shop's currency may have changed.
 */
export function keptTill(): Till {
  const till = readKept<Till>(TILL) ?? NEW_TILL;
  const isKept = till.split !== null || till.typedIn !== undefined;
  return { ...till, phase: { ...till.phase, since: 0 }, typed: isKept ? till.typed : '' };
}

export function keepTill(till: Till): void {
  keep(TILL, till);
}

/** The terminal that this device is paired as, and its device key. */
export interface Pairing {
  readonly key: string;
  readonly terminal: string;
}

/** The stored form: encrypted, or plain text on pages that cannot encrypt. */
type StoredPairing = Pairing | ({ readonly terminal: string } & SealedText);

/** The pairing that {@link loadPairing} has read. */
let pairing: Pairing | null = null;

/** True if this device is paired, even before {@link loadPairing}. */
export function hasPairing(): boolean {
  return localStorage.getItem(PAIRING) !== null;
}

/** Returns the pairing once it is loaded. */
export function keptPairing(): Pairing | null {
  return pairing;
}

/**
 * A pairing that can no longer be decrypted, because the browser has lost its key, counts as none.
 * @throws StorageUnavailable if the key cannot be read now
 */
export async function loadPairing(): Promise<Pairing | null> {
  const stored = readKept<StoredPairing>(PAIRING);
  if (stored === null) pairing = null;
  else if ('key' in stored) {
    // Stored by an earlier version.
    pairing = stored;
    await storePairing(stored);
  } else {
    const { terminal } = stored;
    const key = await unsealText(stored).catch((error: unknown) => {
      if (error instanceof StorageUnavailable) throw error;
      return null;
    });
    pairing = key === null ? null : { key, terminal };
  }
  return pairing;
}

async function storePairing({ key, terminal }: Pairing): Promise<void> {
  const sealed = canSeal() ? await sealText(key).catch(() => null) : null;
  keep(PAIRING, { terminal, ...(sealed ?? { key }) });
}

/** A new key for the same terminal keeps the state; another terminal gets the held carts only. */
export async function keepPairing(next: Pairing): Promise<void> {
  if (readKept<StoredPairing>(PAIRING)?.terminal !== next.terminal) {
    const { held } = keptTill();
    keep(TILL, held ? { ...NEW_TILL, held } : null);
    keep(REFUND, null);
    keep(CATALOGUE, null);
  }
  await storePairing(next);
  pairing = next;
}

/**
 * A USB reader on this computer. It has a pairing code until its program has answered, then a
 * token.
 */
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
  /** Start of the shift by the service's clock (ISO 8601). `null` outside a shift. */
  readonly shiftSince: string | null;
  /** Name of the cashier, for the totals by cashier. Empty if none was entered. */
  readonly cashier: string;
  /** The cashier who is signed in with a PIN of the account, or `null`. */
  readonly person: { readonly id: string; readonly name: string } | null;
  /**
   * Idempotency key of the shift's end, from `End shift` until the service has ended it. Meanwhile
   * nobody is signed in.
   */
  readonly ending?: string | null;
  /** The shift whose report is shown before the next one starts. */
  readonly ended?: string | null;
  /** True if cashiers of the account had PINs at the service's last response. */
  readonly hasPeople?: boolean;
  readonly asksForTips: boolean;
  readonly sound: boolean;
  /** Seconds after which a result gives way to the till; `null` or absent if it stays. */
  readonly returnAfterS?: number | null;
  /** Salted hash of the cashier's PIN, or `null` if none is set. */
  readonly pin: { readonly salt: string; readonly hash: string } | null;
  readonly locked: boolean;
  /** The merchant's currency in the service's last response; absent if there was none. */
  readonly currency?: string | null;
  /** The tax rate of typed sums in the same response, in basis points. */
  readonly taxRate?: number | null;
  /** True if a second window faces the customer. */
  readonly display: boolean;
  /** Receipt printer connected to this computer, or `null`. */
  readonly printer: PrinterSettings | null;
}

export interface PrinterSettings {
  /** In characters. */
  readonly width: 32 | 48;
  readonly drawer: boolean;
  /** Bits per second; absent if the printer was connected before the till asked for it. */
  readonly speed?: number;
  /** The chosen serial port: its kind, and its place among the ports of this kind. */
  readonly port?: { readonly kind: string; readonly place: number };
}

const NEW_SETTINGS: Settings = {
  shiftSince: null,
  cashier: '',
  person: null,
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

/** The items that this till can sell offline. */
export function keptCatalogue(): readonly CatalogueItem[] | null {
  return readKept(CATALOGUE);
}

/** Keeps no items if the browser has no room for them; nothing else depends on them. */
export function keepCatalogue(items: readonly CatalogueItem[]): void {
  try {
    keep(CATALOGUE, items);
  } catch {
    keep(CATALOGUE, null);
  }
}

/** True if this browser may hold, or may still accept, offline sales. */
export function hasSoldOffline(): boolean {
  return localStorage.getItem(OFFLINE) !== null;
}

export function keepSoldOffline(): void {
  localStorage.setItem(OFFLINE, '1');
}

/** A refund that was sent, or is about to be sent, and whose result is unknown. */
export interface PendingRefund {
  readonly key: string;
  readonly payment: string;
  readonly part: RefundPart;
  readonly cashier: string | null;
  readonly managerCode?: string | null;
}

export function keptRefund(): PendingRefund | null {
  return readKept<PendingRefund>(REFUND);
}

export function keepRefund(refund: PendingRefund | null): void {
  keep(REFUND, refund);
}
