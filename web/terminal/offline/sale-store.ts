import {
  begin,
  inTime,
  readFrom,
  SALES,
  type Sealed,
  StorageUnavailable,
  seal,
  TERMS,
  unseal,
} from '../sealed-storage.ts';
import type { HeldSale } from './held-sales.ts';

/**
 * Stores this browser's sales, encrypted in IndexedDB. A write resolves once it is on the disk, so
 * a sale that the till has shown as `Accepted offline` survives a crash of browser and device.
 */

interface StoredSale extends Sealed {
  readonly nonce: string;
}

/**
 * Resolves only once the write is on the disk. A write that takes too long is taken back, unless it
 * is already being committed.
 */
async function write(
  name: typeof SALES | typeof TERMS,
  change: (store: IDBObjectStore) => void,
): Promise<void> {
  const transaction = await begin(name, 'readwrite');
  const done = new Promise<void>((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onerror = () => reject(transaction.error);
    transaction.onabort = () => reject(transaction.error);
  });
  change(transaction.objectStore(name));
  try {
    await inTime(done);
  } catch (error) {
    try {
      transaction.abort();
    } catch {
      // It has ended meanwhile. The caller reads the store to learn how.
    }
    throw error;
  }
}

async function stored(sale: HeldSale): Promise<StoredSale> {
  return { nonce: sale.nonce, ...(await seal(JSON.stringify(sale))) };
}

/** A sale that cannot be read now must not look as if there were none. */
function skipUnreadable(error: unknown): null {
  if (error instanceof StorageUnavailable) throw error;
  return null;
}

/** Returns the sales, oldest first. A sale that cannot be decrypted is skipped, not deleted. */
export async function readSales(): Promise<readonly HeldSale[]> {
  const all: readonly StoredSale[] = await readFrom(SALES, (store) => store.getAll());
  const opened = await Promise.all(all.map((one) => unseal(one).catch(skipUnreadable)));
  return opened
    .flatMap((text) => (text === null ? [] : [JSON.parse(text) as HeldSale]))
    .toSorted((one, other) => one.acceptedAt.localeCompare(other.acceptedAt));
}

/**
 * @throws DOMException if it is already stored, or if the disk is full
 * @throws StorageUnavailable if the storage does not answer
 */
export async function addSale(sale: HeldSale): Promise<void> {
  const sealed = await stored(sale);
  await write(SALES, (store) => store.add(sealed));
}

export async function changeSales(changed: readonly HeldSale[]): Promise<void> {
  const sealed = await Promise.all(changed.map(stored));
  await write(SALES, (store) => {
    for (const one of sealed) store.put(one);
  });
}

export async function removeSales(over: readonly HeldSale[]): Promise<void> {
  await write(SALES, (store) => {
    for (const { nonce } of over) store.delete(nonce);
  });
}

const CURRENT = 'current';

/** Returns the stored terms, or `null` if there are none. */
export async function readTerms<T>(): Promise<T | null> {
  const terms = await readFrom(TERMS, (store) => store.get(CURRENT));
  return (terms as T | undefined) ?? null;
}

export async function keepTerms(terms: unknown): Promise<void> {
  await write(TERMS, (store) => store.put(terms, CURRENT));
}
