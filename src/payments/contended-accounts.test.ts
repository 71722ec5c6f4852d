import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { ContendedAccounts } from '#payments/contended-accounts.ts';
import type { CreateRequest } from '#payments/create-request.ts';
import { openStore, type TestStore } from '#testing/store.ts';
import { newCreate } from '#testing/store-payments.ts';

let store: TestStore;
let nowMs = 0;
let accounts: ContendedAccounts;
before(async () => {
  store = await openStore();
});
beforeEach(() => {
  accounts = new ContendedAccounts(() => nowMs);
});
after(() => store.close());

/** How long the account is left alone after a try in vain. */
function pauseAfter(request: CreateRequest): number {
  accounts.note(request, { inVain: true });
  const begun = nowMs;
  while (accounts.has(request)) nowMs++;
  return nowMs - begun;
}

test('each try in vain makes the pause twice as long, up to 3.2 s', () => {
  const request = newCreate(store);
  const pauses = Array.from({ length: 8 }, () => pauseAfter(request));
  assert.deepEqual(pauses, [50, 100, 200, 400, 800, 1_600, 3_200, 3_200]);
});

test('each try that succeeds makes the next pause a tenth shorter, down to 50 ms', () => {
  const request = newCreate(store);
  for (let n = 0; n < 4; n++) pauseAfter(request);
  accounts.note(request, { inVain: false });
  assert.equal(accounts.has(request), false);
  assert.equal(pauseAfter(request), 720);
  for (let n = 0; n < 33; n++) accounts.note(request, { inVain: false });
  assert.equal(pauseAfter(request), 50);
});

test('tries of which every second succeeds make the pause longer, not shorter', () => {
  const request = newCreate(store);
  for (let n = 0; n < 10; n++) {
    pauseAfter(request);
    accounts.note(request, { inVain: false });
  }
  assert.ok(pauseAfter(request) > 1_600);
});

test('a pause is not shortened by what succeeded before it', () => {
  const request = newCreate(store);
  accounts.note(request, { inVain: true });
  accounts.note(request, { inVain: false });
  assert.ok(accounts.has(request));
});

test('a batch is waited for by the accounts of its requests, and by no other', async () => {
  const work = Promise.withResolvers<void>();
  const tracked = accounts.track([newCreate(store)], work.promise);
  let isUnlocked = false;
  const unlocked = accounts.untilUnlocked(newCreate(store)).then(() => {
    isUnlocked = true;
  });
  await accounts.untilUnlocked({ ...newCreate(store), standing: neighbour() });
  assert.equal(isUnlocked, false);
  work.resolve();
  await Promise.all([tracked, unlocked]);
});

test('of very many accounts, those that were seen last are remembered', () => {
  const request = (n: number) => {
    const { standing } = store;
    const tenant = { ...standing.tenant, accountId: `acct_${n}` };
    return newCreate(store, {}, { standing: { ...standing, tenant } });
  };
  for (let n = 0; n <= 10_000; n++) accounts.note(request(n), { inVain: true });
  assert.ok(accounts.has(request(1)));
  assert.equal(accounts.has(request(0)), false);
});

function neighbour(): CreateRequest['standing'] {
  const { standing } = store;
  return { ...standing, tenant: { ...standing.tenant, accountId: 'acct_neighbour' } };
}
