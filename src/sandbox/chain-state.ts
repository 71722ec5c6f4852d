import { rm } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { openOwn } from '#files/own-files.ts';
import { replaceFile } from '#files/replace-file.ts';
import { isDiskFull } from './full-disk.ts';
import type { RpcCall } from './json-rpc.ts';

/** The first two bytes of a gzip file (RFC 1952). */
const GZIP_MAGIC = '1f8b';

/** Interval of saves while blocks are empty. A crash then loses only empty blocks. */
const IDLE_SAVE_MS = 15_000;

/**
 * After a save that blocked the node for some time, the next save waits for this many times as
 * long, so that saving takes at most 2 % of the time.
 */
const SAVE_REST_FACTOR = 50;

export interface ChainSaver {
  /**
   * Saves now, or after the current save. The file then contains the state at the time of the call
   * or later.
   */
  save(): Promise<void>;
  /** Saves if a save is due. `sawTransactions`: transactions arrived since the last call. */
  saveWhenDue(sawTransactions: boolean): Promise<void>;
}

/**
 * Saves the chain's whole state (accounts, blocks, transactions, receipts) to the file. The node's
 * own `--state` overwrites the file at intervals, so that a crash during a write would leave no
 * usable chain. Here the old file stays until the new one is complete, and each block with
 * transactions is followed by a save while saves are fast.
 */
export function createChainSaver(
  call: RpcCall,
  file: string,
  tell: (line: string) => void,
): ChainSaver {
  let isFull = false;
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
      throw new Error('anvil_dumpState did not return a gzip file in hexadecimal');
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
      if (sinceMs <= (dirty ? restMs : Math.max(restMs, IDLE_SAVE_MS))) return;
      try {
        await save();
        isFull = false;
      } catch (error) {
        // The node has the blocks in memory and goes on. A later save includes them.
        if (!isDiskFull(error)) throw error;
        if (!isFull) tell(`the disk of ${file} is full; the state is saved once there is room`);
        isFull = true;
      }
    },
  };
}

/**
 * Unpacks a saved state into the plain JSON that the node loads.
 * @returns false if no state was saved.
 */
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
