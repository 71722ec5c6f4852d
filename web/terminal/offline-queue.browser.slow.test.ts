import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import type { PrivateKeyAccount } from 'viem/accounts';
import { present } from '#core/assert.ts';
import { setLimits, WIDE_LIMITS } from '#testkit/apis/offline-sales.ts';
import { eventually } from '#testkit/fixtures/webhooks/webhooks.ts';
import { toBase32 } from '../data/base32.ts';
import { fromHex, type Hex, randomBytes, toHex } from '../data/bytes.ts';
import { offlineMessage, offlineNonce, readRequest } from '../data/offline-request.ts';
import { openDevice } from '../testing/browser.ts';
import { setClock } from '../testing/clock.ts';
import {
  grantStorage,
  heldSales,
  nonceIn,
  type OfflineWindow,
  offlineControls,
  openOfflineTill,
  putSales,
  signRequest,
  startOfflineTill,
  toKeypad,
} from '../testing/offline.ts';
import { fundedAccount } from '../testing/payer.ts';
import { ownStage } from '../testing/stage.ts';
import { addTestTerminal, paymentsOf } from '../testing/till.ts';
import type { HeldSale } from './offline/held-sales.ts';

const stage = ownStage();

async function acceptOne(till: OfflineWindow, wallet: PrivateKeyAccount): Promise<string> {
  const answer = await till.sellTo(wallet, '2.00');
  await till.newPayment.click();
  return answer;
}

/** Waits until the till has forwarded everything and `count` sales are paid. */
async function forwards(till: Pick<OfflineWindow, 'page' | 'terminal'>, count: number) {
  const { sandbox } = stage();
  const ask = async () => {
    await till.page.waitForTimeout(250);
    const paid = await paymentsOf(sandbox, till.terminal);
    return paid.length >= count && paid;
  };
  const sales = await eventually(`${count} sales are paid`, ask, 60_000);
  await till.page.getByText(/^\d+ sales? waits?$/).waitFor({ state: 'hidden' });
  assert.equal(sales.length, count);
  return sales;
}

/**
 * Returns the bytes as text in every encoding that a page could use, without the ends, which vary.
 */
function codingsOf(bytes: Uint8Array<ArrayBuffer>): readonly string[] {
  // In base64 and base32, the letters depend on the offset of the first byte.
  const shifted = [0, 1, 2, 3, 4].map((by) => bytes.slice(by));
  return [
    Buffer.from(bytes).toString('hex'),
    [...bytes].join(','),
    ...shifted.map((part) => Buffer.from(part).toString('base64').slice(0, -4)),
    ...shifted.map((part) => Buffer.from(part).toString('base64url').slice(0, -4)),
    ...shifted.map((part) => toBase32(part).slice(0, -2)),
  ];
}

/** Returns a secret's text, and its bytes in every encoding. */
function spellingsOf(secret: string): readonly string[] {
  const text = Buffer.from(secret);
  const bytes = secret.startsWith('0x') ? fromHex(secret as Hex) : null;
  const plain = secret.replace(/^0x/, '');
  return [plain, ...codingsOf(Uint8Array.from(text)), ...(bytes === null ? [] : codingsOf(bytes))];
}

/** Returns everything that this origin stores, as text and as the hex of its bytes. */
function stored(page: Page): Promise<string> {
  return page.evaluate(async () => {
    const seen: string[] = [JSON.stringify(localStorage), JSON.stringify(sessionStorage)];
    const write = (value: unknown): string => {
      if (value instanceof ArrayBuffer || ArrayBuffer.isView(value)) {
        const bytes = new Uint8Array(ArrayBuffer.isView(value) ? value.buffer : value);
        const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
        return `${hex} ${new TextDecoder('latin1').decode(bytes)}`;
      }
      if (value instanceof CryptoKey) return `key, extractable: ${value.extractable}`;
      if (typeof value === 'object' && value !== null) {
        return Object.entries(value)
          .map(([name, one]) => `${name}: ${write(one)}`)
          .join('\n');
      }
      return String(value);
    };
    for (const { name = '' } of await indexedDB.databases()) {
      const database = await new Promise<IDBDatabase>((resolve) => {
        const opening = indexedDB.open(name);
        opening.onsuccess = () => resolve(opening.result);
      });
      for (const store of database.objectStoreNames) {
        const all = database.transaction(store).objectStore(store).getAll();
        await new Promise((resolve) => {
          all.onsuccess = resolve;
        });
        seen.push(store, ...all.result.map(write));
      }
      database.close();
    }
    return seen.join('\n');
  });
}

test('a till’s storage reveals neither its device key nor customers’ signatures', async () => {
  const { sandbox } = stage();
  const wallet = await fundedAccount(sandbox, 10_000_000n);
  const till = await openOfflineTill(stage());
  const { page } = till;
  await till.cut();
  const answer = await acceptOne(till, wallet);
  const all = (await stored(page)).toLowerCase();
  const held = present((await heldSales(page))[0], 'the sale');
  const { deviceKey } = till.terminal;
  const secrets = [deviceKey, answer, held.signature ?? '', wallet.address];
  for (const text of secrets.flatMap(spellingsOf)) {
    assert.ok(text.length >= 16, text);
    assert.ok(!all.includes(text.toLowerCase()), text);
  }
  // Proves that the search works: it finds the nonce, which is stored but not secret.
  assert.ok(spellingsOf(held.nonce).some((text) => all.includes(text.toLowerCase())));
  assert.match(all, /key, extractable: false/);
  assert.match(all, /sales/, 'the sale is there');
  await till.close();
});

test('a till that is paired again, or whose shift has ended, forwards its sales', async () => {
  const { sandbox } = stage();
  const wallet = await fundedAccount(sandbox, 10_000_000n);
  const till = await openOfflineTill(stage());
  const { page } = till;
  await till.cut();
  await acceptOne(till, wallet);
  await page.getByRole('link', { name: 'Totals' }).click();
  await page.getByRole('button', { name: 'End shift' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('1 sale waits', { exact: true }).waitFor();
  assert.equal(await page.getByText('1 sale waits', { exact: true }).count(), 1);
  await till.checkAccessibility();
  await dialog.getByRole('button', { name: 'End shift' }).click();
  await page.getByText('1 sale waits', { exact: true }).waitFor();
  // The device key becomes invalid when a new pairing code is used.
  const code = await till.terminal.pairingCode();
  await fetch(`${sandbox.base_url}/device/v1/pair`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ code }),
  });
  await till.context.setOffline(false);
  await page.getByText('This device is no longer paired').waitFor();
  await page.getByText('1 sale waits', { exact: true }).waitFor();
  assert.equal((await paymentsOf(sandbox, till.terminal)).length, 0);
  await page.goto(`${sandbox.web_url}/terminal#pair=${await till.terminal.pairingCode()}`);
  await page.reload();
  await page.getByRole('button', { name: /^Pair/ }).click();
  await page.getByRole('button', { name: /^Start shift/ }).waitFor();
  await forwards(till, 1);
  await till.close();
});

test('a clock that is wrong by a day changes neither a sale’s time nor its validity', async () => {
  const { sandbox } = stage();
  const wallet = await fundedAccount(sandbox, 10_000_000n);
  const day = 24 * 3_600_000;
  // With the longest validity, one more day would exceed the service's 72 hours.
  const limits = { ...WIDE_LIMITS, hours: 72 };
  for (const offsetMs of [day, -day]) {
    const prepare = ({ page }: { readonly page: Page }) => setClock(page, offsetMs);
    const till = await openOfflineTill(stage(), { prepare, limits });
    await till.cut();
    await till.page.reload();
    await till.amount.waitFor();
    await till.page.getByText('Offline', { exact: true }).waitFor();
    await acceptOne(till, wallet);
    const [held] = await heldSales(till.page);
    const hoursLeft = ((held?.validBefore ?? 0) - Date.now() / 1_000) / 3_600;
    assert.ok(hoursLeft > 70 && hoursLeft < 72, `valid for ${hoursLeft} hours`);
    const late = Math.abs(Date.parse(held?.acceptedAt ?? '') - Date.now());
    assert.ok(late < 60_000, `accepted ${late} ms from now`);
    await till.context.setOffline(false);
    const [paid] = await forwards(till, 1);
    assert.equal(paid?.status, 'succeeded', `${offsetMs}`);
    await till.close();
  }
});

test('a full disk accepts nothing, and loses nothing', async () => {
  const { sandbox } = stage();
  const wallet = await fundedAccount(sandbox, 10_000_000n);
  const till = await openOfflineTill(stage());
  const { page, context } = till;
  await till.cut();
  await acceptOne(till, wallet);
  const request = await till.request('3.00');
  const session = await context.newCDPSession(page);
  const { origin } = new URL(page.url());
  await session.send('Storage.overrideQuotaForOrigin', { origin, quotaSize: 1 });
  await till.answer(await signRequest(wallet, request));
  await page
    .getByRole('alert')
    .filter({ hasText: /low on space|could not be stored/ })
    .waitFor();
  assert.equal(await till.result('Accepted offline').count(), 0);
  await page.getByText('1 sale waits', { exact: true }).waitFor();
  await session.send('Storage.overrideQuotaForOrigin', { origin });
  await page.keyboard.press('Enter');
  await till.result('Accepted offline').waitFor();
  await context.setOffline(false);
  const paid = await forwards(till, 2);
  assert.deepEqual(paid.map(({ amount }) => amount).toSorted(), [2_000_000, 3_000_000]);
  await till.close();
});

interface Write {
  readonly stores: string[];
  readonly durability: string;
  isDone: boolean;
}

/** Records how the page writes to its database, and when each write was on the disk. */
function watchWrites(): void {
  const writes: Write[] = [];
  Object.assign(globalThis, { writes });
  const { transaction } = IDBDatabase.prototype;
  IDBDatabase.prototype.transaction = function (...parts) {
    const made = transaction.apply(this, parts);
    if (made.mode === 'readwrite') {
      const stores = [...made.objectStoreNames];
      const write = { stores, durability: made.durability, isDone: false };
      writes.push(write);
      made.addEventListener('complete', () => {
        write.isDone = true;
      });
    }
    return made;
  };
}

test('a sale is shown as accepted only once it is on the disk, not in a buffer', async () => {
  const till = await openOfflineTill(stage(), {
    prepare: ({ page }) => page.addInitScript(watchWrites),
  });
  const { page } = till;
  await till.cut();
  const wallet = await fundedAccount(stage().sandbox, 10_000_000n);
  await acceptOne(till, wallet);
  const writes = await page.evaluate(() => (globalThis as unknown as { writes: Write[] }).writes);
  const ofSales = writes.filter(({ stores }) => stores.includes('sales'));
  assert.deepEqual(ofSales, [{ stores: ['sales'], durability: 'strict', isDone: true }]);
  assert.deepEqual(new Set(writes.map(({ durability }) => durability)), new Set(['strict']));
  await till.close();
});

test('a sale that was shown as accepted is still stored after the browser is killed', async () => {
  const { sandbox, db } = stage();
  const wallet = await fundedAccount(sandbox, 100_000_000n);
  const folder = await mkdtemp(path.join(tmpdir(), 'tapline-device-'));
  const terminal = await addTestTerminal(sandbox);
  await setLimits({ store: { db, terminalId: terminal.id } });
  const start = async () => {
    const device = await openDevice(folder);
    await grantStorage(device);
    return device;
  };
  let device = await start();
  let till = await startOfflineTill(device, { sandbox, terminal });
  await till.cut();
  // Chromium writes the pairing, which is in local storage, up to 5 s later.
  await till.page.waitForTimeout(8_000);
  const accepted = new Set<string>();
  for (const ms of [0, 2, 5, 10, 20, 40, 80, 160]) {
    const request = await till.request('1.00');
    await till.page
      .getByRole('textbox', { name: 'Answer' })
      .fill(await signRequest(wallet, request));
    void till.page.keyboard.press('Enter').catch(() => {});
    await till.page.waitForTimeout(ms);
    const isSaid = await till
      .result('Accepted offline')
      .isVisible()
      .catch(() => false);
    if (isSaid) accepted.add(nonceIn(request));
    await device.kill();
    device = await start();
    await device.context.setOffline(true);
    await device.page.goto(`${sandbox.web_url}/terminal`);
    till = offlineControls(device, terminal);
    await toKeypad(till);
  }
  const held = await heldSales(till.page);
  const nonces = new Set<string>(held.map(({ nonce }) => nonce));
  assert.deepEqual(
    [...accepted].filter((nonce) => !nonces.has(nonce)),
    [],
  );
  assert.ok(held.length > 0 && accepted.size > 0, `${held.length} held, ${accepted.size} said`);
  await device.context.setOffline(false);
  await forwards(till, held.length);
  await device.close();
  await rm(folder, { recursive: true, force: true });
});

test('a page that crashes while storing a sale has accepted it, or requests it again', async () => {
  const { sandbox } = stage();
  const wallet = await fundedAccount(sandbox, 10_000_000n);
  const first = await openOfflineTill(stage());
  const { terminal, context } = first;
  await first.cut();
  let till: OfflineWindow = first;
  for (const ms of [0, 15, 60]) {
    const answer = await signRequest(wallet, await till.request('1.00'));
    const field = till.page.getByRole('textbox', { name: 'Answer' });
    await field.fill(answer);
    const session = await context.newCDPSession(till.page);
    void field.press('Enter').catch(() => {});
    await new Promise((resolve) => setTimeout(resolve, ms));
    const crashed = till.page.waitForEvent('crash');
    // A crashed page never responds.
    void session.send('Page.crash').catch(() => {});
    await crashed;
    await till.page.close();
    const page = await context.newPage();
    // The permission for persistent storage ended with the page for which the test had granted it.
    await grantStorage({ context, page });
    await page.goto(`${sandbox.web_url}/terminal`);
    till = offlineControls({ ...first, page }, terminal);
    const asks = page.getByRole('textbox', { name: 'Answer' });
    await till.result('Accepted offline').or(asks).first().waitFor();
    if (await asks.isVisible()) await till.answer(answer);
    await till.result('Accepted offline').waitFor();
    await till.newPayment.click();
  }
  await till.page.getByText('3 sales wait', { exact: true }).waitFor();
  await context.setOffline(false);
  await forwards(till, 3);
  await first.close();
});

test('two tabs never forward at the same time: the second waits for the answer', async () => {
  const { sandbox } = stage();
  const wallet = await fundedAccount(sandbox, 10_000_000n);
  const till = await openOfflineTill(stage());
  const { page, context } = till;
  await till.cut();
  await acceptOne(till, wallet);
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  await page.route('**/offline_payments', async (route) => {
    await held;
    await route.continue();
  });
  const first = page.waitForRequest('**/offline_payments');
  await context.setOffline(false);
  await first;
  const other = await context.newPage();
  let sent = 0;
  other.on('request', (request) => {
    if (request.url().endsWith('/offline_payments')) sent += 1;
  });
  await other.goto(`${sandbox.web_url}/terminal`);
  await other.getByRole('button', { name: /^Use it here/ }).click();
  await other.getByText('1 sale waits', { exact: true }).waitFor();
  // The other tab has started with its queue. Without the lock it would forward within half a
  // second.
  await other.waitForTimeout(3_000);
  assert.equal(sent, 0, 'both tabs forward');
  release();
  await forwards({ page: other, terminal: till.terminal }, 1);
  await till.close();
});

/** Signs sales of 1.00 by this many wallets, in the form in which the till stores them. */
async function signSales(
  till: OfflineWindow,
  { count, wallets: many }: { readonly count: number; readonly wallets: number },
): Promise<readonly HeldSale[]> {
  const wallets = await Promise.all(
    Array.from({ length: many }, () => fundedAccount(stage().sandbox, 50_000_000n)),
  );
  const read = readRequest(await till.request('1.00'));
  await till.cancel.click();
  assert.ok(typeof read !== 'string');
  return Promise.all(
    Array.from({ length: count }, async (_, at) => {
      const wallet = present(wallets[at % wallets.length], 'a wallet');
      const request = { ...read, salt: toHex(randomBytes(32)) };
      const message = offlineMessage(request, wallet.address);
      return {
        nonce: offlineNonce(request),
        from: wallet.address,
        amount: Number(request.amount),
        value: Number(request.value),
        validBefore: request.validBefore,
        salt: request.salt,
        signature: await wallet.signTypedData(message),
        acceptedAt: new Date(Date.now() + at).toISOString(),
        lineItems: null,
        state: { is: 'waits' },
      } as const;
    }),
  );
}

test('50 sales, cut off every 100 ms, and 10 more, from two tabs: 60 payments', async () => {
  const { sandbox, db } = stage();
  const till = await openOfflineTill(stage());
  const { page, context } = till;
  await till.cut();
  const sales = await signSales(till, { count: 60, wallets: 6 });
  await putSales(page, sales.slice(0, 50));
  await page.reload();
  await page.getByText('50 sales wait', { exact: true }).waitFor();
  let isOver = false;
  const cutting = (async () => {
    for (let isOffline = false; !isOver; isOffline = !isOffline) {
      await context.setOffline(isOffline);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    await context.setOffline(false);
  })();
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  await putSales(page, sales.slice(50));
  const other = await context.newPage();
  await other.goto(`${sandbox.web_url}/terminal`).catch(() => other.reload());
  await other.getByRole('button', { name: /^Use it here/ }).click();
  await page.getByText('The till is open in another window').waitFor();
  await new Promise((resolve) => setTimeout(resolve, 3_000));
  isOver = true;
  await cutting;
  await forwards({ page: other, terminal: till.terminal }, 60);
  const settled = await db.query<{ objects: bigint; settled: bigint }>(
    `select count(*) objects, count(distinct payment_id) settled from offline_payments
     where terminal_id = $1 and status = 'succeeded'`,
    [till.terminal.id],
  );
  assert.deepEqual(settled, [{ objects: 60n, settled: 60n }]);
  const all = await db.query<{ total: bigint }>(
    'select count(*) total from offline_payments where terminal_id = $1',
    [till.terminal.id],
  );
  assert.deepEqual(all, [{ total: 60n }]);
  await till.close();
});

test('100 sales with 5 lines each, more than one body may hold, are all forwarded', async () => {
  const till = await openOfflineTill(stage());
  const { page, context } = till;
  await till.cut();
  const line = {
    name: 'Flat white, large, oat milk',
    quantity: 1,
    unit_amount: 200_000,
    tax_rate: 0,
    tax_inclusive: true,
    discount: 0,
  };
  const lineItems = Array.from({ length: 5 }, () => line);
  const sales = await signSales(till, { count: 100, wallets: 6 });
  await putSales(
    page,
    sales.map((sale) => ({ ...sale, lineItems })),
  );
  await page.reload();
  await page.getByText('100 sales wait', { exact: true }).waitFor();
  await context.setOffline(false);
  await page.getByText(/^\d+ sales? waits?$/).waitFor({ state: 'hidden', timeout: 60_000 });
  const states = (await heldSales(page)).map(({ state }) => state.is);
  assert.deepEqual(states, Array(100).fill('succeeded'));
  await till.close();
});

test('a proxy’s lower size limit and refused records do not hold up other records', async () => {
  const till = await openOfflineTill(stage());
  const { page, context } = till;
  await till.cut();
  const sales = await signSales(till, { count: 6, wallets: 1 });
  // The service responds with 400 to the whole request, whatever else it contains.
  const broken = [0, 3].map((at) => ({ ...present(sales[at], 'a sale'), salt: '0x00' as Hex }));
  const unread = { is: 'unread', code: 'parameter_invalid', message: '' } as const;
  await putSales(
    page,
    sales.map(
      (sale, at) =>
        ({ ...(at === 0 ? broken[0] : at === 3 ? broken[1] : sale), state: unread }) as HeldSale,
    ),
  );
  const error = { code: 'body_too_large', message: 'Too large.', param: null };
  await page.route('**/offline_payments', (route) => {
    const { payments } = route.request().postDataJSON() as { payments: readonly object[] };
    if (payments.length <= 4) return route.continue();
    return route.fulfill({ status: 413, json: { error } });
  });
  await page.reload();
  await page.getByText('6 sales wait', { exact: true }).waitFor();
  await context.setOffline(false);
  await page.getByText('2 sales wait', { exact: true }).waitFor();
  const states = (await heldSales(page)).map(({ state }) => state.is).toSorted();
  assert.deepEqual(states, [...Array(4).fill('succeeded'), 'unread', 'unread']);
  await till.close();
});

/**
 * Makes reads of stored sales fail while `isFaulty` is set, and closes connections as a fault
 * would.
 */
function breakStorage(): void {
  const { getAll } = IDBObjectStore.prototype;
  IDBObjectStore.prototype.getAll = function (...parts) {
    if ('isFaulty' in globalThis) throw new DOMException('The disk is broken.', 'UnknownError');
    return getAll.apply(this, parts);
  };
  const { transaction } = IDBDatabase.prototype;
  IDBDatabase.prototype.transaction = function (...parts) {
    Object.assign(globalThis, {
      closeDatabase: () => {
        this.close();
        this.dispatchEvent(new Event('close'));
      },
    });
    return transaction.apply(this, parts);
  };
}

test('unreadable storage hides no accepted sale, and blocks no button', async () => {
  const { sandbox } = stage();
  const wallet = await fundedAccount(sandbox, 10_000_000n);
  const till = await openOfflineTill(stage(), {
    prepare: ({ page }) => page.addInitScript(breakStorage),
  });
  const { page, context } = till;
  await till.cut();
  const request = await till.request('2.00');
  await page.evaluate(() => Object.assign(globalThis, { isFaulty: true }));
  await till.cancel.click();
  await page.getByRole('alert').filter({ hasText: 'could not check' }).waitFor();
  // The till still waits, because it does not know whether the sale was stored.
  await till.answer(await signRequest(wallet, request));
  await till.result('Accepted offline').waitFor();
  await page.getByText('1 sale waits', { exact: true }).waitFor();
  await till.newPayment.click();
  await page.evaluate(() => {
    Reflect.deleteProperty(globalThis, 'isFaulty');
    (globalThis as unknown as { closeDatabase: () => void }).closeDatabase();
  });
  await acceptOne(till, wallet);
  await context.setOffline(false);
  await forwards(till, 2);
  await till.close();
});
