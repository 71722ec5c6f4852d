import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import type { Device } from '../data/device-api.ts';
import { becomeAnew, forgetMerchant, isSameMerchant, type Target } from './pair-device.ts';
import { NEW_TILL } from './till-phases.ts';
import { keepPairing, keepSettings, keepTill, keptSettings, keptTill } from './till-storage.ts';

/** Replaces the page's localStorage. */
const kept = new Map<string, string>();
Object.assign(globalThis, {
  localStorage: {
    getItem: (name: string) => kept.get(name) ?? null,
    setItem: (name: string, text: string) => kept.set(name, text),
    removeItem: (name: string) => kept.delete(name),
  },
});

beforeEach(() => kept.clear());

function device(id: string, merchant: string): Device {
  return { id, merchant_name: merchant } as Device;
}

function changeTo(id: string, merchant: string, from: Device | null) {
  const to: Target = { code: '', device: device(id, merchant), byFreshFactor: false };
  return { pairing: { key: '', terminal: 'tml_own' }, from, to };
}

test('a till that moves to another merchant keeps neither PIN nor cashier nor shift', () => {
  const now = device('tml_own', 'Blue Door');
  assert.ok(isSameMerchant(changeTo('tml_own', 'Blue Door', now)), 'a new key of the same');
  assert.ok(isSameMerchant(changeTo('tml_next', 'Blue Door', now)), 'the counter beside it');
  assert.ok(!isSameMerchant(changeTo('tml_next', 'Somebody Else', now)));
  assert.ok(
    !isSameMerchant(changeTo('tml_next', 'Blue Door', null)),
    'the previous merchant is unknown',
  );
  const pin = { salt: 's', hash: 'h' };
  const shiftSince = '2026-10-01T08:00:00.000Z';
  const printer = { width: 32, drawer: true } as const;
  const own = { sound: false, display: true, printer };
  const shift = { shiftSince, ending: 'key', ended: 'shift_own' };
  keepSettings({ ...keptSettings(), pin, locked: true, cashier: 'Ada', ...shift, ...own });
  forgetMerchant();
  const { sound, display, printer: kept, ...rest } = keptSettings();
  assert.deepEqual({ sound, display, printer: kept }, own, 'what is the device’s own stays');
  const nothing = {
    ...{ cashier: '', asksForTips: false, pin: null, locked: false, person: null },
    ...{ shiftSince: null, ending: null, ended: null },
  };
  assert.deepEqual(rest, nothing);
});

test('held carts stay in the shop and its mode, even if the old key has ended', async () => {
  const now = { ...device('tml_own', 'Blue Door'), livemode: false };
  const next = (merchant: string, livemode = false) => ({
    ...{ code: 'tldk_test_next', byFreshFactor: false },
    device: { ...device('tml_next', merchant), livemode },
  });
  const way = { way: 'typed', hasPin: false, hasOpenPayment: false } as const;
  for (const [from, to, stays] of [
    [now, next('Blue Door'), true],
    [null, next('Blue Door'), true],
    [now, next('Blue Door', true), false],
    [now, next('Green Door'), false],
    [null, next('Green Door'), false],
  ] as const) {
    kept.clear();
    const pairing = { key: 'tldk_test_own', terminal: 'tml_own' };
    await keepPairing(pairing);
    const held = { shop: 'Blue Door', carts: [] };
    keepTill({ ...NEW_TILL, cart: { currency: null, lines: [], discount: 0 }, held });
    assert.equal(await becomeAnew({ pairing, from, to, ...way }), null);
    const till = keptTill();
    assert.equal(till.cart, null, 'the open cart goes');
    assert.deepEqual(till.held ?? null, stays ? held : null);
  }
});
