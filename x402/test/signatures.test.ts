import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  createPublicClient,
  getAddress,
  getContractAddress,
  type Hex,
  http,
  keccak256,
  numberToHex,
  pad,
  toHex,
} from 'viem';
import { foundry } from 'viem/chains';
import { compileContract } from '../../contracts/compile.ts';
import { addContractWallet } from '../../testkit/apis/pay-links.ts';
import {
  type CasePresented,
  SIGNATURE_VERDICTS,
  verdictsOf,
} from '../../testkit/apis/signature-cases.ts';
import { addFactories, FACTORIES } from '../../testkit/apis/undeployed-wallets.ts';
import { newWallet } from '../../testkit/apis/wallet-sign-in.ts';
import { startTestNetwork, type TestNetwork } from '../../testkit/network/test-network.ts';
import { digestOf, unwrap } from '../src/authorization.ts';
import { openWallets } from '../src/contract-wallets.ts';
import { openToken } from '../src/transfer-usdc.ts';

let network: TestNetwork;

before(async () => {
  network = await startTestNetwork();
  await addFactories(network);
});

after(() => network?.stop());

function factsOf({ rpcUrls, chainId, usdc, usdcDomain: domain }: TestNetwork['config']) {
  const [rpcUrl = ''] = rpcUrls;
  return { rpcUrl, chainId, usdc: getAddress(usdc), domain };
}

/** Gives the token the function of Circle's token that contract wallets need. */
async function completeToken(): Promise<void> {
  const { admin, chain, config, rpc, send } = network;
  const { bytecode } = compileContract('test/FullUSDC');
  const [nonce = 0n] = await chain.nonces([admin.address]);
  await send(admin, null, bytecode as Hex);
  const logic = pad(getContractAddress({ from: admin.address, nonce }));
  const slot = keccak256(toHex('tapline.test-usdc.logic'));
  await rpc.call('anvil_setStorageAt', [config.usdc, slot, logic]);
}

test('the bridge wallet pays for no transfer that takes more gas than a wallet needs', async () => {
  const facts = factsOf(network.config);
  const account = newWallet();
  const funded = [account.address, numberToHex(10n ** 18n)];
  await network.rpc.call('anvil_setBalance', funded);
  const token = openToken(facts, account, { factories: [], onError: assert.ifError });
  const stopMining = network.mineEvery(100);
  await completeToken();
  const send = async (manner: 'honest' | 'greedy') => {
    const { from, account: key } = await addContractWallet(network, { usdc: 1_000n, manner });
    const nonce = numberToHex(1, { size: 32 });
    const terms = { from, to: account.address, value: 1_000n, validAfter: 0n, nonce };
    const message = { ...terms, validBefore: 4_000_000_000n };
    // Longer than a key's signature.
    const signature = `${await key.sign({ hash: digestOf(facts, message) })}ab` as const;
    return token.transfer({ ...message, signature }, 10_000);
  };
  const refused = await send('greedy');
  assert.equal(refused.status, 'refused');
  assert.equal((await send('honest')).status, 'done');
  await stopMining();
});

test('the package decides about signatures as the network does', async () => {
  const facts = factsOf(network.config);
  const { rpcUrl, chainId } = facts;
  const bridge = newWallet().address;
  const chain = { ...foundry, id: chainId };
  const wallets = openWallets({
    client: createPublicClient({ chain, transport: http(rpcUrl) }),
    facts,
    factories: [FACTORIES.honest],
    send: () => assert.fail('a check sends nothing'),
    onError: assert.ifError,
  });
  const nonce = numberToHex(1, { size: 32 });
  const terms = { to: bridge, value: 1n, validAfter: 0n, validBefore: 4_000_000_000n, nonce };
  const check = async ({ from, signatureOf }: CasePresented) => {
    const message = { ...terms, from };
    const signature = await signatureOf(digestOf(facts, message));
    return wallets.checkSignature({ ...message, ...unwrap(signature) });
  };
  assert.deepEqual(await verdictsOf(network, check), SIGNATURE_VERDICTS);
});
