import '../testing/texts.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Answer } from '../data/api.ts';
import type { PayerRequest, Wallet } from '../data/payer-api.ts';
import {
  type Approval,
  type ApprovalEvent,
  NEW_APPROVAL,
  nextApproval,
} from './approval-machine.ts';

const REQUEST: PayerRequest = {
  id: 'apv_1',
  object: 'approval',
  livemode: false,
  network: 'testnet',
  status: 'pending',
  failure_code: null,
  failure_message: null,
  tx_hash: null,
  created: '2026-11-20T12:00:00.000Z',
  updated: '2026-11-20T12:00:00.000Z',
};

const SIGNED = {
  nonces: { permit: 3, policy: 5 },
  body: { permit: { value: 1, deadline: 2, signature: '0x' } },
};
const WITH_POLICY = {
  ...SIGNED,
  body: {
    policy: {
      per_payment: 1,
      per_period: 1,
      period_seconds: 86_400,
      expires_at: 9,
      max_fee_rate: 100,
      deadline: 2,
      signature: '0x',
    },
  },
};

const request = (status: PayerRequest['status'], id = 'apv_1') => ({ ...REQUEST, status, id });
const done = (status: PayerRequest['status']): Answer<PayerRequest> => ({
  is: 'done',
  value: request(status),
  status: 201,
  serverTime: null,
});
const refused = (code: string, status = 400): Answer<PayerRequest> => ({
  is: 'refused',
  status,
  error: { type: 'x', code, message: `because of ${code}`, param: null, request_id: 'req_1' },
});
const answered = (answer: Answer<PayerRequest>): ApprovalEvent => ({ type: 'answered', answer });
const wallet = (permit: number, policy: number): ApprovalEvent => ({
  type: 'wallet',
  wallet: { nonces: { permit, policy } } as Wallet,
});

const signing: Approval = { at: 'signing' };
const sending = (sends: number, part: object = {}): Approval =>
  ({ at: 'sending', signed: SIGNED, sends, refusal: null, ...part }) as Approval;
const waiting: Approval = { at: 'waiting', signed: SIGNED, request: 'apv_1' };

function shown(flow: Approval): string {
  if (flow.at === 'editing') return flow.problem === null ? 'editing' : `editing: ${flow.problem}`;
  if (flow.at === 'sending' && flow.refusal !== null) return 'sending, refused';
  return flow.at;
}

test('every event in every state', () => {
  const failed = 'editing: The transaction failed on the chain. Nothing has changed. Try again.';
  const notSent = 'editing: Not sent: there is no connection. Nothing has changed.';
  const table: readonly (readonly [string, Approval, ApprovalEvent, string])[] = [
    ['clicked', NEW_APPROVAL, { type: 'submit' }, 'signing'],
    ['clicked twice', signing, { type: 'submit' }, 'signing'],
    ['clicked while it is on its way', sending(1), { type: 'submit' }, 'sending'],
    ['wrong password', signing, { type: 'not_signed', problem: 'wrong' }, 'editing: wrong'],
    ['signed', signing, { type: 'signed', signed: SIGNED }, 'sending'],
    ['signed too late', NEW_APPROVAL, { type: 'signed', signed: SIGNED }, 'editing'],
    ['done at once', sending(1), answered(done('succeeded')), 'done'],
    ['the chain is slow', sending(1), answered(done('pending')), 'waiting'],
    ['the chain refuses', sending(1), answered(done('failed')), failed],
    [
      'refused',
      sending(1),
      answered(refused('parameter_invalid')),
      'editing: because of parameter_invalid',
    ],
    [
      'another is on its way',
      sending(1),
      answered(refused('unexpected_state', 409)),
      'editing: because of unexpected_state',
    ],
    ['our own is on its way', sending(2), answered(refused('unexpected_state', 409)), 'sending'],
    [
      'refused after a lost answer',
      sending(2),
      answered(refused('parameter_invalid')),
      'sending, refused',
    ],
    ['no connection', sending(1), answered({ is: 'not_sent' }), notSent],
    ['no connection after a lost answer', sending(2), answered({ is: 'not_sent' }), 'sending'],
    ['an unknown result', sending(1), answered({ is: 'unknown' }), 'sending'],
    ['the service fails', sending(1), answered(refused('internal_error', 500)), 'sending'],
    ['the chain has it after all', sending(2), wallet(4, 5), 'done'],
    ['the chain does not have it', sending(2), wallet(3, 5), 'sending'],
    ['another nonce has moved', sending(2, { signed: WITH_POLICY }), wallet(4, 5), 'sending'],
    ['its policy is there', sending(2, { signed: WITH_POLICY }), wallet(3, 6), 'done'],
    [
      'refused, and the chain does not have it',
      sending(2, { refusal: 'why' }),
      wallet(3, 5),
      'editing: why',
    ],
    ['refused, and the chain has it', sending(2, { refusal: 'why' }), wallet(4, 5), 'done'],
    ['it arrives', waiting, { type: 'seen', request: request('succeeded') }, 'done'],
    ['it is still on its way', waiting, { type: 'seen', request: request('pending') }, 'waiting'],
    ['it fails', waiting, { type: 'seen', request: request('failed') }, failed],
    [
      'another one arrives',
      waiting,
      { type: 'seen', request: request('succeeded', 'apv_2') },
      'waiting',
    ],
    ['an answer after the end', { at: 'done' }, answered({ is: 'unknown' }), 'done'],
  ];
  for (const [name, before, event, after] of table) {
    assert.equal(shown(nextApproval(before, event)), after, name);
  }
});

test('each broadcast is counted, so that a refusal is interpreted correctly', () => {
  const once = nextApproval(sending(0), { type: 'sent' });
  assert.deepEqual(nextApproval(once, { type: 'sent' }), sending(2));
});
