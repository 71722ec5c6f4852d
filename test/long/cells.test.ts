import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { cp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { type IncomingMessage, request } from 'node:http';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { createTestClient, createWalletClient, http, parseAbi, publicActions } from 'viem';
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import { foundry } from 'viem/chains';
import { present } from '#core/assert.ts';
import { freePort } from '#sandbox/find-and-stop-processes.ts';
import { type Body, type Caller, caller } from '#testkit/apis/api-client.ts';
import { enrolBySignature } from '#testkit/apis/outside-chain.ts';
import { signInWallet } from '#testkit/apis/wallet-sign-in.ts';
import { testFolder } from '#testkit/fixtures/core/test-folder.ts';
import { eventually } from '#testkit/fixtures/webhooks/webhooks.ts';
import {
  type SpawnedNetwork,
  spawnNetwork,
  temporaryDataDir,
} from '#testkit/network/spawn-network.ts';

/**
 * Runs two cells behind the load balancer of `deploy/cells`, each with its own database, processes,
 * chain and contract. Merchants and payers use only the shared address.
 */

const SALES = 200;
const AMOUNT = 100_000;

const MONEY = 1_000_000_000n;
const WAIT_MS = 120_000;
const SECRET = randomBytes(24).toString('hex');
const DEPLOY = path.join(import.meta.dirname, '../../deploy/cells');
const MINT = parseAbi(['function mint(address to, uint256 amount)']);

interface Cell {
  readonly number: number;
  readonly dataDir: Awaited<ReturnType<typeof temporaryDataDir>>;
  network: SpawnedNetwork;
  readonly payments: string[];
}

interface Payer {
  readonly home: number;
  readonly account: PrivateKeyAccount;
  /** Created by its home cell. */
  readonly pass: string;
}

const cells: Cell[] = [];
const payers: Payer[] = [];
let balancer: ChildProcess;
/** The shared address. */
let shared: string;

function envOf(number: number, ports: readonly number[]): Record<string, string> {
  const others = ports.flatMap((port, cell) =>
    cell === number ? [] : [`${cell}=http://127.0.0.1:${port}`],
  );
  return {
    CELL: String(number),
    CELL_ADDRESSES: others.join(','),
    CELL_SECRET: SECRET,
    RATE_LIMIT: '2000/1',
    PORT: String(ports[number]),
  };
}

let ports: readonly number[] = [];

async function startCell(number: number): Promise<SpawnedNetwork> {
  const { dataDir } = cellOf(number);
  return spawnNetwork({ dataDir: dataDir.path, env: envOf(number, ports) });
}

async function startBalancer(port: number): Promise<void> {
  const shipped = await readFile(path.join(DEPLOY, 'haproxy.cfg'), 'utf8');
  const config = path.join(testFolder(), 'haproxy.cfg');
  const map = path.join(DEPLOY, 'cells.map');
  await writeFile(config, shipped.replace('/etc/haproxy/cells.map', map));
  const [CELL_0, CELL_1] = ports.map((one) => `127.0.0.1:${one}`);
  const env = { ...process.env, CELLS_BIND: `127.0.0.1:${port}`, CELL_0, CELL_1 };
  balancer = spawn('haproxy', ['-f', config], { env, stdio: ['ignore', 'inherit', 'inherit'] });
  shared = `http://127.0.0.1:${port}`;
}

const until = <T>(what: string, look: () => Promise<T | null>) => eventually(what, look, WAIT_MS);

async function fund({ network }: Cell, to: PrivateKeyAccount): Promise<void> {
  const { chain_id, rpc_url, usdc } = network.sandbox.test;
  const chain = { ...foundry, id: chain_id };
  const transport = http(rpc_url);
  const minter = privateKeyToAccount(generatePrivateKey());
  const node = createTestClient({ mode: 'anvil', chain, transport, pollingInterval: 50 });
  await node.setBalance({ address: minter.address, value: 10n ** 18n });
  const wallet = createWalletClient({ account: minter, chain, transport });
  const args = [to.address, MONEY] as const;
  const address = usdc as `0x${string}`;
  const hash = await wallet.writeContract({ address, abi: MINT, functionName: 'mint', args });
  await node.extend(publicActions).waitForTransactionReceipt({ hash });
}

/** Adds a payer whose wallet every cell knows. The pass belongs to the home cell. */
async function addPayer(home: number): Promise<Payer> {
  const account = privateKeyToAccount(generatePrivateKey());
  const passes: string[] = [];
  for (const cell of cells) {
    await fund(cell, account);
    const { web_url: webUrl, test: mode } = cell.network.sandbox;
    passes.push(await enrolBySignature(account, { webUrl, chainId: mode.chain_id }));
  }
  return { home, account, pass: present(passes[home], 'pass of the home') };
}

const cellOf = (number: number): Cell => present(cells[number], 'cell');

/** Signs in as this payer, at its home cell. */
async function walletOf({ home, account }: Payer): Promise<Caller> {
  const { web_url: webUrl, test: mode } = cellOf(home).network.sandbox;
  const token = await signInWallet(webUrl, account, { chainId: mode.chain_id });
  return caller(`${webUrl}/api/payer/v1`, token);
}

const merchantOf = ({ network }: Cell): Caller =>
  caller(`${shared}/api/v1`, network.sandbox.test.secret_key);

/** True once the load balancer routes the merchant there again. */
async function answers(cell: Cell): Promise<true | null> {
  const answer = await merchantOf(cell)
    .get('/payments?limit=1')
    .catch(() => null);
  return answer?.status === 200 ? true : null;
}

async function createSale(cell: Cell): Promise<string> {
  const { agent_terminal, terminal } = cell.network.sandbox.test;
  const made = await merchantOf(cell).post('/payment_intents', {
    amount: AMOUNT,
    terminal: terminal ?? agent_terminal,
  });
  assert.equal(made.status, 201, JSON.stringify(made.body));
  return String(made.body.id);
}

async function tap(cell: Cell, intent: string, pass: string): Promise<Body> {
  const { terminal } = cell.network.sandbox.test;
  const credential = { type: 'nfc_id', value: pass };
  const answer = await merchantOf(cell).post(`/test_helpers/terminals/${terminal}/tap`, {
    payment_intent: intent,
    credential,
  });
  return answer.body;
}

async function sell(cell: Cell, { pass }: Payer): Promise<void> {
  const intent = await createSale(cell);
  await tap(cell, intent, pass);
  const payment = await until(`sale ${intent}`, async () => {
    const { body } = await merchantOf(cell).get(`/payment_intents/${intent}`);
    assert.equal(body.last_payment_error ?? null, null, JSON.stringify(body));
    return body.status === 'succeeded' ? String(body.payment) : null;
  });
  cell.payments.push(payment);
}

const declineOf = (intent: Body) =>
  intent.last_payment_error as {
    decline_code: string;
    reason_code: string;
    customer_message: string;
  };

before(async () => {
  ports = [await freePort(), await freePort()];
  for (const number of [0, 1]) {
    const dataDir = await temporaryDataDir();
    cells.push({ number, dataDir, network: null as never, payments: [] });
    cellOf(number).network = await startCell(number);
  }
  await startBalancer(await freePort());
  for (const home of [0, 1, 0, 1]) payers.push(await addPayer(home));
  await until('the balancer', async () =>
    (await fetch(`${shared}/readyz`).catch(() => null))?.ok ? true : null,
  );
});

after(async () => {
  balancer?.kill('SIGTERM');
  for (const { network, dataDir } of cells) {
    await network?.stop();
    await dataDir.remove();
  }
});

test('ids name their cell, and the balancer routes them there', async () => {
  for (const cell of cells) {
    const { secret_key } = cell.network.sandbox.test;
    assert.equal(secret_key.charAt('tlsk_test_'.length), String(cell.number));
    const intent = await createSale(cell);
    assert.equal(intent.charAt('pi_'.length), String(cell.number));
  }
  for (const { home, pass } of payers) {
    assert.equal(pass.length, 'nfc_'.length + (home === 0 ? 38 : 39));
  }
});

interface Reply {
  readonly status: number;
  readonly cookie: string;
  readonly body: string;
}

/**
 * Requests a page like a browser that was sent to this host; `fetch` sets the host header itself.
 */
async function visit(
  host: string,
  input: { readonly method: string; readonly body?: object; readonly cookie?: string },
): Promise<Reply> {
  const { port } = new URL(shared);
  const headers = {
    host,
    origin: `http://${host}`,
    'content-type': 'application/json',
    ...(input.cookie === undefined ? {} : { cookie: input.cookie }),
  };
  const path = '/api/dashboard/v1/session';
  const sent = request({ host: '127.0.0.1', port, path, method: input.method, headers });
  sent.end(input.body === undefined ? undefined : JSON.stringify(input.body));
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  let body = '';
  for await (const chunk of answer) body += chunk;
  const [cookie = ''] = answer.headers['set-cookie'] ?? [];
  return { status: answer.statusCode ?? 0, cookie: cookie.split(';')[0] ?? '', body };
}

test('each host leads to its cell, and its session works at the shared host', async () => {
  for (const [number, host] of [
    [0, 'zero.pay.test'],
    [1, 'one.pay.test'],
  ] as const) {
    const { email, password } = cellOf(number).network.sandbox.dashboard;
    const signedIn = await visit(host, { method: 'POST', body: { email, password } });
    assert.equal(signedIn.status, 200, host);
    const token = signedIn.cookie.split('=')[1] ?? '';
    assert.equal(token.length, 'tlus_'.length + 38 + number, token);
    const read = await visit('pay.test', { method: 'GET', cookie: signedIn.cookie });
    assert.equal(read.status, 200, `the session of ${host}`);
  }
});

test('a sign-in at the wrong cell names the right one', async () => {
  const { dashboard, web_url: url } = cellOf(1).network.sandbox;
  const { email, password } = dashboard;
  const told = await visit('zero.pay.test', { method: 'POST', body: { email, password } });
  assert.equal(told.status, 401);
  assert.match(told.body, new RegExp(`Sign in at ${url}/dashboard`));
});

test(`${SALES} sales in both cells, by payers of both: each is paid once`, async (t) => {
  const began = performance.now();
  const CALLERS = 8;
  const callers = Array.from({ length: CALLERS }, async (_, caller) => {
    for (let n = caller; n < SALES; n += CALLERS) {
      const cell = cellOf(n % 2);
      await sell(cell, present(payers[Math.floor(n / 2) % payers.length], 'payer'));
    }
  });
  await Promise.all(callers);
  const all = cells.flatMap(({ payments }) => payments);
  assert.equal(new Set(all).size, SALES);
  for (const cell of cells) {
    for (const payment of cell.payments) {
      assert.equal(payment.charAt('pay_'.length), String(cell.number));
    }
  }
  t.diagnostic(`${SALES} sales in ${((performance.now() - began) / 1000).toFixed(1)} s`);
});

test('receipts and refunds of both cells open at the shared address', async () => {
  for (const cell of cells) {
    const [payment = ''] = cell.payments;
    const merchant = merchantOf(cell);
    const { body } = await merchant.get(`/payments/${payment}`);
    const receipt = new URL(String(body.receipt_url));
    const page = await fetch(shared + receipt.pathname);
    assert.equal(page.status, 200, receipt.pathname);
    const made = await merchant.post('/refunds', { payment, amount: AMOUNT });
    assert.equal(made.status, 201, JSON.stringify(made.body));
    const refund = await until('the refund', async () => {
      const { body } = await merchant.get(`/refunds/${made.body.id}`);
      return body.status === 'succeeded' ? body : null;
    });
    const slip = new URL(String(refund.receipt_url));
    assert.equal((await fetch(shared + slip.pathname)).status, 200, slip.pathname);
    // Once the payment is refunded in full, even one more atom is refused.
    assert.equal((await merchant.post('/refunds', { payment, amount: 1 })).status, 409);
  }
});

test('limits are those of the cell, and a lower one of the home cell applies, too', async () => {
  const payer = present(payers[2], 'payer of cell 0');
  const me = await walletOf(payer);
  const limit = (atoms: number | null) =>
    me.send('PATCH', '/limits', {
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ per_payment: atoms }),
    });
  assert.equal((await limit(AMOUNT - 1)).status, 200);
  const abroad = cellOf(1);
  // Cell 1 may reuse an answer of the last minute, but must ask the home cell about an unknown
  // pass.
  const fresh = String((await me.post('/passes', { label: 'Watch' })).body.nfc_id);
  const declined = await tap(abroad, await createSale(abroad), fresh);
  assert.equal(declineOf(declined).decline_code, 'limit_exceeded');
  assert.equal((await limit(null)).status, 200);
});

test('a pass revoked at home pays in no cell one second later', async () => {
  const payer = present(payers[2], 'payer of cell 0');
  const me = await walletOf(payer);
  const made = (await me.post('/passes', { label: 'Ring' })).body;
  const abroad = cellOf(1);
  await sell(abroad, { ...payer, pass: String(made.nfc_id) });
  assert.equal((await me.send('DELETE', `/passes/${made.id}`)).status, 200);
  await until('the end of the pass', async () => {
    const declined = await tap(abroad, await createSale(abroad), String(made.nfc_id));
    return declineOf(declined)?.decline_code === 'pass_revoked' ? true : null;
  });
});

test('a code that was used in another cell is used at home, and vice versa', async () => {
  const payer = present(payers[1], 'payer of cell 1');
  const [first, home] = [cellOf(0), cellOf(1)];
  const me = await walletOf(payer);
  const { data } = (await me.get('/passes')).body as { data: { id: string }[] };
  const code = async () => String((await me.post(`/passes/${data[0]?.id}/codes`, {})).body.value);
  const show = async (cell: Cell, value: string) => {
    const { terminal } = cell.network.sandbox.test;
    const { body } = await merchantOf(cell).post(`/test_helpers/terminals/${terminal}/tap`, {
      payment_intent: await createSale(cell),
      credential: { type: 'qr', value },
    });
    return declineOf(body)?.decline_code ?? 'paid';
  };
  const abroadFirst = await code();
  assert.deepEqual(
    [await show(first, abroadFirst), await show(home, abroadFirst)],
    ['paid', 'pass_code_used'],
  );
  const homeFirst = await code();
  assert.deepEqual(
    [await show(home, homeFirst), await show(first, homeFirst)],
    ['paid', 'pass_code_used'],
  );
});

test('one cell is killed: the other sells, and says what it cannot know', async () => {
  const [gone, alive] = [cellOf(0), cellOf(1)];
  const visitor = present(payers[0], 'payer of cell 0');
  const known = await tap(alive, await createSale(alive), visitor.pass);
  assert.equal(known.last_payment_error ?? null, null, JSON.stringify(known));
  const me = await walletOf(visitor);
  const unheard = await me.post('/passes', { label: 'New' });
  await gone.network.kill();
  // Passes that a cell knew within the last minute keep working, as do its own.
  await sell(alive, visitor);
  await sell(alive, present(payers[1], 'payer of cell 1'));
  const declined = declineOf(
    await tap(alive, await createSale(alive), String(unheard.body.nfc_id)),
  );
  assert.deepEqual(
    [declined.decline_code, declined.reason_code],
    ['pass_unknown', 'HOME_CELL_AWAY'],
  );
  assert.match(declined.customer_message, /cannot be checked/);
  gone.network = await startCell(0);
  await until('the first cell', async () => {
    const { body } = await merchantOf(gone)
      .get('/payments?limit=1')
      .catch(() => ({ body: {} }));
    return 'data' in body ? true : null;
  });
  await sell(gone, present(payers[1], 'payer of cell 1'));
});

/**
 * Adds up a merchant's payments over all pages: what remains after refunds must be withdrawable.
 */
async function checkBalance(cell: Cell): Promise<number> {
  const merchant = merchantOf(cell);
  let [left, count, cursor] = [0, 0, ''];
  do {
    const { body } = await merchant.get(`/payments?limit=100${cursor}`);
    const page = body as unknown as {
      data: { amount: number; amount_refunded: number }[];
      next_cursor: string | null;
    };
    for (const payment of page.data) left += payment.amount - payment.amount_refunded;
    count += page.data.length;
    cursor = page.next_cursor === null ? '' : `&cursor=${page.next_cursor}`;
  } while (cursor !== '');
  const { body } = await merchant.get('/balance');
  assert.equal((body.available as { amount: number }[])[0]?.amount, left);
  return count;
}

test('a cell’s database is restored: its sales return, the other is unaffected', async (t) => {
  const [other, lost] = [cellOf(0), cellOf(1)];
  const before = { other: await checkBalance(other), lost: await checkBalance(lost) };
  const folder = path.join(lost.dataDir.path, 'postgres');
  const copy = path.join(lost.dataDir.path, 'copy');
  await lost.network.stop();
  await cp(folder, copy, { recursive: true });
  lost.network = await startCell(1);
  await until('the balancer', () => answers(lost));
  const SOLD = 5;
  for (let n = 0; n < SOLD; n++) await sell(lost, present(payers[n % payers.length], 'payer'));
  const sold = lost.payments.slice(-SOLD);
  await lost.network.stop();
  await rm(folder, { recursive: true });
  await rename(copy, folder);
  lost.network = await startCell(1);
  await until('the balancer', () => answers(lost));
  for (const payment of sold) {
    const result = await until(`payment ${payment}`, async () => {
      const { status, body } = await merchantOf(lost).get(`/payments/${payment}`);
      return status === 200 ? body : null;
    });
    assert.equal(result.recovered, true, JSON.stringify(result));
  }
  await sell(other, present(payers[1], 'payer of cell 1'));
  await until('sales in the cell that lost', async () => {
    await sell(lost, present(payers[0], 'payer of cell 0'));
    return true;
  });
  assert.equal(await checkBalance(other), before.other + 1);
  assert.equal(await checkBalance(lost), before.lost + SOLD + 1);
  t.diagnostic(`${before.other + before.lost + SOLD + 2} payments, every atom in its cell`);
});
