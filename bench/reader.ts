import assert from 'node:assert/strict';
import { createPrivateKey, randomBytes } from 'node:crypto';
import { addFactorNow } from '#testkit/apis/people.ts';
import { PersonClient } from '#testkit/apis/person-client.ts';
import { startSharedSandbox } from '#testkit/network/shared-sandbox.ts';
import { DeviceApi, openKey, readTap, type Wallets } from '../reader/src/index.ts';
import { applePhone, googlePhone, tag } from '../reader/test/emulated-phones.ts';
import { addTestTerminal } from '../web/testing/till.ts';
import { median, percentile, report } from './report.ts';

/**
 * Measures from the phone's selection to its credential, on emulated phones and cards that respond
 * immediately: the time of the reader itself and, for Smart Tap, of the network, which signs. A
 * real phone and the radio add their own time.
 */
const TAPS = Number(process.env.BENCH_TAPS ?? 300);
const TARGET = '≤ 150 ms';
const COLLECTOR_ID = 20_180_608;
const REASON = { reason: 'A benchmark.' };

const { sandbox, close } = await startSharedSandbox();
const terminal = await addTestTerminal(sandbox);

/** Creates the network's key and enables Smart Tap on the terminal. */
async function switchOn(): Promise<string> {
  const staff = new PersonClient(`${sandbox.base_url}/operator/v1`);
  await staff.post('/session', sandbox.operator);
  await addFactorNow(staff, sandbox.operator.password);
  const made = await staff.post('/smart_tap/keys', { ...REASON, collector_id: COLLECTOR_ID });
  await staff.post('/smart_tap/keys/use', { ...REASON, version: made.body.version });
  const owner = new PersonClient(`${sandbox.base_url}/dashboard/v1`);
  await owner.post('/session', sandbox.dashboard);
  const path = `/accounts/${sandbox.account}/test/terminals/${terminal.id}/smart_tap`;
  const { status, text } = await owner.post(path, { enabled: true });
  assert.equal(status, 200, text);
  return String(made.body.private_key);
}

const collectorKey = createPrivateKey(await switchOn());
const passType = { identifier: 'pass.com.example.wallet', key: openKey(randomBytes(32)) };
const wallets: Wallets = {
  collector: new DeviceApi(sandbox.web_url, terminal.deviceKey).proveCollector,
  passType,
};
const apple = { passIdentifier: passType.identifier, passKey: passType.key, message: 'tlav_x' };
const sun = `https://pay.example/card/card_1?p=${'A'.repeat(32)}&c=${'B'.repeat(16)}`;

const KINDS = [
  [
    'Smart Tap, signed by the network',
    () => googlePhone({ collectorId: COLLECTOR_ID, collectorKey, value: 'tlst_x' }).transceive,
  ],
  ['Apple VAS', () => applePhone({ ...apple, at: new Date() })],
  ['SUN card', () => tag({ address: sun })],
] as const;

const lines = [];
for (const [work, device] of KINDS) {
  const took: number[] = [];
  let failures = 0;
  for (let i = 0; i < TAPS; i++) {
    const card = device();
    const from = performance.now();
    const { status } = await readTap(card, wallets);
    took.push(performance.now() - from);
    if (status !== 'read') failures++;
  }
  const [p50Ms, p99Ms] = [median(took), percentile(took, 0.99)];
  lines.push({ work: `select to credential: ${work}`, p50Ms, p99Ms, failures, target: TARGET });
}
await report('reader', lines);
await close();
