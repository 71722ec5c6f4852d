import { rm } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { openOwn } from '#files/own-files.ts';
import { replaceFile } from '#files/replace-file.ts';
import type { RpcCall } from './json-rpc.ts';

/** The two bytes that a gzip file starts with (RFC 1952). */
const GZIP_MAGIC = '1f8b';

/** How often the state is saved while blocks are empty, when only their number would be lost. */
const IDLE_SAVE_MS = 15_000;

/** After a save that blocked the node for t, wait at least this many t: 2 % of its time. */
const SAVE_REST_FACTOR = 50;

export interface ChainSaver {
  /** Saves now, or after the running save; the file includes the state at the time of the call. */
  save(): Promise<void>;
  /** Saves if it is due, given whether transactions arrived since the last call. */
  saveWhenDue(sawTransactions: boolean): Promise<void>;
}

/**
 * Keeps the chain's whole state (accounts, blocks, transactions, receipts) in the file.
 * The node's own `--state` is not used: it writes the file in place, so a crash during a write
 * leaves half a file and no chain. Here the old file stays until the new one is complete. It also
 * saves at intervals; here a save follows each block with transactions as long as that is cheap.
 */
export function createChainSaver(call: RpcCall, file: string): ChainSaver {
  let last: Promise<void> = Promise.resolve();
  let savedAt = performance.now();
  let restMs = 0;
  let dirty = false;
  const saveNow = async () => {
    dirty = false;
    const started = performance.now();
    const dump = await call('anvil_dumpState');
    restMs = (performance.now() - started) * SAVE_REST_FACTOR;
    if (typeof dump !== 'string' || !dump.startsWith(`0x${GZIP_MAGIC}`)) {
      throw new Error('anvil_dumpState did not answer with a gzip file in hexadecimal');
    }
    await replaceFile(file, Buffer.from(dump.slice(2), 'hex'));
    savedAt = performance.now();
  };
  const save = () => {
    const mine = last.then(saveNow);
    last = mine.catch(() => {
      dirty = true;
    });
    return mine;
  };
  return {
    save,
    saveWhenDue: async (sawTransactions) => {
      dirty ||= sawTransactions;
      const sinceMs = performance.now() - savedAt;
      if (sinceMs > (dirty ? restMs : Math.max(restMs, IDLE_SAVE_MS))) await save();
    },
  };
}

/** Unpacks a saved state into the plain JSON that the node loads; false if none was saved. */
export async function unpackChainState(file: string, plainFile: string): Promise<boolean> {
  const packed = await openOwn(file, 'read').catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === 'ENOENT') return undefined;
    throw cause;
  });
  if (packed === undefined) return false;
  await rm(plainFile, { force: true });
  const plain = await openOwn(plainFile, 'new');
  await pipeline(packed.createReadStream(), createGunzip(), plain.createWriteStream());
  return true;
}
