import { rm } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { openOwn } from '#files/own-files.ts';
import { replaceFile } from '#files/replace-file.ts';
import type { RpcCall } from './json-rpc.ts';

/** The two bytes that a gzip file starts with (RFC 1952). */
const GZIP_MAGIC = '1f8b';

/** The state is saved this often when blocks were empty: nothing but their number would be lost. */
const IDLE_SAVE_MS = 15_000;

/** After a save that kept the node busy for t, wait at least this many t: 2 % of its time. */
const SAVE_REST_FACTOR = 50;

export interface ChainSaver {
  /** Saves now, or after the save that runs: what was true at the call is in the file. */
  save(): Promise<void>;
  /** Saves when it is time to, given whether transactions came since the last call. */
  saveWhenDue(sawTransactions: boolean): Promise<void>;
}

/**
 * Keeps the chain's whole state (accounts, blocks, transactions, receipts) in the file.
 *
 * The node's own `--state` is not used: it writes the file in place, so that a crash while it
 * writes leaves half a file and no chain. Here the old file holds until the new one is whole. And
 * it saves by the clock; here a save follows each block with transactions while that is cheap.
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

/** Unpacks a saved state into the plain JSON that the node loads; false when none was saved. */
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
