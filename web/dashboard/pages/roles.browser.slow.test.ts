import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '#core/clock.ts';
import { addMember, PASSWORD } from '#testkit/apis/people.ts';
import { DESKTOP, PHONE, type TestWindow } from '../../testing/browser.ts';
import { payAt, signInAt } from '../../testing/desk.ts';
import { ownStage } from '../../testing/stage.ts';

/** Tests the pages and buttons that each role sees, with one colleague per role. */

let payment = '';

const stage = ownStage(async ({ sandbox, db }) => {
  for (const role of ['viewer', 'member', 'admin'] as const) {
    const email = `${role}@roles.test`;
    await addMember({ db, clock: systemClock }, { email, accountId: sandbox.account, role });
  }
  const { terminal } = sandbox.test;
  ({ payment } = await payAt(sandbox, { terminal, amount: 2_500_000 }));
});

type Role = 'viewer' | 'member' | 'admin';

async function signInWith(window: TestWindow, role: Role): Promise<void> {
  const { sandbox } = stage();
  const person = { ...sandbox.dashboard, email: `${role}@roles.test`, password: PASSWORD };
  await signInAt(window, { sandbox: { ...sandbox, dashboard: person }, path: 'dashboard' });
  // The colleague also owns another account, so choose the shared one.
  await window.page.getByLabel('Account', { exact: true }).selectOption(sandbox.account);
}

async function open(window: TestWindow, path: string): Promise<void> {
  const { page } = window;
  await page.goto(`${stage().sandbox.web_url}/dashboard/${path}`);
  await page.getByRole('heading', { level: 1 }).waitFor();
  await window.idle();
}

interface Place {
  readonly path: string;
  /** Buttons that need a role, each with the lowest role that sees it. */
  readonly buttons: Readonly<Record<string, Role | 'owner'>>;
  /** The role that the page needs. Users with a lower role see an explanation. */
  readonly needs?: 'admin';
}

const PLACES: readonly Place[] = [
  { path: 'terminals', buttons: { 'Add terminal': 'admin' } },
  { path: 'catalog', buttons: { 'Add item': 'admin' } },
  { path: 'webhooks', buttons: { 'Add endpoint': 'admin' } },
  { path: 'api-keys', buttons: { 'Create API key': 'admin' }, needs: 'admin' },
  { path: 'team', buttons: { Invite: 'owner', Remove: 'owner' } },
  {
    path: 'settings',
    buttons: {
      ...{ Save: 'admin', 'Save prices': 'admin', 'Add tax rate': 'admin' },
      'Save receipt details': 'admin',
    },
  },
  { path: 'risk-rules', buttons: { Save: 'admin', Block: 'admin' } },
  { path: 'balance', buttons: { Withdraw: 'owner', 'Change wallet': 'owner' } },
  { path: 'verification', buttons: {}, needs: 'admin' },
  { path: 'audit-log', buttons: {}, needs: 'admin' },
];

const RANKS = ['viewer', 'member', 'admin', 'owner'];

function mayUse(role: Role, needed: Role | 'owner'): boolean {
  return RANKS.indexOf(role) >= RANKS.indexOf(needed);
}

async function checkPlace(window: TestWindow, role: Role, target: Place): Promise<void> {
  const { page } = window;
  await open(window, target.path);
  const isRefused = target.needs !== undefined && !mayUse(role, target.needs);
  const said = await page.getByText(`This requires the ${target.needs ?? ''}`).count();
  assert.equal(said > 0, isRefused, `${target.path}: the page says why it is empty`);
  for (const [name, needed] of Object.entries(target.buttons)) {
    const count = await page.getByRole('button', { name, exact: true }).count();
    assert.equal(count > 0, mayUse(role, needed), `${target.path}: ${name}`);
  }
}

for (const { role, options } of [
  { role: 'viewer', options: PHONE },
  { role: 'member', options: DESKTOP },
  { role: 'admin', options: DESKTOP },
] as const) {
  test(`the role ${role} sees its own actions enabled, and why others are not`, async () => {
    const window = await stage().browser.open(options);
    const { page } = window;
    await signInWith(window, role);
    for (const target of PLACES) await checkPlace(window, role, target);
    await open(window, `payments/${payment}`);
    await page.getByText('In your ledger').waitFor();
    const refunds = await page.getByRole('button', { name: /^Refund/ }).count();
    assert.equal(refunds > 0, role !== 'viewer', 'a member refunds, a viewer does not');
    await window.checkAccessibility();
    await window.closeClean();
  });
}
