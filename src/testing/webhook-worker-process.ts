import { systemClock } from '#core/clock.ts';
import { openDatabase } from '#db/database.ts';
import { connectWakeups } from '#db/wakeups.ts';
import { silentLog } from '#observability/log.ts';
import { LOCAL_CIDRS } from '#testing/webhooks.ts';
import { startWebhookWorker } from '#webhooks/delivery-loops.ts';

/**
 * Runs a webhook worker in a process of its own, for tests that kill it. Its arguments are the
 * database's URL and a key in hex.
 */
const [url = '', key = ''] = process.argv.slice(2);

const db = openDatabase({ url, maxConnections: 4 });
const wakeups = await connectWakeups(db);
startWebhookWorker({
  db,
  wakeups,
  clock: systemClock,
  log: silentLog,
  secretKey: Buffer.from(key, 'hex'),
  allowCidrs: LOCAL_CIDRS,
});
process.on('disconnect', () => process.exit(0));
process.send?.('ready');
