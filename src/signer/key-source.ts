import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { numberToHex, recoverAddress, type Signature } from 'viem';
import { privateKeyToAccount, sign } from 'viem/accounts';
import { StartError } from '#core/start-error.ts';
import { requireClosedFile } from '#files/own-files.ts';
import type { Hex } from '#settlement/chain-requests.ts';

/** Signs a digest of 32 bytes. */
export type KeySource = (digest: Hex) => Promise<Signature>;

const run = promisify(execFile);
const HEX_KEY = /^0x[0-9a-f]{64}$/i;
/** Time limit of the command, shorter than the caller's time-out (`remote-signer.ts`). */
const COMMAND_TIMEOUT_MS = 4_000;
/**
 * The order of secp256k1. Of a signature's two valid forms, chains accept only the one with the
 * lower `s`.
 */
const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const INTEGER_TAG = 0x02;
const WORD = 32;

/** Creates a source that signs with the key in a file (hex). @throws StartError */
export async function keyFromFile(file: string, address: Hex): Promise<KeySource> {
  await requireClosedFile(file, true);
  const key = (await readFile(file, 'utf8')).trim();
  if (!HEX_KEY.test(key)) throw new StartError(`${file} must contain 0x followed by 64 hex digits`);
  const own = privateKeyToAccount(key as Hex).address;
  if (own.toLowerCase() !== address.toLowerCase()) {
    throw new StartError(`${file} contains the key of ${own}, not of ${address}`);
  }
  return (hash) => sign({ hash, privateKey: key as Hex });
}

/**
 * The program's last argument is the digest (64 hex digits); it prints the signature in DER as
 * base64, as key services do.
 * @throws StartError if other users can change the program.
 */
export async function keyFromCommand(command: readonly string[], address: Hex): Promise<KeySource> {
  const [program = '', ...args] = command;
  // A name without a path is looked up in the system's program folders.
  if (program.includes('/')) await requireClosedFile(program, false);
  return async (digest) => {
    const options = { timeout: COMMAND_TIMEOUT_MS };
    const { stdout } = await run(program, [...args, digest.slice(2)], options);
    const { r, s } = readDer(Buffer.from(stdout.trim(), 'base64'));
    const lower = s > ORDER / 2n ? ORDER - s : s;
    const word = (value: bigint) => numberToHex(value, { size: WORD });
    for (const yParity of [0, 1]) {
      const signature = { r: word(r), s: word(lower), yParity };
      const signedBy = await recoverAddress({ hash: digest, signature });
      if (signedBy.toLowerCase() === address.toLowerCase()) return signature;
    }
    throw new Error(`${program} did not sign with the key of ${address}`);
  };
}

/** Parses `SEQUENCE { INTEGER r, INTEGER s }`. Each length fits in one byte. */
function readDer(der: Buffer): { readonly r: bigint; readonly s: bigint } {
  const integers: bigint[] = [];
  for (let at = 2; at < der.length; ) {
    const length = der[at + 1] ?? 0;
    const bytes = der.subarray(at + 2, at + 2 + length);
    if (der[at] !== INTEGER_TAG || bytes.length === 0) break;
    integers.push(BigInt(`0x${bytes.toString('hex')}`));
    at += 2 + length;
  }
  const [r, s] = integers;
  if (r === undefined || s === undefined || integers.length !== 2) {
    throw new Error('the program printed no DER signature');
  }
  return { r, s };
}
