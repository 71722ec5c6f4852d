import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { encodeFunctionData, parseSignature } from 'viem';
import type { PrivateKeyAccount } from 'viem/accounts';
import { RpcUnavailable } from '#settlement/chain/rpc/rpc.ts';
import type { RequestPayloads } from '#settlement/chain-requests.ts';
import { transferCall } from '#settlement/contract/contract-calls.ts';
import { endOfTransfer } from '#settlement/relayer/send/find-earlier-results.ts';
import type { OpenRequest } from '#settlement/relayer/state-machine/transaction.ts';
import { signTransfer, transferPayload } from '#testkit/fixtures/payers/sign-transfer.ts';
import { startTestNetwork, type TestNetwork } from '#testkit/network/test-network.ts';
import { testUsdcAbi } from '../../../../contracts/artifacts/TestUSDC.ts';

type Transfer = RequestPayloads['transfer'];

let network: TestNetwork;
let payer: PrivateKeyAccount;

before(async () => {
  network = await startTestNetwork();
  const first = await network.addPayer({ usdc: 10_000_000n });
  payer = first;
});

after(() => network.stop());

async function sign(): Promise<Transfer> {
  const { time } = await network.chain.newest();
  const now = Math.floor(time.getTime() / 1000);
  const transfer = { to: network.admin.address, amount: 1_000_000, now };
  return transferPayload(payer.address, await signTransfer(network.config, payer, transfer));
}

function endOf(payload: Transfer) {
  const request: OpenRequest = {
    ...{ id: 1n, kind: 'transfer', subjectId: 'trf_1', number: null, payload, tries: 0 },
    ...{ created: new Date(), owed: false, deadline: null, settleWithinS: null },
  };
  return endOfTransfer(network.chain, request);
}

test('a transfer that someone else sent has succeeded, by the token’s own event', async () => {
  const transfer = await sign();
  await network.send(network.admin, network.config.usdc, transferCall(transfer));
  const { number } = await network.chain.newest();
  const result = await endOf(transfer);
  assert.ok(result.succeeded);
  assert.equal(result.facts.blockNumber, String(number));
});

test('a transfer that its owner canceled has failed', async () => {
  const { usdcDomain, chainId, usdc } = network.config;
  const transfer = await sign();
  const signature = await payer.signTypedData({
    domain: { ...usdcDomain, chainId, verifyingContract: usdc },
    types: {
      CancelAuthorization: [
        { name: 'authorizer', type: 'address' },
        { name: 'nonce', type: 'bytes32' },
      ],
    },
    primaryType: 'CancelAuthorization',
    message: { authorizer: payer.address, nonce: transfer.nonce },
  });
  const { r, s, yParity } = parseSignature(signature);
  const args = [payer.address, transfer.nonce, 27 + yParity, r, s] as const;
  const functionName = 'cancelAuthorization';
  const data = encodeFunctionData({ abi: testUsdcAbi, functionName, args });
  await network.send(network.admin, usdc, data);
  assert.equal((await endOf(transfer)).succeeded, false);
});

test('a transfer is undecided until a minute after its authorization expires', async () => {
  const transfer = await sign();
  const endsAt = Number(transfer.validBefore);
  const open = (error: unknown) => error instanceof RpcUnavailable;
  await assert.rejects(endOf(transfer), open);
  await network.rpc.call('evm_setNextBlockTimestamp', [endsAt + 59]);
  await network.mine();
  await assert.rejects(endOf(transfer), open);
  await network.mine(2);
  await network.rpc.call('evm_setNextBlockTimestamp', [endsAt + 70]);
  await network.mine();
  assert.deepEqual(await endOf(transfer), {
    ...{ succeeded: false, reason: 'transaction_reverted', txHash: null },
  });
});
