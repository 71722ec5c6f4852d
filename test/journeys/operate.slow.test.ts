import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, test } from 'node:test';
import {
  createWalletClient,
  encodeDeployData,
  encodeFunctionData,
  getAddress,
  http,
  numberToHex,
  parseEther,
  publicActions,
  type TypedDataDefinition,
} from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { newKey } from '#ops/deploy-contract.ts';
import { freePort } from '#sandbox/find-and-stop-processes.ts';
import type { Hex } from '#settlement/chain-requests.ts';
import { addFactorNow } from '#testkit/apis/people.ts';
import { PersonClient } from '#testkit/apis/person-client.ts';
import { testFolder } from '#testkit/fixtures/core/test-folder.ts';
import { type TestDatabase, testDatabase } from '#testkit/fixtures/db/database.ts';
import { eventually } from '#testkit/fixtures/webhooks/webhooks.ts';
import { type MailServer, startMailServer } from '#testkit/network/mail-server.ts';
import { startThrowawayChain, type ThrowawayChain } from '#testkit/network/throwaway-chain.ts';
import { settlementAbi } from '../../contracts/artifacts/Settlement.ts';
import { testUsdcAbi, testUsdcBytecode } from '../../contracts/artifacts/TestUSDC.ts';

/** Follows docs/operate.md from an empty database to the first live payment in production. */

const ROOT = path.join(import.meta.dirname, '../..');
const NETWORKS = ['testnet', 'mainnet'] as const;
const PASSWORD = 'a long staff passphrase';
const AMOUNT = 2_500_000;
const WAIT_MS = 30_000;

type Network = (typeof NETWORKS)[number];

let database: TestDatabase;
let mail: MailServer;
const folder = testFolder();
let webUrl = '';
/** The public URL at the proxy in front of a network. */
const PUBLIC_URL = 'https://pay.tapline.test';
let service: ChildProcess | null = null;
const chains = new Map<Network, ThrowawayChain>();
const env: Record<string, string> = {};
const deployer = privateKeyToAccount(generatePrivateKey());
let live: { key: string; device: string; terminal: string };
let merchant: PersonClient;
let account = '';

interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

function run(file: string, args: readonly string[], stdin: string): Promise<Ran> {
  return new Promise((resolve) => {
    const command = [path.join(ROOT, 'src/ops', file), ...args];
    const options = { env: { ...process.env, ...env } };
    const child = execFile(process.execPath, command, options, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : 1, stdout, stderr });
    });
    child.stdin?.end(stdin);
  });
}

function walletOn(network: Network, key: Hex) {
  const transport = http(chains.get(network)?.rpcUrl ?? '');
  const account = privateKeyToAccount(key);
  return createWalletClient({ account, transport }).extend(publicActions);
}

type Wallet = ReturnType<typeof walletOn>;

async function send(wallet: Wallet, to: Hex | null, data: Hex) {
  const hash = await wallet.sendTransaction({ chain: null, to, data });
  const receipt = await wallet.waitForTransactionReceipt({ hash, pollingInterval: 50 });
  assert.equal(receipt.status, 'success');
  return receipt;
}

const until = <T>(what: string, look: () => Promise<T | null>) => eventually(what, look, WAIT_MS);

/** Clicks the button in the email about a first factor, which activates the factor. */
async function clickInMail(email: string): Promise<void> {
  const link = await until('the mail about the factor', async () => {
    const message = mail.messages.map(decode).findLast((one) => one.includes(email));
    return /\/by-mail\/\S+/.exec(message ?? '')?.[0] ?? null;
  });
  const headers = { Origin: PUBLIC_URL };
  const clicked = await fetch(`${webUrl}${link}`, { method: 'POST', headers });
  assert.equal(clicked.status, 200, await clicked.text());
}

/** Decodes the quoted-printable encoding of an email. */
function decode(message: string): string {
  return message.replaceAll(/=\r\n/g, '').replaceAll('=3D', '=');
}

before(async () => {
  const started = await Promise.all([
    testDatabase(),
    startMailServer(),
    ...NETWORKS.map((_, i) => startThrowawayChain({ chainId: 41_000 + i, blockTime: 0.25 })),
  ]);
  [database, mail] = started;
  chains.set('testnet', started[2] as ThrowawayChain);
  chains.set('mainnet', started[3] as ThrowawayChain);
});

after(async () => {
  if (service !== null && service.exitCode === null) {
    service.kill('SIGTERM');
    await once(service, 'exit');
  }
  await Promise.all([database.close(), mail.stop(), ...[...chains.values()].map((c) => c.stop())]);
});

/** Gives each address native currency for gas, which the service does not do. */
async function fund(network: Network, addresses: readonly Hex[]): Promise<void> {
  const wallet = walletOn(network, generatePrivateKey());
  for (const address of addresses) {
    const params = [address, numberToHex(parseEther('10'))] as never;
    await wallet.request({ method: 'anvil_setBalance' as never, params });
  }
}

test('commands create the keys and deploy the contract', async () => {
  const key = generatePrivateKey();
  const deployerKey = key;
  const payer = privateKeyToAccount(deployerKey);
  for (const network of NETWORKS) {
    const made = await run('chain-command.ts', ['new-keys', '5'], '');
    const keys = made.stdout
      .trim()
      .split('\n')
      .map((line) => line.split(' ') as [Hex, Hex]);
    const [registrar, ...operators] = keys;
    assert.ok(registrar && operators.length === 4);
    await fund(network, [payer.address, deployer.address, ...keys.map(([address]) => address)]);
    const wallet = walletOn(network, deployerKey);
    const token = { abi: testUsdcAbi, bytecode: testUsdcBytecode, args: [payer.address] } as const;
    const usdc = (await send(wallet, null, encodeDeployData(token))).contractAddress;
    const options = {
      network,
      'rpc-url': chains.get(network)?.rpcUrl ?? '',
      usdc: getAddress(usdc ?? '0x'),
      proposers: `${newKey().address},${newKey().address}`,
      steward: newKey().address,
      guardians: `${newKey().address},${newKey().address}`,
      treasurer: newKey().address,
      registrar: registrar[0],
      operators: operators.map(([address]) => address).join(','),
      'hourly-ceiling': '100000',
      'usdc-name': 'Test USD Coin',
      'usdc-version': '1',
    };
    const args = Object.entries(options).flatMap(([name, value]) => [`--${name}`, value]);
    const deployed = await run('chain-command.ts', ['deploy', ...args], deployerKey);
    assert.equal(deployed.code, 0, deployed.stderr);
    for (const line of deployed.stdout.trim().split('\n')) {
      const [name = '', value = ''] = line.split('=');
      env[name] = value;
    }
    const prefix = `CHAIN_${network.toUpperCase()}`;
    env[`${prefix}_RPC_URL`] = options['rpc-url'];
    env[`${prefix}_RELAYER_KEYS`] = operators
      .slice(0, 2)
      .map(([, secret]) => secret)
      .join(',');
    env[`${prefix}_REGISTRAR_KEY`] = registrar[1];
    env[`${prefix}_USDC_NAME`] = 'Test USD Coin';
    env[`${prefix}_USDC_VERSION`] = '1';
  }
});

test('a production start names missing settings, and succeeds once they are set', async () => {
  env.NODE_ENV = 'production';
  // Off, because a static pass is tapped below for the first time, and would ask its payer.
  env.STATIC_PASS_CONFIRM_FROM = 'off';
  env.DATABASE_URL = database.url;
  env.DATABASE_DURABILITY = 'single';
  env.TAPLINE_DATA_DIR = folder;
  const port = await freePort();
  env.PORT = String(port);
  webUrl = `http://127.0.0.1:${port}`;
  const start = () =>
    spawn(process.execPath, [path.join(ROOT, 'src/app/main.ts')], {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
  const refused = start();
  let complaint = '';
  refused.stderr?.on('data', (chunk) => {
    complaint += String(chunk);
  });
  const [code] = (await once(refused, 'exit')) as [number];
  assert.equal(code, 1);
  assert.match(complaint, /needs TAPLINE_SECRET, TAPLINE_PUBLIC_URL, SMTP_URL/);
  env.TAPLINE_SECRET = Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('hex');
  env.TAPLINE_PUBLIC_URL = PUBLIC_URL;
  env.SMTP_URL = mail.url;
  service = start();
  let log = '';
  service.stderr?.on('data', (chunk) => {
    log += String(chunk);
  });
  await until('the service', async () => {
    assert.equal(service?.exitCode, null, log);
    const answer = await fetch(`${webUrl}/readyz`).catch(() => null);
    return answer?.ok ? true : null;
  });
  await assert.rejects(readFile(path.join(folder, 'sandbox.json')), 'no demo data in production');
});

async function signUp(email: string): Promise<PersonClient> {
  const client = new PersonClient(`${webUrl}/api/dashboard/v1`);
  client.extraHeaders = { Origin: PUBLIC_URL };
  await client.post('/sign_up', { email });
  const token = await until('the mail', async () => {
    const message = mail.messages.map(decode).find((one) => one.includes(email));
    return /#token=(\S+)/.exec(message ?? '')?.[1] ?? null;
  });
  const form = { token, name: 'Nina New', account_name: 'Nina’s Café', password: PASSWORD };
  const opened = await client.post('/sign_up/complete', form);
  assert.equal(opened.status, 201, opened.text);
  account = (opened.body.accounts as { id: string }[])[0]?.id ?? '';
  return client;
}

test('a merchant signs up and is verified by an operator created by command', async () => {
  const args = ['create-operator', 'otto@tapline.test', 'Otto', 'Ops'];
  const made = await run('admin-command.ts', args, PASSWORD);
  assert.equal(made.code, 0, made.stderr);
  merchant = await signUp('nina@cafe.test');
  const details = {
    legal_name: 'Nina’s Café GmbH',
    registration_number: 'HRB 1',
    country: 'DE',
    address: 'Hauptstraße 1, Berlin',
    business: 'Coffee',
    representative: 'Nina New',
  };
  await merchant.send('PUT', `/accounts/${account}/kyb`, { version: 0, details });
  const upload = `/accounts/${account}/kyb/documents?kind=registration&file_name=extract.pdf`;
  await merchant.send('POST', upload, Buffer.from('%PDF-1.7 the register'), {
    'Content-Type': 'application/pdf',
  });
  assert.equal((await merchant.post(`/accounts/${account}/kyb/submit`)).status, 200);
  const staff = new PersonClient(`${webUrl}/api/operator/v1`);
  await staff.post('/session', { email: 'otto@tapline.test', password: PASSWORD });
  await addFactorNow(staff, PASSWORD);
  await clickInMail('otto@tapline.test');
  const decision = { decision: 'approved' };
  const decided = await staff.post(`/accounts/${account}/kyb/decision`, decision);
  assert.equal(decided.body.status, 'approved', decided.text);
  const configuration = await staff.get('/configuration');
  for (const name of ['TAPLINE_SECRET', 'CHAIN_MAINNET_REGISTRAR_KEY']) {
    assert.ok(!configuration.text.includes(env[name] ?? '-'), `${name} is masked`);
  }
});

test('the merchant goes live on mainnet and gets a live key and terminal', async () => {
  const wallet = privateKeyToAccount(generatePrivateKey());
  const place = `/accounts/${account}/live`;
  const reply = await merchant.get(`${place}/go_live/consent?wallet=${wallet.address}`);
  const signature = await wallet.signTypedData(reply.body.typed_data as TypedDataDefinition);
  const { deadline } = reply.body;
  const consent = { wallet: wallet.address, deadline, signature };
  await addFactorNow(merchant, PASSWORD);
  await clickInMail('nina@cafe.test');
  assert.equal((await merchant.post(`${place}/go_live`, consent)).status, 202);
  await until('the registration', async () => {
    const { body } = await merchant.get(`${place}/go_live`);
    return body.live === true ? true : null;
  });
  const scopes = ['payments:read', 'payments:write', 'balance:read'];
  const key = await merchant.post(`${place}/api_keys`, { name: 'Server', scopes });
  const terminal = await merchant.post(`${place}/terminals`, { label: 'Counter 1' });
  assert.equal(terminal.status, 201, terminal.text);
  live = {
    key: String(key.body.secret),
    device: String(terminal.body.device_key),
    terminal: String(terminal.body.id),
  };
});

interface Pass {
  readonly secret: string;
}

/**
 * Creates a customer with USDC, an allowance and a spending policy, who signs in and creates a
 * pass.
 */
async function enrol(): Promise<Pass> {
  const key = generatePrivateKey();
  const payer = walletOn('mainnet', key);
  const { address } = payer.account;
  await fund('mainnet', [address]);
  const usdc = env.CHAIN_MAINNET_USDC as Hex;
  const settlement = env.CHAIN_MAINNET_SETTLEMENT as Hex;
  const token = (functionName: 'mint' | 'approve', to: Hex) =>
    encodeFunctionData({ abi: testUsdcAbi, functionName, args: [to, 100_000_000n] });
  await send(payer, usdc, token('mint', address));
  await send(payer, usdc, token('approve', settlement));
  const policy = {
    perPayment: 50_000_000,
    perPeriod: 50_000_000,
    periodSeconds: 86_400,
    expiresAt: 4_000_000_000,
    maxFeeRate: 100,
  };
  const data = { abi: settlementAbi, functionName: 'setPolicy', args: [policy] } as const;
  await send(payer, settlement, encodeFunctionData(data));
  const api = `${webUrl}/api/payer/v1`;
  const post = async (route: string, body: object, token?: string) => {
    const response = await fetch(`${api}${route}`, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
      },
      body: JSON.stringify(body),
    });
    return (await response.json()) as Record<string, unknown>;
  };
  return signInPayer(post, payer);
}

type Post = (route: string, body: object, token?: string) => Promise<Record<string, unknown>>;

async function signInPayer(post: Post, payer: Wallet): Promise<Pass> {
  const { address } = payer.account;
  const nonce = await post('/sign_in/nonce', {});
  const issued = new Date().toISOString();
  const chainId = Number(env.CHAIN_MAINNET_CHAIN_ID);
  const message =
    `${new URL(PUBLIC_URL).host} wants you to sign in with your Ethereum account:\n${address}\n\n` +
    `Sign in to Tapline.\n\nURI: ${PUBLIC_URL}\nVersion: 1\nChain ID: ${chainId}\n` +
    `Nonce: ${nonce.nonce}\nIssued At: ${issued}`;
  const signature = await payer.signMessage({ message });
  const session = await post('/sign_in', { message, signature });
  const made = await post('/passes', { label: 'Phone' }, String(session.token));
  assert.ok(made.nfc_id, JSON.stringify({ nonce, session, made }));
  return { secret: String(made.nfc_id) };
}

test('a customer pays: the first live payment', async () => {
  const pass = await enrol();
  const call = async (route: string, key: string, body?: object) => {
    const response = await fetch(`${webUrl}/api/${route}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        Authorization: `Bearer ${key}`,
        'Idempotency-Key': route,
        'Content-Type': 'application/json',
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return (await response.json()) as Record<string, unknown>;
  };
  const intent = await call('v1/payment_intents', live.key, {
    amount: AMOUNT,
    terminal: live.terminal,
  });
  assert.equal(intent.status, 'requires_payment_method', JSON.stringify(intent));
  const tap = `device/v1/payment_intents/${intent.id}/tap`;
  const credential = { type: 'nfc_id', value: pass.secret };
  const paid = await call(tap, live.device, { credential });
  assert.equal(paid.status, 'succeeded', JSON.stringify(paid));
  const balance = await call('v1/balance', live.key);
  assert.deepEqual(balance.available, [{ amount: AMOUNT, currency: 'usdc' }]);
});

test('the audit log of these steps verifies, and the service stops in time', async () => {
  const audit = await run('audit-log-command.ts', [], '');
  assert.equal(audit.code, 0, audit.stderr + audit.stdout);
  const stopped = performance.now();
  service?.kill('SIGTERM');
  const [code] = (await once(service as ChildProcess, 'exit')) as [number];
  assert.equal(code, 0);
  assert.ok(performance.now() - stopped < 10_000);
});
