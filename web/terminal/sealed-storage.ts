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

/** Resolves with the result of a request. */
export function resultOf<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

async function open(): Promise<IDBDatabase> {
  const request = indexedDB.open(DATABASE, 1);
  request.onupgradeneeded = () => {
    request.result.createObjectStore(KEYS);
    request.result.createObjectStore(SALES, { keyPath: 'nonce' });
    request.result.createObjectStore(TERMS);
  };
  const database = await resultOf(request);
  // The browser may close the database after a fault, or because data was deleted. The next call
  // reopens it.
  database.onclose = () => {
    opened = undefined;
  };
  return database;
}

let opened: Promise<IDBDatabase> | undefined;

/** Opens the database. @throws DOMException if the browser has no storage. */
export async function tillDatabase(): Promise<IDBDatabase> {
  opened ??= open().catch((error: unknown) => {
    // The next call tries again.
    opened = undefined;
    throw error;
  });
  return opened;
}

/** Returns this browser's key. The first window that needs it generates it. */
async function makeKey(): Promise<CryptoKey> {
  const database = await tillDatabase();
  const read = () => database.transaction(KEYS).objectStore(KEYS).get(SEAL);
  const known = (await resultOf(read())) as CryptoKey | undefined;
  if (known !== undefined) return known;
  const aes = { name: 'AES-GCM', length: 256 };
  const made = await crypto.subtle.generateKey(aes, false, ['encrypt', 'decrypt']);
  const strict = { durability: 'strict' } as const;
  const store = database.transaction(KEYS, 'readwrite', strict).objectStore(KEYS);
  // If another window was faster, this one uses its key.
  await resultOf(store.add(made, SEAL)).catch(() => undefined);
  return (await resultOf(read())) as CryptoKey;
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

/**
 * Decrypts the data.
 * @throws DOMException if another browser encrypted it, or if it was changed.
 */
export async function unseal({ iv, data }: Sealed): Promise<string> {
  const bytes = await crypto.subtle.decrypt({ name: 'AES-GCM', iv }, await sealingKey(), data);
  return new TextDecoder().decode(bytes);
}
