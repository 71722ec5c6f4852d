import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { privateKeyToAccount, sign } from 'viem/accounts';
import type { Hex } from '#settlement/requests.ts';
import type { RemoteKey } from '#settlement/signer.ts';
import { serveSigner } from '#signer/serve.ts';

/** The signer that `npm run signer` starts, with one key. */
export interface RemoteSigner {
  readonly key: RemoteKey;
  /** Nobody answers any more. */
  down(): Promise<void>;
  /** At the same port, with what it remembers. */
  up(): Promise<void>;
  stop(): Promise<void>;
}

const TOKEN = 'signer-token-of-a-test-0123456789';
const MAX_FEE_PER_GAS = 10n ** 12n;

export async function startRemoteSigner(wanted: {
  readonly key: Hex;
  readonly chainId: number;
  readonly settlement: Hex;
  readonly functions: readonly string[];
}): Promise<RemoteSigner> {
  const { key: privateKey, chainId, settlement, functions } = wanted;
  const folder = await mkdtemp(path.join(tmpdir(), 'tapline-signer-'));
  const limits = {
    ...{ chainId, to: [settlement], functions, perHour: 100 },
    ...{ maxGas: 1_000_000n, maxFeePerGas: MAX_FEE_PER_GAS },
  };
  const { address } = privateKeyToAccount(privateKey);
  const accounts = [{ address, source: (hash: Hex) => sign({ hash, privateKey }), limits }];
  const settings = { host: '127.0.0.1', port: 0, token: TOKEN, folder, accounts };
  let server = await serveSigner(settings, () => {});
  const { port } = server.address() as AddressInfo;
  const down = async () => {
    if (!server.listening) return;
    server.close();
    await once(server, 'close');
  };
  return {
    key: { url: `http://127.0.0.1:${port}`, address, token: TOKEN },
    down,
    up: async () => {
      server = await serveSigner({ ...settings, port }, () => {});
    },
    stop: async () => {
      await down();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
