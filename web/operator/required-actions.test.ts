import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Known, needsOf } from './required-actions.ts';

const TESTNET = {
  network: 'testnet',
  head: { number: '7', time: '2026-11-01T10:00:00.000Z' },
  senders: [],
  queues: [],
  alarms: [],
  daysLeft: null,
  openDifferences: 0,
};
const READ = { livemode: false, next_block: '8', updated: '2026-11-01T10:00:00.000Z' };
const QUIET: Known = {
  networks: [TESTNET],
  alarms: [],
  proposals: [],
  moreAlarms: false,
  moreDifferences: false,
  cursors: [READ],
  differences: [],
  submissions: [],
  names: [],
  work: [{ queue: 'mails', waiting: 3, oldest: '2026-11-01T10:00:00.000Z' }],
};

function whats(known: Partial<Known>): string[] {
  return needsOf({ ...QUIET, ...known }).map(({ what }) => what);
}

test('a situation that resolves itself requires no action', () => {
  assert.deepEqual(whats({}), []);
});

test('a missing measurement does not count as good', () => {
  assert.deepEqual(whats({ cursors: [] }), ['Ledger and chain have not been compared']);
  assert.deepEqual(whats({ networks: [{ ...TESTNET, head: null }] }), ['No node answers']);
});

test('the longest wait comes first, and accepted items require no action', () => {
  const difference = {
    id: '1',
    livemode: false,
    kind: 'payment_differs',
    subject: 'pi_1',
    details: {},
    first_seen: '2026-11-01T09:00:00.000Z',
    last_seen: '2026-11-01T10:00:00.000Z',
    accepted_at: null,
  };
  const alarm = {
    id: '4',
    kind: 'nonce_ahead',
    subject: 'sender 0',
    network: 'testnet' as const,
    details: {},
    created: '2026-11-01T08:00:00.000Z',
  };
  const waiting = {
    account: 'acct_1',
    name: 'Café',
    submitted_at: '2026-11-01T07:00:00.000Z',
    documents: 1,
  };
  const gone = { queue: 'mails given up', waiting: 2, oldest: '2026-11-01T09:30:00.000Z' };
  const known = {
    alarms: [alarm],
    differences: [difference, { ...difference, id: '2', accepted_at: READ.updated }],
    submissions: [waiting],
    work: [gone],
  };
  assert.deepEqual(whats(known), [
    'Verify the business Café',
    'Alarm: nonce ahead',
    'Difference: payment differs',
    '2 mails given up',
  ]);
});

test('a truncated list says so, and a colleague’s request is listed', () => {
  const proposal = {
    id: 'prop_1',
    kind: 'pause',
    network: 'mainnet',
    subject: 'mainnet',
    payload: {},
    reason: 'Strange payments.',
    status: 'open',
    proposed_by: 'otto@demo.test',
    created: '2026-11-01T08:00:00.000Z',
    expires_at: '2026-11-04T08:00:00.000Z',
    decided_by: null,
    decided_at: null,
    decision_reason: null,
  } as const;
  const known = { moreAlarms: true, moreDifferences: true, proposals: [proposal] };
  const expected = ['More alarms', 'More differences', 'Approve or reject: Pause mainnet'];
  assert.deepEqual(whats(known), expected);
});
