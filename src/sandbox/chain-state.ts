import * as fs from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { replaceFile } from './data-folder.ts';
import type { RpcCall } from './json-rpc.ts';

/** The two bytes that a gzip file starts with (RFC 1952). */
const GZIP_MAGIC = '1f8b';

/**
 * Writes the chain's whole present state (accounts, blocks, transactions, receipts) to the file,
 * durable when the promise resolves. Returns the milliseconds for which the node was busy with it.
 *
 * The node's own `--state` is not used: it writes the file in place, so that a crash while it
 * writes leaves half a file and no chain. Here the old file holds until the new one is whole.
 */
export async function saveChainState(call: RpcCall, file: string): Promise<number> {
  const started = performance.now();
  const dump = await call('anvil_dumpState');
  const busyMs = performance.now() - started;
  if (typeof dump !== 'string' || !dump.startsWith(`0x${GZIP_MAGIC}`)) {
    throw new Error('anvil_dumpState did not answer with a gzip file in hexadecimal');
  }
  await replaceFile(file, Buffer.from(dump.slice(2), 'hex'));
  return busyMs;
}

/** Unpacks a saved state into the plain JSON that the node loads; false when none was saved. */
export async function unpackChainState(file: string, plainFile: string): Promise<boolean> {
  const packed = await fs.open(file, 'r').catch(() => undefined);
  if (packed === undefined) return false;
  const plain = await fs.open(plainFile, 'w', 0o600);
  await pipeline(packed.createReadStream(), createGunzip(), plain.createWriteStream());
  return true;
}
