import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { createPublicClient, formatEther, http } from 'viem';
import { StartError } from '#core/start-error.ts';
import { readAddress } from '#ops/deploy-contract.ts';
import { readSecret } from '#ops/read-secret.ts';
import { profileOfChain } from '#settlement/chain-profiles.ts';
import type { Hex } from '#settlement/chain-requests.ts';
import { temporaryDataDir } from '#testing/spawn-network.ts';
import { type Rehearsed, rehearse } from './rehearse.ts';

const USAGE = `npm run rehearse -- --network testnet --rpc-url <url>[,<url>] [options]

  Deploys the contract on a public test network, starts the service on it, registers a shop,
  enrols a fresh wallet, takes three payments, refunds a part of one, withdraws, reads all of it
  back from a second provider, and writes times and costs to docs/rehearsals/. It asks for a
  private key with some of the chain's coin, and sends back what is left.

    --second-rpc-url <url>   of another provider; default: the last of --rpc-url
    --usdc <address>         default: that of the chain's profile; the key holds 4 USDC of it
    --test-token             deploys a token of its own instead
    --note <text>            what the chain is, for the report
    --out <folder>           default docs/rehearsals`;

const HEX_KEY = /^0x[0-9a-f]{64}$/i;
/** Networks whose native currency has value. */
const REAL: readonly string[] = ['base', 'arc', 'ethereum'];
const OUT = path.join(import.meta.dirname, '../../docs/rehearsals');

function readOptions() {
  const text = { type: 'string' } as const;
  const names = ['network', 'rpc-url', 'second-rpc-url', 'usdc', 'note', 'out'] as const;
  const options = Object.fromEntries(names.map((name) => [name, text]));
  const { values } = parseArgs({
    options: { ...options, 'test-token': { type: 'boolean', default: false } },
  });
  return values as Partial<Record<(typeof names)[number], string>> & { 'test-token': boolean };
}

async function run(): Promise<void> {
  const values = readOptions();
  const rpcUrls = (values['rpc-url'] ?? '').split(',').filter((url) => URL.canParse(url));
  const [url] = rpcUrls;
  if (values.network !== 'testnet' || url === undefined) throw new StartError(USAGE);
  const secondUrl = values['second-rpc-url'] ?? rpcUrls.at(-1) ?? url;
  const chainId = await createPublicClient({ transport: http(url) }).getChainId();
  const profile = profileOfChain(chainId);
  if (REAL.includes(profile.name)) {
    throw new StartError(`chain ${chainId} is ${profile.name}: a rehearsal spends no real money`);
  }
  const named =
    values.usdc === undefined ? profile.usdc?.address : readAddress(values.usdc, 'usdc');
  const usdc = values['test-token'] ? null : (named ?? null);
  if (usdc === null && !values['test-token']) {
    throw new StartError(`no USDC is known on chain ${chainId}: name it, or use --test-token`);
  }
  const key = await readSecret('Private key that pays');
  if (!HEX_KEY.test(key)) throw new StartError('the key must be 0x followed by 64 hex digits');
  const folder = await temporaryDataDir();
  const say = (line: string) => console.error(line);
  say(`data and keys of this run: ${folder.path} (kept if it fails)`);
  const wanted = { rpcUrls, secondUrl, key: key as Hex, usdc, folder: folder.path, say };
  const rehearsed = await rehearse(wanted);
  await folder.remove();
  const report = reportOf(rehearsed, {
    isPublic: profile.name !== 'custom',
    isSame: rpcUrls.length === 1 && secondUrl === url,
    ...{ note: values.note ?? null, coin: profile.coin.symbol, ownToken: usdc === null },
  });
  const out = values.out ?? OUT;
  await mkdir(out, { recursive: true });
  const day = new Date().toISOString().slice(0, 10);
  const file = path.join(out, `${day}-chain-${chainId}.md`);
  await writeFile(file, report);
  console.log(report);
  say(`written to ${file}`);
}

interface About {
  readonly isPublic: boolean;
  /** True if both use the same provider. */
  readonly isSame: boolean;
  readonly note: string | null;
  readonly coin: string;
  readonly ownToken: boolean;
}

function reportOf({ steps, readBack, chainId, client }: Rehearsed, about: About): string {
  const { isPublic, isSame, note, coin, ownToken } = about;
  const rows = steps.map(({ name, seconds, cost, gas }) => {
    const spent = cost === null ? '' : formatEther(cost);
    return `| ${name} | ${seconds.toFixed(2)} | ${gas ?? ''} | ${spent} |`;
  });
  const total = steps.reduce((sum, { cost }) => sum + (cost ?? 0n), 0n);
  return `${[
    `# Rehearsal on chain ${chainId}, ${new Date().toISOString().slice(0, 10)}`,
    `Written by \`npm run rehearse\`. The node reports the client \`${client}\`. ${
      ownToken ? 'The token was deployed for this run.' : "The token was the chain's USDC."
    }`,
    ...(note === null ? [] : [note]),
    isPublic
      ? 'The chain ID is that of a public test network.'
      : '**No public chain was reached**: the service knows no public chain with this ID.',
    isSame
      ? 'The results were read back from the same provider, because there was no second one.'
      : 'The results were read back from the second address.',
    [`| step | seconds | gas | ${coin} |`, '|---|---|---|---|', ...rows].join('\n'),
    `The total cost was ${formatEther(total)} of the native coin.`,
    `The values read back agree:\n\n${readBack.map((line) => `- ${line}`).join('\n')}`,
  ].join('\n\n')}\n`;
}

try {
  await run();
} catch (error) {
  console.error(error instanceof StartError ? error.message : error);
  process.exitCode = 1;
}
