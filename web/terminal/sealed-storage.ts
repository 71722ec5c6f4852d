import { fromBase64, toBase64 } from '../data/bytes.ts';

/**
 * Encrypts the data that this till stores, with a key that scripts can use but not read. A script
 * that copies the database learns neither the device key nor customers' signatures.
 */

const DATABASE = 'tapline.terminal';
const KEYS = 'keys';
/** Sales that were accepted offline (offline/sale-store.ts). */
export const SALES = 'sales';
export const TERMS = 'terms';
const SEAL = 'seal';
const IV_BYTES = 12;

export interface Sealed {
  readonly iv: Uint8Array<ArrayBuffer>;
  readonly data: ArrayBuffer;
}

function resultOf<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

/** The browser's storage did not answer or cannot be opened now. A later try may succeed. */
export class StorageUnavailable extends Error {}

/**
 * Time limit for one access, because WebKit sometimes never answers `open()`. The till must say
 * within 3 s that it cannot sell offline.
 */
const ANSWER_MS = 2_500;

/** Rejects if the browser does not answer in time. */
export function inTime<T>(work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new StorageUnavailable()), ANSWER_MS);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

function openNow(): Promise<IDBDatabase> {
  const request = indexedDB.open(DATABASE, 1);
  request.onupgradeneeded = () => {
    request.result.createObjectStore(KEYS);
    request.result.createObjectStore(SALES, { keyPath: 'nonce' });
    request.result.createObjectStore(TERMS);
  };
  return resultOf(request);
}

async function open(): Promise<IDBDatabase> {
  const opening = openNow();
  const database = await inTime(opening).catch((cause: unknown) => {
    // A database that opens too late is of no use, and would block a later version.
    opening.then((late) => late.close()).catch(() => {});
    throw new StorageUnavailable('open', { cause });
  });
  // The browser may close the database after a fault, or because data was deleted. The next call
  // reopens it.
  database.onclose = () => forget(database);
  // A tab with a later version of this app waits until the others have closed the database.
  database.onversionchange = () => forget(database);
  return database;
}

let opened: Promise<IDBDatabase> | undefined;

function forget(database: IDBDatabase): void {
  database.close();
  opened = undefined;
}

/** Opens the database. @throws StorageUnavailable */
async function tillDatabase(): Promise<IDBDatabase> {
  opened ??= open().catch((error: unknown) => {
    // The next call tries again.
    opened = undefined;
    throw error;
  });
  return opened;
}

/**
 * Begins a transaction. Reopens the database once if the browser has closed it, which Safari does
 * without an event. @throws StorageUnavailable
 */
export async function begin(
  store: typeof KEYS | typeof SALES | typeof TERMS,
  mode: 'readonly' | 'readwrite' = 'readonly',
): Promise<IDBTransaction> {
  const start = (database: IDBDatabase) =>
    database.transaction(store, mode, mode === 'readonly' ? {} : { durability: 'strict' });
  const database = await tillDatabase();
  try {
    return start(database);
  } catch {
    forget(database);
  }
  const again = await tillDatabase();
  try {
    return start(again);
  } catch (cause) {
    forget(again);
    throw new StorageUnavailable('transaction', { cause });
  }
}

/** Reads from a store. @throws StorageUnavailable */
export async function readFrom<T>(
  name: typeof KEYS | typeof SALES | typeof TERMS,
  read: (store: IDBObjectStore) => IDBRequest<T>,
): Promise<T> {
  const transaction = await begin(name);
  return inTime(resultOf(read(transaction.objectStore(name))));
}

/** Returns this browser's key. The first window that needs it generates it. */
async function makeKey(): Promise<CryptoKey> {
  const read = () => readFrom(KEYS, (store) => store.get(SEAL));
  const known = (await read()) as CryptoKey | undefined;
  if (known !== undefined) return known;
  const aes = { name: 'AES-GCM', length: 256 };
  const made = await crypto.subtle.generateKey(aes, false, ['encrypt', 'decrypt']);
  const store = (await begin(KEYS, 'readwrite')).objectStore(KEYS);
  // If another window was faster, this one uses its key.
  await inTime(resultOf(store.add(made, SEAL))).catch(() => undefined);
  return (await read()) as CryptoKey;
}

let key: Promise<CryptoKey> | undefined;

function sealingKey(): Promise<CryptoKey> {
  key ??= makeKey().catch((error: unknown) => {
    key = undefined;
    throw error;
  });
  return key;
}

/** True if the page can encrypt, which only secure pages (https) can. */
export function canSeal(): boolean {
  return globalThis.crypto?.subtle !== undefined && 'indexedDB' in globalThis;
}

export async function seal(text: string): Promise<Sealed> {
  const iv = crypto.getRandomValues(new Uint8Array(IV_BYTES));
  const bytes = new TextEncoder().encode(text);
  const data = await crypto.subtle.encrypt({ name: 'AES-GCM', iv }, await sealingKey(), bytes);
  return { iv, data };
}

/** @throws DOMException if another browser encrypted it, or if it was changed. */
export async function unseal({ iv, data }: Sealed): Promise<string> {
  const bytes = await crypto.subtle.decrypt({ name: 'AES-GCM', iv }, await sealingKey(), data);
  return new TextDecoder().decode(bytes);
}

/** Encrypted text for `localStorage`. */
export interface SealedText {
  readonly iv: string;
  readonly data: string;
}

export async function sealText(text: string): Promise<SealedText> {
  const { iv, data } = await seal(text);
  return { iv: toBase64(iv), data: toBase64(new Uint8Array(data)) };
}

/** @throws as {@link unseal} */
export function unsealText({ iv, data }: SealedText): Promise<string> {
  return unseal({ iv: fromBase64(iv), data: fromBase64(data).buffer });
}
