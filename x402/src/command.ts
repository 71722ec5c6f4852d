import type { AddressInfo } from 'node:net';
import { usdc } from 'tapline';
import { isAddress } from 'viem';
import { type Facilitator, type FacilitatorOptions, openFacilitator } from './facilitator.ts';
import { routesOf } from './facilitator-routes.ts';
import { serverOf } from './node-server.ts';

type Settings = Readonly<Record<string, string | undefined>>;

const NEEDED = [
  'TAPLINE_BASE_URL',
  'TAPLINE_API_KEY',
  'TAPLINE_ACCOUNT',
  'TAPLINE_TERMINAL',
  'X402_PRIVATE_KEY',
  'X402_RPC_URL',
] as const;
const PORT = 4402;
const PER_PAYMENT = '100';
const PER_DAY = '1000';
const STOP_SIGNALS = ['SIGTERM', 'SIGINT'] as const;

/** `tapline-x402`: the facilitator as a stand-alone server, configured by environment variables. */
export async function main(env: Settings): Promise<void> {
  const missing = NEEDED.filter((name) => (env[name] ?? '') === '');
  if (missing.length > 0) {
    console.error(`Set ${missing.join(', ')}. The package's README describes them.`);
    process.exitCode = 2;
    return;
  }
  const setting = (name: (typeof NEEDED)[number]) => env[name] ?? '';
  const factories = factoriesOf(env);
  if (factories === null) {
    console.error('X402_WALLET_FACTORIES must be addresses separated by commas, or none.');
    process.exitCode = 2;
    return;
  }
  const { X402_TOKEN: token } = env;
  // To treat it as not set would open the routes when a secret is missing.
  if (token === '') {
    console.error('X402_TOKEN is empty. Set a token, or remove the setting.');
    process.exitCode = 2;
    return;
  }
  const facilitator = await openOrReport({
    baseUrl: setting('TAPLINE_BASE_URL'),
    apiKey: setting('TAPLINE_API_KEY'),
    account: setting('TAPLINE_ACCOUNT'),
    terminal: setting('TAPLINE_TERMINAL'),
    privateKey: setting('X402_PRIVATE_KEY'),
    rpcUrl: setting('X402_RPC_URL'),
    limits: {
      perPayment: usdc(env.X402_PER_PAYMENT ?? PER_PAYMENT),
      perDay: usdc(env.X402_PER_DAY ?? PER_DAY),
    },
    ...factories,
  });
  if (facilitator === null) return;
  const server = serverOf(routesOf(facilitator, token === undefined ? {} : { token }));
  server.listen(Number(env.PORT ?? PORT), env.HOST ?? '127.0.0.1', () => {
    const { address, port } = server.address() as AddressInfo;
    console.log(`listening on http://${address}:${port}, paid to ${facilitator.bridge}`);
  });
  for (const signal of STOP_SIGNALS) {
    process.once(signal, () => {
      facilitator.close();
      server.close();
      server.closeIdleConnections();
    });
  }
}

/** Opens the facilitator. @returns `null` after it has printed why it cannot start. */
async function openOrReport(options: FacilitatorOptions): Promise<Facilitator | null> {
  try {
    return await openFacilitator(options);
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
    return null;
  }
}

/** @returns `null` if the setting is malformed, `{}` if it is missing */
function factoriesOf({ X402_WALLET_FACTORIES: text }: Settings) {
  if (text === undefined || text === '') return {};
  const walletFactories = text === 'none' ? [] : text.split(',').map((one) => one.trim());
  return walletFactories.every((one) => isAddress(one)) ? { walletFactories } : null;
}
