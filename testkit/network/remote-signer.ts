import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { privateKeyToAccount, sign } from 'viem/accounts';
import { present } from '#core/assert.ts';
import type { Hex } from '#settlement/chain-requests.ts';
import type { RemoteKey } from '#settlement/remote-signer.ts';
import { serveSigner } from '#signer/serve-signer.ts';

/** A signer started with `npm run signer`. */
export type RemoteSigner = Awaited<ReturnType<typeof startRemoteSigner>>;

const TOKEN = 'signer-token-of-a-test-0123456789';
const MAX_FEE_PER_GAS = 10n ** 12n;

export async function startRemoteSigner(options: {
  readonly keys: readonly Hex[];
  readonly chainId: number;
  readonly settlement: Hex;
  readonly functions: readonly string[];
}) {
  const { chainId, settlement, functions } = options;
  const folder = await mkdtemp(path.join(tmpdir(), 'tapline-signer-'));
  const limits = {
    ...{ chainId, to: [settlement], functions, perHour: 1_000 },
    ...{ maxGas: 10_000_000n, maxFeePerGas: MAX_FEE_PER_GAS },
  };
  const accounts = options.keys.map((privateKey) => {
    const { address } = privateKeyToAccount(privateKey);
    const source = (hash: Hex) => sign({ hash, privateKey });
    return { address, source, limits, usedNonces: null };
  });
  const settings = { host: '127.0.0.1', port: 0, token: TOKEN, tls: null, folder, accounts };
  let server = await serveSigner(settings, () => {});
  const { port } = server.address() as AddressInfo;
  /** Stops the signer, so that requests to it fail. */
  const down = async () => {
    if (!server.listening) return;
    server.close();
    await once(server, 'close');
  };
  const url = `http://127.0.0.1:${port}`;
  const keys: readonly RemoteKey[] = accounts.map(({ address }) => ({
    url,
    address,
    token: TOKEN,
  }));
  return {
    /** The first key. */
    key: present(keys[0], 'a key'),
    keys,
    down,
    /** Restarts the signer on the same port, with the state that it stored. */
    up: async () => {
      server = await serveSigner({ ...settings, port }, () => {});
    },
    stop: async () => {
      await down();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
