import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { isLive, type Network } from '#core/mode.ts';
import { StartError } from '#core/start-error.ts';
import type { SandboxFile } from '#sandbox/sandbox-file.ts';
import { ROLE } from '#sandbox/start-postgres.ts';
import type { Hex } from '#settlement/chain-requests.ts';
import { NETWORK_DEFAULTS, type NetworkConfig } from '#settlement/network-config.ts';

/** The database and chains of a running sandbox, for commands that only read them. */
export interface RunningSandbox {
  readonly databaseUrl: string;
  network(network: Network): NetworkConfig;
}

/**
 * Finds the database and chains in the files of the instance that has the folder open.
 * @throws StartError if no sandbox is running; sandbox.json exists only while one is.
 */
export async function findRunningSandbox(dataDir: string): Promise<RunningSandbox> {
  const folder = path.resolve(dataDir);
  const file = await readJson<SandboxFile>(folder, 'sandbox.json');
  const postgres = await readJson<{ port: number }>(folder, 'postgres.json');
  const secret = await readFile(path.join(folder, 'secrets', 'postgres-role'), 'utf8');
  const password = Buffer.from(secret.trim(), 'hex').toString('base64url');
  return {
    databaseUrl: `postgres://${ROLE}:${password}@127.0.0.1:${postgres.port}/${ROLE}`,
    network: (network) => {
      const mode = isLive(network) ? file.live : file.test;
      return {
        ...NETWORK_DEFAULTS,
        network,
        livemode: isLive(network),
        chainId: mode.chain_id,
        rpcUrls: [mode.rpc_url],
        usdc: mode.usdc as Hex,
        settlement: mode.settlement as Hex,
        // Commands that only read need no keys.
        relayerKeys: [],
        registrarKey: '0x',
      };
    },
  };
}

async function readJson<T>(folder: string, name: string): Promise<T> {
  try {
    return JSON.parse(await readFile(path.join(folder, name), 'utf8'));
  } catch (cause) {
    throw new StartError(
      `no sandbox runs in ${folder}: start one with npm start, choose another TAPLINE_DATA_DIR, ` +
        'or set DATABASE_URL and CHAIN_TESTNET_RPC_URL, CHAIN_MAINNET_RPC_URL, …',
      { cause },
    );
  }
}
