import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  classifyRefusal,
  type RefusalKind,
  retryAfterMs,
  unwrapRevert,
} from '#settlement/chain/rpc/node-refusals.ts';
import { REVERTS } from '#testkit/network/reverts.ts';

type Case = readonly [RefusalKind, string, number, string, number?];

/** Responses of providers and nodes, verbatim: kind, method, code, text, HTTP status. */
const CASES: readonly Case[] = [
  ['answer', 'eth_call', 3, 'execution reverted: ERC20: transfer amount exceeds balance'],
  ['answer', 'eth_call', -32_000, 'execution reverted'],
  ['answer', 'eth_call', 3, 'execution reverted: rate limit of this pool'],
  [
    'answer',
    'eth_estimateGas',
    -32_603,
    "Error: VM Exception while processing transaction: reverted with custom error 'Paused()'",
  ],
  ['answer', 'eth_sendRawTransaction', -32_000, 'already known'],
  ['answer', 'eth_sendRawTransaction', -32_000, 'nonce too low: next nonce 8, tx nonce 7'],
  ['answer', 'eth_sendRawTransaction', -32_000, 'replacement transaction underpriced'],
  ['answer', 'eth_sendRawTransaction', -32_003, 'insufficient funds for gas * price + value'],
  ['answer', 'eth_sendRawTransaction', -32_010, 'FeeTooLow, MaxFeePerGas too low'],
  [
    'unknown',
    'eth_sendRawTransaction',
    -32_000,
    'invalid sender: invalid chain id for signer: have 31400 want 1',
  ],
  // Working nodes do not return this, so it counts as unknown.
  ['unknown', 'eth_call', 3, 'execution reverted', 500],
  ['limit', 'eth_call', -32_029, 'Too Many Requests'],
  ['limit', 'eth_call', -32_007, '15/second request limit reached'],
  ['limit', 'eth_call', -32_005, 'daily request count exceeded, request rate limited'],
  ['limit', 'eth_call', -32_016, 'over rate limit'],
  ['limit', 'eth_call', -32_097, 'cool down'],
  ['limit', 'eth_call', 429, 'Your app has exceeded its compute units per second capacity.'],
  ['limit', 'eth_call', -32_000, 'server overloaded'],
  ['limit', 'eth_call', 30, 'Request timeout on the free tier'],
  ['limit', 'eth_call', 0, '', 429],
  ['access', 'eth_call', -32_000, 'your plan has ended', 401],
  ['access', 'eth_call', -32_600, 'Must be authenticated!'],
  ['access', 'eth_call', -32_000, 'invalid project id'],
  ['access', 'eth_blockNumber', 3, 'execution reverted', 403],
  ['unknown', 'eth_call', -32_603, 'Internal error'],
  ['unknown', 'eth_call', -31_337, 'an unknown refusal'],
  ['unknown', 'eth_call', -32_603, 'Internal error', 502],
  ['missing', 'eth_call', -32_001, 'Resource not found'],
  ['missing', 'eth_call', -32_000, 'header not found'],
  ['missing', 'eth_getBlockByNumber', -39_001, 'Unknown block'],
  ['missing', 'eth_call', -32_000, 'missing trie node 8f3a (path ) state 0x is not available'],
  ['missing', 'eth_getLogs', -32_000, 'block range extends beyond current head block'],
  ['unsupported', 'eth_getBlockByNumber', -32_000, 'finalized block not found'],
  ['unsupported', 'eth_feeHistory', -32_601, 'Method not found'],
  ['unsupported', 'eth_feeHistory', -32_000, 'the method eth_feeHistory does not exist'],
  ['range', 'eth_getLogs', -32_614, 'eth_getLogs is limited to a 10,000 range'],
  ['range', 'eth_getLogs', 35, 'ranges over 10000 blocks are not supported on freetier'],
  ['range', 'eth_getLogs', -32_000, 'exceed maximum block range: 50000'],
  ['range', 'eth_getLogs', -32_602, 'query exceeds max block range 100000'],
  [
    'range',
    'eth_getLogs',
    -32_600,
    'Under the Free tier plan, you can make eth_getLogs requests with up to a 10 block range.',
  ],
  ['results', 'eth_getLogs', -32_005, 'query returned more than 10000 results'],
  ['results', 'eth_getLogs', -32_602, 'Log response size exceeded. … this range should work'],
  ['results', 'eth_getLogs', -32_602, 'query exceeds max results 20000, retry with the range 1-2'],
  ['batch', 'eth_call', 31, 'Batch of more than 3 requests are not allowed on free tier'],
  ['batch', 'eth_call', -32_600, 'batch too large'],
];

describe("the meaning of a node's refusal", () => {
  for (const [kind, method, code, message, status = 200] of CASES) {
    it(`${kind}: ${method}, HTTP ${status}, ${code}, "${message}"`, () => {
      assert.equal(classifyRefusal({ method, status, code, message }), kind);
    });
  }

  it('is not about the chain if its text does not mention the chain', () => {
    for (const method of ['eth_call', 'eth_estimateGas', 'eth_getLogs', 'eth_getBalance']) {
      for (const code of [-32_000, -32_603, -32_700, 0, 1, 2, 4, 500]) {
        const said = { method, status: 200, code, message: 'upstream connect error' };
        assert.notEqual(classifyRefusal(said), 'answer');
      }
    }
  });
});

describe('a revert', () => {
  it('is recognized however a node or a gateway reports it, with its data', () => {
    for (const error of REVERTS) {
      for (const method of ['eth_call', 'eth_estimateGas']) {
        const { code, message, data } = unwrapRevert(method, { data: undefined, ...error });
        assert.equal(code, 3, JSON.stringify(error));
        assert.equal(classifyRefusal({ method, status: 200, code, message }), 'answer');
        const told = /0x[0-9a-f]{8}/.exec(JSON.stringify(error))?.[0];
        if (told !== undefined) assert.equal(data, told);
      }
    }
  });

  it('is not read into other errors, or into errors of other methods', () => {
    const wrapped = (message: string) => ({ code: -32_603, message: 'e', data: { message } });
    const errors = ['rate limited', 'VM execution error.', 'header not found'].map(wrapped);
    for (const error of errors) assert.equal(unwrapRevert('eth_call', error), error);
    const error = wrapped('execution reverted');
    assert.equal(unwrapRevert('eth_sendRawTransaction', error), error);
  });
});

describe('the pause that a node requests', () => {
  const now = Date.parse('2026-11-20T12:00:00Z');
  const nothing = { header: undefined, message: '', data: null };

  it('is read from the header, the data and the text', () => {
    assert.equal(retryAfterMs({ ...nothing, header: '7' }, now), 7_000);
    const date = 'Fri, 20 Nov 2026 12:00:30 GMT';
    assert.equal(retryAfterMs({ ...nothing, header: date }, now), 30_000);
    const data = { rate: { backoff_seconds: 2.5 } };
    assert.equal(retryAfterMs({ ...nothing, data }, now), 2_500);
    assert.equal(retryAfterMs({ ...nothing, message: 'please retry after 250ms' }, now), 250);
    assert.equal(retryAfterMs({ ...nothing, message: 'Try again in 3 seconds' }, now), 3_000);
  });

  it('is `null` if none is requested, and never more than ten minutes', () => {
    assert.equal(retryAfterMs(nothing, now), null);
    assert.equal(retryAfterMs({ ...nothing, header: 'soon' }, now), null);
    assert.equal(retryAfterMs({ ...nothing, header: '86400' }, now), 600_000);
  });
});
