import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { getContractAddress, type Hex, hexToBytes, parseAbi, toFunctionSelector } from 'viem';
import { settlementAbi } from './artifacts/Settlement.ts';
import { settlementCreation } from './deployment.ts';
import { type CallSite, callPlaces, callSites } from './test/call-sites.ts';
import { startTestNode } from './test/test-node.ts';

const TOKEN = '0x7070707070707070707070707070707070707070';
const SOMEBODY = '0x5050505050505050505050505050505050505050';

const NAMES = new Map(
  parseAbi([
    'function transfer(address,uint256)',
    'function transferFrom(address,address,uint256)',
    'function balanceOf(address)',
    'function allowance(address,address)',
    'function permit(address,address,uint256,uint256,bytes)',
    'function receiveWithAuthorization(address,address,uint256,uint256,uint256,bytes32,bytes)',
    'function isValidSignature(bytes32,bytes)',
    'function isOperationPending(bytes32)',
    'function cancel(bytes32)',
  ]).map((one) => [toFunctionSelector(one), one.name]),
);

const SETUP = {
  proposers: [SOMEBODY],
  steward: SOMEBODY,
  operators: [SOMEBODY],
  registrar: SOMEBODY,
  guardians: [SOMEBODY],
  watchers: [],
  treasurer: SOMEBODY,
  governanceDelay: 1,
  walletDelay: 1,
  payoutHold: 0,
  hourlyCeiling: 1,
  rates: { acquirer: 30, protocol: 20, cashback: 5 },
} as const;

/**
 * The calls of a signature check: ECDSA first, then ERC-1271. A caller chooses the wallet's
 * address, but not the function that is called on it.
 */
const SIGNATURE = ['staticcall any isValidSignature', 'staticcall precompile 1'];

/** All external calls of each function. A function that is not listed calls no other contract. */
const CALLS: Readonly<Record<string, readonly string[]>> = {
  settleBatch: [
    'call token transferFrom',
    'staticcall token allowance',
    'staticcall token balanceOf',
  ],
  settlePaymentSeparately: [
    'call token transferFrom',
    'staticcall token allowance',
    'staticcall token balanceOf',
  ],
  settleWithAuthorization: ['call token receiveWithAuthorization', 'staticcall token balanceOf'],
  refund: ['call token transfer'],
  withdraw: ['call token transfer'],
  withdrawOwn: ['call token transfer'],
  collectFees: ['call token transfer'],
  // Lets the treasurer recover tokens that were sent to the contract by mistake.
  sweep: ['call any transfer', 'staticcall any balanceOf', 'staticcall token balanceOf'],
  // Creates the lens and the timelock: code with a hash that the constructor has fixed.
  deployPlanned: ['create'],
  cancelOperations: ['call timelock cancel', 'staticcall timelock isOperationPending'],
  registerMerchant: SIGNATURE,
  proposeWallet: SIGNATURE,
  setPolicyBySignature: SIGNATURE,
  revokePolicyBySignature: SIGNATURE,
  enrol: ['call token permit', ...SIGNATURE, 'staticcall token allowance'],
};

describe('the compiled settlement contract', () => {
  let code: Uint8Array;
  let timelock: bigint;
  const sites = new Map<string, CallSite[]>();

  before(async () => {
    await using node = await startTestNode();
    const data = settlementCreation([TOKEN, SETUP]);
    await node.client.setBalance({ address: SOMEBODY, value: 10n ** 18n });
    // Removes the token's code, because the constructor must refuse a token address without code.
    await node.client.setCode({ address: TOKEN, bytecode: '0x00' });
    const { contractAddress } = await node.send({ from: SOMEBODY, data });
    timelock = BigInt(getContractAddress({ from: contractAddress as Hex, nonce: 2n }));
    code = hexToBytes((await node.client.getCode({ address: contractAddress as Hex })) ?? '0x');
    for (const item of settlementAbi) {
      if (item.type !== 'function') continue;
      const known = sites.get(item.name) ?? [];
      sites.set(item.name, [...known, ...callSites(code, toFunctionSelector(item))]);
    }
  });

  function describeCall({ op, target, selector }: CallSite): string {
    const named = new Map<unknown, string>([
      [BigInt(TOKEN), 'token'],
      [timelock, 'timelock'],
      [1n, 'precompile 1'],
    ]);
    if (op === 'create') return op;
    const whom = named.get(target) ?? target;
    if (target === 1n) return `${op} ${whom}`;
    return `${op} ${whom} ${selector === 'any' ? 'any' : (NAMES.get(selector) ?? selector)}`;
  }

  it('settles by calling only the token, and no function that a caller can choose', () => {
    const calls = [...sites].flatMap(([name, all]) => {
      const said = [...new Set(all.map(describeCall))].sort();
      return said.length === 0 ? [] : [[name, said] as const];
    });
    const sorted = Object.entries(CALLS).map(([name, all]) => [name, [...all].sort()]);
    assert.deepEqual(Object.fromEntries(calls), Object.fromEntries(sorted));
  });

  it('sends no native coin, has no delegatecall, destroys nothing, creates only as planned', () => {
    for (const [name, all] of sites) {
      for (const { op, value } of all) {
        const isPlanned = name === 'deployPlanned' && op === 'create';
        assert.ok(op === 'call' || op === 'staticcall' || isPlanned, `${name}: ${op}`);
        assert.equal(value, 0n, `${name} sends native coin`);
      }
    }
  });

  it('the analysis finds every call in the code', () => {
    const reached = new Set([...sites.values()].flat().map(({ pc }) => pc));
    assert.ok(reached.size >= 10, `only ${reached.size} calls found`);
    const missed = callPlaces(code).filter((pc) => !reached.has(pc));
    assert.deepEqual(missed, []);
  });
});
