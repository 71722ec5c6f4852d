import { createRequire } from 'node:module';
import path from 'node:path';
import { workerData } from 'node:worker_threads';
import type { Hex } from 'viem';
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';

/** A wallet app: WalletConnect's library, a key, and the owner's decision. */
export interface WalletData {
  readonly uri: string;
  readonly relayUrl: string;
  readonly projectId: string;
  readonly key: Hex;
  readonly says: 'yes' | 'no to the page' | 'no to the payment';
}

interface Proposal {
  readonly id: number;
  readonly params: {
    readonly optionalNamespaces: Readonly<Record<string, { readonly chains: readonly string[] }>>;
  };
}

interface Request {
  readonly topic: string;
  readonly id: number;
  readonly params: { readonly request: { readonly params: readonly [string, string] } };
}

interface WalletClient {
  on(event: 'session_proposal', heard: (proposal: Proposal) => void): void;
  on(event: 'session_request', heard: (request: Request) => void): void;
  approve(answer: object): Promise<unknown>;
  reject(answer: object): Promise<unknown>;
  respond(answer: { readonly topic: string; readonly response: object }): Promise<void>;
  readonly core: { readonly pairing: { pair(at: { readonly uri: string }): Promise<unknown> } };
}

function keptInMemory() {
  const kept = new Map<string, unknown>();
  return {
    getKeys: async () => [...kept.keys()],
    getEntries: async () => [...kept.entries()],
    getItem: async (key: string) => kept.get(key),
    setItem: async (key: string, value: unknown) => void kept.set(key, value),
    removeItem: async (key: string) => void kept.delete(key),
  };
}

const ROOT = path.join(import.meta.dirname, '../../..');
const { uri, relayUrl, projectId, key, says } = workerData as WalletData;
const account = privateKeyToAccount(key);
const { SignClient } = createRequire(path.join(ROOT, 'src/web/walletconnect/package.json'))(
  '@walletconnect/sign-client',
) as { SignClient: { init(options: object): Promise<WalletClient> } };
const client = await SignClient.init({
  metadata: { name: 'Wallet', description: '', url: 'https://wallet.test', icons: [] },
  ...{ projectId, relayUrl, storage: keptInMemory(), telemetryEnabled: false, logger: 'silent' },
});
client.on('session_proposal', ({ id, params }) => {
  if (says === 'no to the page') {
    return void client.reject({ id, reason: { code: 5000, message: 'User rejected.' } });
  }
  const chains = params.optionalNamespaces.eip155?.chains ?? [];
  const accounts = chains.map((chain) => `${chain}:${account.address}`);
  const eip155 = { chains, accounts, methods: ['eth_signTypedData_v4'], events: [] };
  void client.approve({ id, namespaces: { eip155 } });
});
client.on('session_request', async ({ topic, id, params }) => {
  const typed = JSON.parse(params.request.params[1]) as Parameters<
    PrivateKeyAccount['signTypedData']
  >[0];
  const response =
    says === 'yes'
      ? { id, jsonrpc: '2.0', result: await account.signTypedData(typed) }
      : { id, jsonrpc: '2.0', error: { code: 4001, message: 'User rejected' } };
  await client.respond({ topic, response });
});
await client.core.pairing.pair({ uri });
