import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createPublicClient, getAddress, http, numberToHex } from 'viem';
import { foundry } from 'viem/chains';
import { type CasePresented, SIGNATURE_VERDICTS, verdictsOf } from '#testing/signature-cases.ts';
import { startTestNetwork, type TestNetwork } from '#testing/test-network.ts';
import { addFactories, FACTORIES } from '#testing/undeployed-wallets.ts';
import { newWallet } from '#testing/wallet-sign-in.ts';
import { digestOf, unwrap } from '../../x402/src/authorization.ts';
import { openWallets } from '../../x402/src/contract-wallets.ts';

let network: TestNetwork;

before(async () => {
  network = await startTestNetwork();
  await addFactories(network);
});

after(() => network?.stop());

test('the package decides about signatures as the network does', async () => {
  const { rpcUrls, chainId, usdc } = network.config;
  const [rpcUrl = ''] = rpcUrls;
  const domain = { name: 'USDC', version: '2' };
  const facts = { rpcUrl, chainId, usdc: getAddress(usdc), domain };
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
