import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readBroadcastError } from '#settlement/relayer/send/sign-and-broadcast.ts';

describe("a node's answer to a broadcast", () => {
  // Error texts of geth, reth, erigon and anvil.
  const cases = {
    'already known': 'waiting',
    'transaction already imported': 'waiting',
    'nonce too low: next nonce 7, tx nonce 5': 'waiting',
    'replacement transaction underpriced': 'waiting',
    'timeout waiting for the pool': 'waiting',
    'max fee per gas less than block base fee': 'underpriced',
    'transaction underpriced: tip needed 1, tip permitted 0': 'underpriced',
    'insufficient funds for gas * price + value': 'unfunded',
    'Insufficient funds for gas * price + value': 'unfunded',
    'exceeds block gas limit': 'unsendable',
    'intrinsic gas too high -- CallGasCostMoreThanGasLimit': 'unsendable',
    'intrinsic gas too low': 'unsendable',
  };
  for (const [text, verdict] of Object.entries(cases)) {
    it(`"${text}" means ${verdict}`, () => {
      assert.equal(readBroadcastError(text), verdict);
    });
  }
});
