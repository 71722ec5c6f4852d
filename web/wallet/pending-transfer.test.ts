import '../testing/texts.ts';
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { PayerApi } from '../data/payer-api.ts';
import { pushToChain, pushToService } from './pending-transfer.ts';
import { type ChainNode, RefusedByNode } from './wallet-chain-node.ts';

const NOW = 1_795_000_000;
const OWN = '0x90F79bf6EB2c4f870365E785982E1f101E93b906';

describe('a transfer that the service refuses', () => {
  const refusal = {
    is: 'refused',
    status: 400,
    error: { message: 'Not enough: the wallet holds 0 atoms.' },
  };
  const push = (sends: number, valid_before: number) => {
    const api = { now: () => NOW * 1000, transfer: async () => refusal } as unknown as PayerApi;
    const body = { to: OWN, amount: 1_000_000, valid_before, nonce: '0x', signature: '0x' };
    return pushToService(api, { by: 'service', body, sends });
  };

  test('was never sent, if it was submitted for the first time', async () => {
    assert.equal((await push(0, NOW + 900)).is, 'failed');
  });

  test('may have been sent before, while the token would still accept it', async () => {
    assert.equal((await push(1, NOW + 900)).is, 'open');
    assert.equal((await push(1, NOW - 59)).is, 'open');
    assert.equal((await push(1, NOW - 61)).is, 'failed');
  });
});

describe('the response of a node', () => {
  type Said = Readonly<Record<string, unknown>>;
  const push = (
    sends: number,
    { send, latest = '0x0', pending = latest, receipt = null }: Said,
  ) => {
    const node: ChainNode = {
      kind: 'public_node',
      request: async ({ method, params = [] }) => {
        if (method === 'eth_getTransactionReceipt') return receipt;
        if (method === 'eth_getTransactionCount') return params[1] === 'latest' ? latest : pending;
        if (send instanceof Error) throw send;
        return send;
      },
    };
    const signed = { to: OWN, amount: 1_000_000, raw: '0x', hash: '0x', nonce: 0 } as const;
    return pushToChain(node, { by: 'wallet', ...signed, sends }, OWN);
  };
  const refused = new RefusedByNode('underpriced');

  test('ends it only if the node refused a transaction that was never broadcast', async () => {
    assert.equal((await push(0, { send: refused })).is, 'failed');
    assert.equal((await push(1, { send: refused })).is, 'open');
    assert.equal((await push(0, { send: refused, pending: '0x1' })).is, 'open', 'it has it');
    assert.equal((await push(0, { send: new TypeError('no connection') })).is, 'open');
  });

  test('is believed if it is a receipt; a missing receipt proves nothing', async () => {
    assert.equal((await push(1, { send: refused, receipt: { status: '0x1' } })).is, 'sent');
    assert.equal((await push(1, { send: refused, receipt: { status: '0x0' } })).is, 'failed');
    assert.equal((await push(1, { send: refused, latest: '0x1' })).is, 'unseen');
  });
});
