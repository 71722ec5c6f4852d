import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { StartError } from '#core/start-error.ts';
import { checkReceipt, type ReceiptClaims, receiptJsonUrl } from '#ops/check-receipt.ts';
import { plainFetch } from '#outgoing/plain-fetch.ts';

// npm run receipt -- <url> [--rpc <URL of a node>]: verifies a receipt's proof against the chain
// alone. Exit code 1 if the chain contradicts it, 2 if the chain could not be queried.

const UNKNOWN = 2;

interface ReceiptOptions {
  readonly url: string;
  readonly rpcUrl: string | null;
}

function readArguments(args: readonly string[]): ReceiptOptions {
  const at = args.indexOf('--rpc');
  const rest = at < 0 ? args : args.toSpliced(at, 2);
  const [url = '', ...more] = rest;
  const rpcUrl = at < 0 ? null : (args[at + 1] ?? '');
  const json = receiptJsonUrl(url);
  if (json === null || more.length > 0 || (rpcUrl !== null && !URL.canParse(rpcUrl))) {
    throw new StartError(
      'usage: npm run receipt -- https://…/receipts/… [--rpc https://a-node-of-the-chain]',
    );
  }
  return { url: json, rpcUrl };
}

async function readReceipt(url: string): Promise<ReceiptClaims> {
  const response = await plainFetch(url).catch(() => null);
  if (response === null) throw new StartError(`${new URL(url).origin} does not answer`);
  if (response.status === 404) throw new StartError('receipt not found');
  if (!response.ok) throw new StartError(`the server responded with status ${response.status}`);
  return (await response.json()) as ReceiptClaims;
}

/** Returns the URL of the sandbox's embedded chain, if the receipt is from there. */
async function nodeOfSandbox(chainId: number): Promise<string | null> {
  const folder = process.env.TAPLINE_DATA_DIR ?? '.tapline';
  try {
    const sandbox = JSON.parse(await readFile(path.join(folder, 'sandbox.json'), 'utf8'));
    const modes: readonly { chain_id: number; rpc_url: string }[] = [sandbox.test, sandbox.live];
    return modes.find((mode) => mode.chain_id === chainId)?.rpc_url ?? null;
  } catch {
    return null;
  }
}

async function printFindings(args: readonly string[]): Promise<number> {
  const { url, rpcUrl } = readArguments(args);
  const receipt = await readReceipt(url);
  const { chain_id: chainId, rpc_url: named } = receipt.proof;
  const node = rpcUrl ?? named ?? (await nodeOfSandbox(chainId));
  if (node === null) {
    throw new StartError(`pass the URL of a node of chain ${chainId}: --rpc https://…`);
  }
  console.log(`${receipt.merchant.name}, ${receipt.settled_at}, asking ${new URL(node).host}`);
  const findings = await checkReceipt(receipt, node);
  for (const { holds, what } of findings) console.log(`${holds ? '✓' : '✗'} ${what}`);
  const isProven = findings.every(({ holds }) => holds);
  console.log(isProven ? 'The chain says the same.' : 'The chain says otherwise.');
  return isProven ? 0 : 1;
}

try {
  process.exitCode = await printFindings(process.argv.slice(2));
} catch (error) {
  const isOurs = error instanceof StartError;
  console.error(`tapline: ${isOurs ? error.message : `the node did not respond: ${error}`}`);
  process.exitCode = UNKNOWN;
}
