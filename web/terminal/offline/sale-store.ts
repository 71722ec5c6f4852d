import {
  resultOf,
  SALES,
  type Sealed,
  seal,
  TERMS,
  tillDatabase,
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

/** Opens a store whose writes resolve only once they are on the disk. */
async function writing(name: typeof SALES | typeof TERMS) {
  const database = await tillDatabase();
  const transaction = database.transaction(name, 'readwrite', { durability: 'strict' });
  const done = new Promise<void>((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onerror = () => reject(transaction.error);
    transaction.onabort = () => reject(transaction.error);
  });
  return { store: transaction.objectStore(name), done };
}

async function stored(sale: HeldSale): Promise<StoredSale> {
  return { nonce: sale.nonce, ...(await seal(JSON.stringify(sale))) };
}

/** Returns the sales, oldest first. A sale that cannot be decrypted is skipped, not deleted. */
export async function readSales(): Promise<readonly HeldSale[]> {
  const database = await tillDatabase();
  const all = database.transaction(SALES).objectStore(SALES).getAll();
  const opened = await Promise.all(
    ((await resultOf(all)) as readonly StoredSale[]).map((one) => unseal(one).catch(() => null)),
  );
  return opened
    .flatMap((text) => (text === null ? [] : [JSON.parse(text) as HeldSale]))
    .toSorted((one, other) => one.acceptedAt.localeCompare(other.acceptedAt));
}

/** Adds a sale. @throws DOMException if it is already stored, or if the disk is full. */
export async function addSale(sale: HeldSale): Promise<void> {
  const sealed = await stored(sale);
  const { store, done } = await writing(SALES);
  store.add(sealed);
  await done;
}

export async function changeSales(changed: readonly HeldSale[]): Promise<void> {
  const sealed = await Promise.all(changed.map(stored));
  const { store, done } = await writing(SALES);
  for (const one of sealed) store.put(one);
  await done;
}

export async function removeSales(over: readonly HeldSale[]): Promise<void> {
  const { store, done } = await writing(SALES);
  for (const { nonce } of over) store.delete(nonce);
  await done;
}

const CURRENT = 'current';

/** Returns the stored terms, or `null` if there are none. */
export async function readTerms<T>(): Promise<T | null> {
  const database = await tillDatabase();
  const found = database.transaction(TERMS).objectStore(TERMS).get(CURRENT);
  return ((await resultOf(found)) as T | undefined) ?? null;
}

export async function keepTerms(terms: unknown): Promise<void> {
  const { store, done } = await writing(TERMS);
  store.put(terms, CURRENT);
  await done;
}
