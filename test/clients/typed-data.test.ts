import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { hashTypedData, recoverTypedDataAddress, type TypedDataDefinition, toHex } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { caller } from '#testkit/apis/api-client.ts';
import { PersonClient } from '#testkit/apis/person-client.ts';
import { signInWallet } from '#testkit/apis/wallet-sign-in.ts';
import { testFolder } from '#testkit/fixtures/core/test-folder.ts';
import { installTool } from '#testkit/fixtures/core/tools.ts';
import { openSharedSandbox, type SharedSandbox } from '#testkit/network/shared-sandbox.ts';
import { addTestTerminal } from '../../web/testing/till.ts';

/** Messages for wallets must have the same digest in every signing library. */

interface Libraries {
  /** MetaMask's signing library. */
  readonly metaMask: {
    readonly TypedDataUtils: { eip712Hash(data: object, version: 'V4'): Uint8Array };
    signTypedData(request: { privateKey: Buffer; data: object; version: 'V4' }): `0x${string}`;
  };
  readonly ethers: {
    readonly TypedDataEncoder: { hash(domain: object, types: object, message: object): string };
  };
}

type TypedData = TypedDataDefinition & { readonly types: { readonly EIP712Domain: object } };

const key = generatePrivateKey();
const wallet = privateKeyToAccount(key);
let shared: SharedSandbox;
const folder = testFolder();
let libraries: Libraries;

before(async () => {
  const [sandbox, tool] = await Promise.all([openSharedSandbox(), installTool('wallets', folder)]);
  shared = sandbox;
  const load = createRequire(path.join(tool.cwd, 'package.json'));
  libraries = { metaMask: load('@metamask/eth-sig-util'), ethers: load('ethers') };
});

after(() => shared?.close());

async function paymentsToSign(): Promise<[string, unknown][]> {
  const { sandbox } = shared;
  const terminal = await addTestTerminal(sandbox);
  const till = caller(`${sandbox.base_url}/device/v1`, terminal.deviceKey);
  const { body: intent } = await till.post('/payment_intents', { amount: 2_500_000 });
  const anyone = caller(`${sandbox.base_url}/pay/v1`, 'none');
  const from = `from=${wallet.address}`;
  const link = String(intent.payment_url).split('/').at(-1);
  const tag = terminal.tagUrl.split('/').at(-1);
  const shown = (await anyone.get(`/tags/${tag}?${from}`)).body;
  return [
    ['pay link', (await anyone.get(`/${link}?${from}`)).body.typed_data],
    ['tag', (shown.payment as { readonly typed_data: unknown }).typed_data],
    [
      'chip',
      (await till.get(`/payment_intents/${intent.id}/authorization?${from}`)).body.typed_data,
    ],
  ];
}

async function approvalsToSign(): Promise<[string, unknown][]> {
  const {
    web_url: web,
    base_url: api,
    test: { chain_id: chainId },
  } = shared.sandbox;
  const payer = caller(`${api}/payer/v1`, await signInWallet(web, wallet, { chainId }));
  const { to_sign: ready } = (await payer.get('/approvals')).body as {
    to_sign: Record<'permit' | 'policy', { readonly typed_data: unknown }>;
  };
  return [
    ['permit', ready.permit.typed_data],
    ['policy', ready.policy.typed_data],
  ];
}

async function consentsToSign(): Promise<[string, unknown][]> {
  const { base_url: api, account, dashboard } = shared.sandbox;
  const owner = new PersonClient(`${api}/dashboard/v1`);
  assert.equal((await owner.post('/session', dashboard)).status, 200);
  const path = `consent?wallet=${wallet.address}`;
  const read = async (which: string) =>
    (await owner.get(`/accounts/${account}/test/${which}/${path}`)).body.typed_data;
  return [
    ['going live', await read('go_live')],
    ['another payout wallet', await read('settlement_wallet')],
  ];
}

test('MetaMask, ethers and viem sign the same digest of each typed_data', async () => {
  const { metaMask, ethers } = libraries;
  const answers = [
    ...(await paymentsToSign()),
    ...(await approvalsToSign()),
    ...(await consentsToSign()),
  ];
  assert.equal(answers.length, 7);
  for (const [which, answer] of answers) {
    assert.ok(answer, which);
    const typed = answer as TypedData;
    const digest = hashTypedData(typed);
    assert.equal(toHex(metaMask.TypedDataUtils.eip712Hash(typed, 'V4')), digest, which);
    // Omits EIP712Domain, because viem's encoder derives the domain's type itself.
    const { EIP712Domain: _, ...types } = typed.types;
    const { domain = {}, message } = typed;
    assert.equal(ethers.TypedDataEncoder.hash(domain, types, message), digest, which);
    const privateKey = Buffer.from(key.slice(2), 'hex');
    const signature = metaMask.signTypedData({ privateKey, data: typed, version: 'V4' });
    assert.equal(await recoverTypedDataAddress({ ...typed, signature }), wallet.address, which);
  }
});
