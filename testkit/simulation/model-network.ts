import { rm } from 'node:fs/promises';
import { type Running, start } from '#app/start.ts';
import { silentLog } from '#observability/log.ts';
import { readConfig } from '#settings/config.ts';
import { type TestDatabase, testDatabase } from '#testkit/fixtures/db/database.ts';
import { temporaryDataDir } from '#testkit/network/spawn-network.ts';
import { startTestNetwork } from '#testkit/network/test-network.ts';
import { groundEnv } from '#testkit/simulation/chaos/chaos-process.ts';

/** The whole service in this process, on chains with short block intervals. */
export type QuickNetwork = Awaited<ReturnType<typeof startQuickNetwork>>;

const BLOCK_MS = 40;
/** Block interval of the second chain, which is idle once it has started. */
const IDLE_BLOCK_MS = 200;

export async function startQuickNetwork(
  options: {
    /** Default: a new database, which is closed with the network. */
    readonly database?: TestDatabase;
    readonly env?: Readonly<Record<string, string>>;
  } = {},
) {
  const [database, testnet, mainnet, folder] = await Promise.all([
    options.database ?? testDatabase(),
    startTestNetwork(() => ({ network: 'testnet', livemode: false })),
    startTestNetwork(() => ({ network: 'mainnet', livemode: true })),
    temporaryDataDir(),
  ]);
  const stops = [testnet.mineEvery(BLOCK_MS), mainnet.mineEvery(IDLE_BLOCK_MS)];
  const secret = Buffer.alloc(32, 'model');
  const env = {
    ...groundEnv({
      databaseUrl: database.url,
      secret,
      networks: [testnet.config, mainnet.config],
    }),
    PORT: '0',
    TAPLINE_DATA_DIR: folder.path,
    ...options.env,
  };
  const running: Running = await start(readConfig(env, []), silentLog);
  const { sandbox } = running;
  if (sandbox === null) throw new Error('the network has no demo data');
  return {
    sandbox,
    secret,
    /** Settings of the test network. */
    testnet: testnet.config,
    close: async () => {
      await running.stop();
      for (const stop of stops) await stop();
      await Promise.all([testnet.stop(), mainnet.stop()]);
      if (options.database === undefined) await database.close();
      await rm(folder.path, { recursive: true, force: true });
    },
  };
}
