// Runs a relayer in its own process. relayer-world.ts starts it, and tests kill it.
import { systemClock } from '#core/clock.ts';
import { openDatabase } from '#db/database.ts';
import { connectWakeups } from '#db/wakeups.ts';
import { silentLog } from '#observability/log.ts';
import { openChain } from '#settlement/chain/rpc/open-chain.ts';
import type { NetworkConfig } from '#settlement/network-config.ts';
import { startRelayer } from '#settlement/relayer/relayer.ts';

const reviver = (_key: string, value: unknown) =>
  typeof value === 'string' && /^\d+n$/.test(value) ? BigInt(value.slice(0, -1)) : value;

const config = JSON.parse(process.env.RELAYER_CONFIG ?? '{}', reviver) as NetworkConfig;
const db = openDatabase({ url: process.env.RELAYER_DATABASE ?? '', maxConnections: 6 });
const wakeups = await connectWakeups(db);
const chain = await openChain(config, silentLog);
startRelayer({ chain, db, wakeups, clock: systemClock, log: silentLog, leaseMs: 600 });
