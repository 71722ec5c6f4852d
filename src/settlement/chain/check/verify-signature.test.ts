import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  concat,
  encodeAbiParameters,
  keccak256,
  numberToHex,
  size,
  slice,
  stringToHex,
} from 'viem';
import type { PrivateKeyAccount } from 'viem/accounts';
import { silentLog } from '#observability/log.ts';
import { verifyDeployable } from '#settlement/chain/check/signature-refusals.ts';
import { type DecidedBy, verifySignature } from '#settlement/chain/check/verify-signature.ts';
import { connectRpc } from '#settlement/chain/rpc/rpc.ts';
import type { Hex } from '#settlement/chain-requests.ts';
import { addContractWallet, delegate } from '#testkit/apis/pay-links.ts';
import {
  type CasePresented,
  SIGNATURE_VERDICTS,
  verdictsOf,
} from '#testkit/apis/signature-cases.ts';
import { addFactories, listing } from '#testkit/apis/undeployed-wallets.ts';
import { newWallet } from '#testkit/apis/wallet-sign-in.ts';
import { startTestNetwork, type TestNetwork } from '#testkit/network/test-network.ts';

const DIGEST = keccak256(stringToHex('a payment'));
const OTHER = keccak256(stringToHex('another payment'));
const MAGIC = '6492'.repeat(16);

let network: TestNetwork;

before(async () => {
  network = await startTestNetwork(listing);
  await addFactories(network);
});

after(() => network.stop());

function sign(account: PrivateKeyAccount): Promise<Hex> {
  return account.sign({ hash: DIGEST });
}

async function statusOf(signer: Hex, signature: Hex, by: DecidedBy): Promise<string> {
  const signed = { signer, digests: [OTHER, DIGEST], signature, by };
  const verdict = await verifySignature(network.chain, signed);
  if (verdict.status === 'valid') assert.equal(verdict.index, 1);
  return verdict.status;
}

/** Returns both verdicts: the token's, and the settlement contract's. */
async function bothOf(signer: Hex, signature: Hex): Promise<string> {
  const both = (['token', 'contract'] as const).map((by) => statusOf(signer, signature, by));
  return (await Promise.all(both)).join(', ');
}

function wrapped(signature: Hex): Hex {
  const types = [{ type: 'address' }, { type: 'bytes' }, { type: 'bytes' }] as const;
  const parts = encodeAbiParameters(types, [network.config.usdc, '0x', signature]);
  return concat([parts, `0x${MAGIC}`]);
}

describe('an account without code', () => {
  it('accepts signatures by its own key only', async () => {
    const [account, stranger] = [newWallet(), newWallet()];
    assert.equal(await bothOf(account.address, await sign(account)), 'valid, valid');
    assert.equal(await bothOf(account.address, await sign(stranger)), 'invalid, invalid');
  });

  it('may write v as 0 or 1, and the chain gets the form that it accepts', async () => {
    const account = newWallet();
    const signature = await sign(account);
    const v = Number(slice(signature, 64)) - 27;
    const ledger = concat([slice(signature, 0, 64), `0x0${v}`]);
    const signed = { signer: account.address, digests: [DIGEST], signature: ledger } as const;
    for (const by of ['token', 'contract'] as const) {
      const verdict = await verifySignature(network.chain, { ...signed, by });
      assert.deepEqual(verdict, { status: 'valid', index: 0, signature, byCode: false });
    }
  });

  it('with a signature that only contracts accept is a wallet not deployed yet', async () => {
    const account = newWallet();
    const long = concat([await sign(account), '0xab']);
    assert.equal(await bothOf(account.address, long), 'not_deployed, not_deployed');
    const ofFactory = wrapped(await sign(account));
    assert.equal(await bothOf(account.address, ofFactory), 'not_deployed, not_deployed');
  });
});

describe('a contract wallet', () => {
  it('decides about its signature, whatever the key of its address signs', async () => {
    const { from, account } = await addContractWallet(network, { usdc: 0n });
    assert.equal(await bothOf(from, await sign(account)), 'valid, valid');
    assert.equal(await bothOf(from, await sign(newWallet())), 'invalid, invalid');
    assert.equal(await bothOf(from, '0x'), 'invalid, invalid');
  });

  it('that still wraps its signatures gets only the inner signature', async () => {
    const { from: signer, account } = await addContractWallet(network, { usdc: 0n });
    const inner = await sign(account);
    const signed = { signer, digests: [DIGEST], signature: wrapped(inner), by: 'token' } as const;
    const verdict = await verifySignature(network.chain, signed);
    assert.deepEqual(verdict, { status: 'valid', index: 0, signature: inner, byCode: true });
  });

  it('gets its signature unchanged, whatever the last byte is', async () => {
    const { from: signer, account } = await addContractWallet(network, { usdc: 0n });
    const inner = concat([slice(await sign(account), 0, 64), '0x01']);
    assert.equal(size(inner), 65);
    const signed = { signer, digests: [DIGEST], signature: inner, by: 'token' } as const;
    assert.equal((await verifySignature(network.chain, signed)).status, 'invalid');
  });
});

describe('code at the address of a signer', () => {
  it('has refused, however it fails, and if its word begins as no code may', async () => {
    const starting = `0x7fef${'00'.repeat(31)}5f5260205ff3`;
    const codes = { reverts: '0x5f5ffd', halts: '0xfe', mute: '0x00', starting };
    for (const [how, code] of Object.entries(codes)) {
      const account = newWallet();
      await network.rpc.call('anvil_setCode', [account.address, code]);
      const verdict = await bothOf(account.address, await sign(newWallet()));
      assert.equal(verdict, 'invalid, invalid', how);
    }
  });

  it('confirms nothing at the addresses of precompiled contracts', async () => {
    const numbers = [...Array.from({ length: 0x11 }, (_, index) => index + 1), 0x100];
    for (const number of numbers) {
      const signer = numberToHex(number, { size: 20 });
      for (const signature of [await sign(newWallet()), wrapped('0x')]) {
        assert.equal(await bothOf(signer, signature), 'invalid, invalid', signer);
      }
    }
  });
});

describe('an account that has delegated (EIP-7702)', () => {
  it('signs for the token as its delegate decides, even with another key', async () => {
    const [account, device] = [newWallet(), newWallet()];
    await delegate(network, account.address, { key: device.address });
    assert.equal(await bothOf(account.address, await sign(device)), 'valid, valid');
    assert.equal(await bothOf(account.address, await sign(account)), 'delegate_refuses, valid');
    assert.equal(await bothOf(account.address, await sign(newWallet())), 'invalid, invalid');
  });

  it('to code that confirms nothing is refused by name, and its key still signs in', async () => {
    const account = newWallet();
    await delegate(network, account.address, { to: network.config.usdc });
    assert.equal(await bothOf(account.address, await sign(account)), 'delegate_refuses, valid');
  });
});

describe('a signature of a payment', () => {
  it('is valid if and only if the package for x402 accepts it', async () => {
    const check = async ({ from: signer, signatureOf }: CasePresented) => {
      const signature = await signatureOf(DIGEST);
      const signed = { signer, digests: [DIGEST], signature, by: 'token' } as const;
      return (await verifyDeployable(network.chain, signed)).verdict.status;
    };
    assert.deepEqual(await verdictsOf(network, check), SIGNATURE_VERDICTS);
  });
});

describe('a node that does not answer', () => {
  it('leaves a signature undecided, unless the contract decides and a key signed', async () => {
    const account = newWallet();
    const urls = ['http://127.0.0.1:9'];
    const rpc = connectRpc({ urls, chainId: network.config.chainId, log: silentLog });
    const silent = { ...network.chain, rpc };
    const forged = await sign(newWallet());
    const signed = { signer: account.address, digests: [DIGEST], signature: forged } as const;
    for (const chain of [silent, null]) {
      for (const by of ['token', 'contract'] as const) {
        const { status } = await verifySignature(chain, { ...signed, by });
        assert.equal(status, 'unavailable');
      }
      const own = { ...signed, signature: await sign(account), by: 'contract' } as const;
      assert.equal((await verifySignature(chain, own)).status, 'valid');
    }
    rpc.close();
  });
});
