import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { createServer } from 'node:tls';
import { privateKeyToAccount } from 'viem/accounts';
import { testFolder } from '../../testkit/fixtures/core/test-folder.ts';
import { type Listening, listen } from '../../testkit/network/listen.ts';
import { type MailServer, startMailServer } from '../../testkit/network/mail-server.ts';
import { type ChaosGround, openChaosGround } from '../../testkit/simulation/chaos/chaos-ground.ts';
import { chaosEnv } from '../../testkit/simulation/chaos/chaos-process.ts';
import { IN_CLONE, runCli } from './run-cli.ts';

const folder = testFolder();
const clone = { program: IN_CLONE };
let ground: ChaosGround;
let mail: MailServer;
let https: Listening;
let settings: Record<string, string> = {};

/** Creates a self-signed certificate for this machine, valid for this many days. */
function certificate(days: number): { key: string; cert: string; file: string } {
  const file = (name: string) => path.join(folder, `${days}-${name}.pem`);
  execFileSync('openssl', [
    ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'],
    ...['-keyout', file('key'), '-out', file('cert'), '-days', String(days)],
    ...['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'],
  ]);
  const read = (name: string) => execFileSync('cat', [file(name)], { encoding: 'utf8' });
  return { key: read('key'), cert: read('cert'), file: file('cert') };
}

before(async () => {
  ground = await openChaosGround();
  mail = await startMailServer();
  const good = certificate(90);
  https = await listen(createServer({ key: good.key, cert: good.cert }, (socket) => socket.end()));
  settings = {
    ...chaosEnv(ground),
    SMTP_URL: mail.url,
    TAPLINE_PUBLIC_URL: `https://localhost:${https.port}`,
  };
});

after(async () => {
  await https.close();
  await mail.stop();
  await ground.close();
});

const env = () => ({ NODE_EXTRA_CA_CERTS: path.join(folder, '90-cert.pem') });
const read = (name: string) => readFile(path.join(folder, 'made', name), 'utf8');

/** Checks these settings. @returns the names of the findings. */
async function wrongIn(changes: Readonly<Record<string, string>>, trust = env()) {
  const target = await mkdtemp(path.join(folder, 'settings-'));
  const all = Object.entries({ ...settings, ...changes });
  const ofWorker = all.filter(([name]) => /(RELAYER_KEYS|SPONSOR_KEY)$/.test(name));
  const ofRegistrar = all.filter(([name]) => name.endsWith('REGISTRAR_KEY'));
  const common = all.filter(([name]) => !/(RELAYER_KEYS|REGISTRAR_KEY|SPONSOR_KEY)$/.test(name));
  const files = { tapline: common, worker: ofWorker, registrar: ofRegistrar };
  for (const [name, entries] of Object.entries(files)) {
    const text = entries.map(([key, value]) => `${key}=${value}\n`).join('');
    await writeFile(path.join(target, `${name}.env`), text);
  }
  const ran = await runCli(['doctor', '--settings', target, '--json'], trust, clone);
  assert(ran.objects.length > 0, ran.stderr);
  const bad = ran.objects.filter(({ ok }) => ok !== true);
  assert.equal(ran.code, bad.length === 0 ? 0 : 1);
  return Object.fromEntries(bad.map(({ check, detail }) => [check, String(detail)]));
}

test('init makes three private files with new secrets, and never changes one', async () => {
  const args = ['init', '--folder', path.join(folder, 'made'), '--json'];
  const first = await runCli(args, {}, clone);
  assert.equal(first.code, 1, 'the start fails without the values that only the operator knows');
  const wrong = first.objects.filter(({ ok }) => ok === false);
  assert.match(String(wrong[0]?.detail), /NODE_ENV=production needs DATABASE_URL/);
  const texts = await Promise.all(['tapline.env', 'worker.env', 'registrar.env'].map(read));
  for (const name of ['tapline.env', 'worker.env', 'registrar.env']) {
    assert.equal((await stat(path.join(folder, 'made', name))).mode & 0o777, 0o600);
  }
  const [common = '', worker = '', registrar = ''] = texts;
  assert.match(common, /^TAPLINE_SECRET=[0-9a-f]{64}$/m);
  const keys = [...`${worker}${registrar}`.matchAll(/0x[0-9a-f]{64}/g)].map(([key]) => key);
  assert.equal(new Set(keys).size, 10, 'four relayers and a registrar for each network');
  assert(!keys.some((key) => common.includes(key)), 'no key is where every process reads it');
  const told = first.objects.map(({ detail }) => String(detail)).join('\n');
  for (const key of keys) {
    assert(!told.includes(key));
    assert(told.includes(privateKeyToAccount(key as `0x${string}`).address));
  }
  const again = await runCli(args, {}, clone);
  assert(!again.objects.some(({ check }) => check === 'made'));
  const after = await Promise.all(['tapline.env', 'worker.env', 'registrar.env'].map(read));
  assert.deepEqual(after, texts);
});

test('settings that a start accepts pass every check', async () => {
  assert.deepEqual(await wrongIn({}), {});
});

test('every problem of a start or of the first payment is named', async () => {
  const stranger = `0x${'7'.repeat(64)}`;
  const wrong = await wrongIn({
    CHAIN_TESTNET_RELAYER_KEYS: stranger,
    CHAIN_MAINNET_CHAIN_ID: '5',
    SMTP_URL: 'smtp://127.0.0.1:1',
    REDIS_URL: 'redis://127.0.0.1:1',
    TAPLINE_PUBLIC_URL: 'https://localhost:1',
  });
  const { address } = privateKeyToAccount(stranger as `0x${string}`);
  assert.match(wrong['testnet: roles of the keys'] ?? '', /has no OPERATOR_ROLE/);
  assert.match(wrong['testnet: gas funds'] ?? '', new RegExp(`send coin to ${address}`));
  assert.match(wrong['mainnet: chain'] ?? '', /chain 5 is expected/);
  assert.match(wrong.mail ?? '', /ECONNREFUSED/);
  assert.match(wrong.Redis ?? '', /ECONNREFUSED|closed/i);
  assert.match(wrong.TLS ?? '', /start the proxy/);
  assert.equal(Object.keys(wrong).length, 6);
});

test('a wrong setting, an unreachable database and a bad certificate are named', async () => {
  assert.match((await wrongIn({ RATE_LIMIT: 'many' }))['settings of api'] ?? '', /RATE_LIMIT=many/);
  const away = await wrongIn({ DATABASE_URL: 'postgres://app:secret-word@127.0.0.1:1/none' });
  assert.match(away.database ?? '', /ECONNREFUSED/);
  assert(!JSON.stringify(away).includes('secret-word'));
  const { TLS = '' } = await wrongIn({}, { NODE_EXTRA_CA_CERTS: '' });
  assert.match(TLS, /self-signed/);
});
