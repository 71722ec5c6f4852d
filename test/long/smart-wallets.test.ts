import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import {
  type Abi,
  concat,
  encodeDeployData,
  encodeFunctionData,
  getContractAddress,
  hashMessage,
  hashTypedData,
  numberToHex,
  pad,
  type SignableMessage,
  serializeErc6492Signature,
  type TypedDataDefinition,
  zeroAddress,
} from 'viem';
import type { PrivateKeyAccount } from 'viem/accounts';
import { present } from '#core/assert.ts';
import { verifyDeployable } from '#settlement/chain/check/signature-refusals.ts';
import { simulateTransfer } from '#settlement/chain/check/simulate-signed.ts';
import { simulateDeployed } from '#settlement/chain/check/verify-signature.ts';
import type { Hex } from '#settlement/chain-requests.ts';
import {
  permitCall,
  policyCall,
  registerMerchantCall,
} from '#settlement/contract/contract-calls.ts';
import {
  merchantConsent,
  spendingPolicy,
  usdcPermit,
  usdcTransfer,
} from '#settlement/contract/signed-messages.ts';
import type { NetworkConfig } from '#settlement/network-config.ts';
import { tagToken } from '#terminals/tag-url.ts';
import { caller } from '#testkit/apis/api-client.ts';
import { type PayGround, startPayGround, summary } from '#testkit/apis/pay-ground.ts';
import { addContractWallet, payByLink, readLink } from '#testkit/apis/pay-links.ts';
import { deploymentsIn } from '#testkit/apis/undeployed-wallets.ts';
import { messageOf, newWallet, signInWallet } from '#testkit/apis/wallet-sign-in.ts';
import { installTool, type Tool } from '#testkit/fixtures/core/tools.ts';
import {
  openTemporaryFolder,
  type TemporaryFolder,
} from '#testkit/fixtures/db/temporary-folder.ts';
import { signPermitOn, signPolicyOn } from '#testkit/fixtures/payers/sign-approval.ts';
import { AMOUNT, PULLED } from '#testkit/fixtures/payments/sale-amounts.ts';
import { addTerminal, intentMaker, TEST_ID_KEY } from '#testkit/fixtures/payments/store.ts';
import { heldAccount } from '#testkit/network/held-key.ts';
import { compileContract } from '../../contracts/compile.ts';
import {
  deployFiatToken,
  FIAT_TOKEN_MISSING,
  fiatTokenPart,
} from '../../contracts/test/fiat-token.ts';
import { digestOf, unwrap } from '../../x402/src/authorization.ts';
import { openToken } from '../../x402/src/transfer-usdc.ts';

/**
 * Tests each kind of wallet with everything that it signs, on contracts that the wallets' makers
 * publish: Safe 1.4.1, and the accounts of ERC-4337 and EIP-7702 from
 * @account-abstraction/contracts 0.8.
 */

const FAR_FUTURE = 4_000_000_000n;
const GWEI = 10n ** 9n;
/** Enough for several blocks on a busy machine. */
const WAIT_MS = 30_000;

let temporary: TemporaryFolder;
let tool: Tool;
let ground: PayGround;
let safe: SafeContracts;
let token: NetworkConfig | null = null;
/**
 * Owner and minter of Circle's token, because the account that deploys the token may not use it.
 */
const owner = newWallet();

interface SafeContracts {
  readonly factory: Hex;
  readonly singleton: Hex;
  readonly handler: Hex;
}

interface Compiled {
  readonly abi: Abi;
  readonly bytecode: Hex;
}

async function artifact(name: string): Promise<Compiled> {
  return JSON.parse(await readFile(tool.installed(name), 'utf8'));
}

function safeArtifact(name: string): Promise<Compiled> {
  const file = name.split('/').at(-1);
  const target = '@safe-global/safe-contracts/build/artifacts/contracts';
  return artifact(path.join(target, `${name}.sol`, `${file}.json`));
}

async function deploy({ abi, bytecode }: Compiled, args: readonly unknown[] = []): Promise<Hex> {
  const { admin, chain, send } = ground.world.network;
  const [nonce = 0n] = await chain.nonces([admin.address]);
  await send(admin, null, encodeDeployData({ abi, bytecode, args } as never));
  return getContractAddress({ from: admin.address, nonce });
}

async function send(to: Hex, data: Hex): Promise<void> {
  const { admin, send: transact } = ground.world.network;
  await transact(admin, to, data);
}

before(async () => {
  temporary = await openTemporaryFolder('tapline-smart-wallets');
  tool = await installTool('smart-wallets', path.join(temporary.folder.path, 'tools'));
  const factories: Hex[] = [];
  ground = await startPayGround({ overrides: () => ({ walletFactories: factories }) });
  safe = {
    factory: await deploy(await safeArtifact('proxies/SafeProxyFactory')),
    singleton: await deploy(await safeArtifact('Safe')),
    handler: await deploy(await safeArtifact('handler/CompatibilityFallbackHandler')),
  };
  factories.push(safe.factory);
  if (FIAT_TOKEN_MISSING === undefined) token = await addRealToken();
});

after(async () => {
  await ground?.close();
  await temporary.remove();
});

/** Resets the hourly limits of deployments for each test. */
beforeEach(() => ground.store.db.query('delete from sign_in_attempts'));

/** Deploys Circle's contracts beside the test token. */
async function addRealToken(): Promise<NetworkConfig> {
  const { config, rpc, send: transact } = ground.world.network;
  await rpc.call('hardhat_setBalance', [owner.address, numberToHex(10n ** 20n)]);
  const usdc = await deployFiatToken(
    {
      deploy: (data) => deploy({ abi: [], bytecode: data }),
      call: (to, data) => transact(owner, to, data),
    },
    { owner: owner.address, minter: owner.address, pauser: zero(), blacklister: zero() },
  );
  return { ...config, usdc, usdcDomain: { name: 'USD Coin', version: '2' } };
}

function zero(): Hex {
  return '0x000000000000000000000000000000000000dEaD';
}

/** A kind of wallet, and how it signs. */
interface Kind {
  readonly from: Hex;
  readonly sign: (digest: Hex) => Promise<Hex>;
}

async function keyKind(): Promise<Kind> {
  const account = newWallet();
  return { from: account.address, sign: (hash) => account.sign({ hash }) };
}

/** Returns how an owner of a Safe signs for it. */
function ofOwner(signer: PrivateKeyAccount, from: Hex) {
  const { chainId } = ground.world.network.config;
  return (digest: Hex) =>
    signer.signTypedData({
      domain: { chainId, verifyingContract: from },
      types: { SafeMessage: [{ name: 'message', type: 'bytes' }] },
      primaryType: 'SafeMessage',
      message: { message: digest },
    });
}

/** Creates a Safe with one owner. @returns it with the call that deploys it. */
async function newSafe(singleton = safe.singleton) {
  const signer = newWallet();
  const { abi } = await safeArtifact('Safe');
  const { factory, handler } = safe;
  const terms = [[signer.address], 1n, zeroAddress, '0x', handler, zeroAddress, 0n, zeroAddress];
  const setup = encodeFunctionData({ abi, functionName: 'setup', args: terms });
  const made = { functionName: 'createProxyWithNonce', args: [singleton, setup, 1n] };
  const data = encodeFunctionData({
    abi: (await safeArtifact('proxies/SafeProxyFactory')).abi,
    ...made,
  });
  const { rpc } = ground.world.network;
  const word = (await rpc.call('eth_call', [{ to: factory, data }, 'latest'])) as Hex;
  const from: Hex = `0x${word.slice(-40)}`;
  return { from, data, sign: ofOwner(signer, from) };
}

async function safeKind(): Promise<Kind> {
  const { from, data, sign } = await newSafe();
  await send(safe.factory, data);
  return { from, sign };
}

async function undeployedSafe(singleton = safe.singleton): Promise<Kind> {
  const { from, data, sign } = await newSafe(singleton);
  const wrap = (signature: Hex) =>
    serializeErc6492Signature({ address: safe.factory, data, signature });
  return { from, sign: async (digest) => wrap(await sign(digest)) };
}

/** Creates an ERC-4337 account behind a proxy. The account accepts its owner's signatures. */
async function accountKind(): Promise<Kind> {
  const compiled = compileContract('smart-wallets/ConfirmingAccount', {
    root: path.dirname(tool.cwd),
    warningsAllowed: true,
  });
  const implementation = await deploy(compiled as Compiled, [newWallet().address]);
  const signer = newWallet();
  const { abi } = compiled as Compiled;
  const setup = encodeFunctionData({ abi, functionName: 'initialize', args: [signer.address] });
  const proxy = compileContract('@openzeppelin/contracts/proxy/ERC1967/ERC1967Proxy');
  const from = await deploy(proxy as Compiled, [implementation, setup]);
  return { from, sign: (hash) => signer.sign({ hash }) };
}

/** Delegates a key's account by a transaction of type 4 (EIP-7702). */
async function delegated(name: 'Simple7702Account' | 'SimpleAccount'): Promise<Kind> {
  const compiled = await artifact(`@account-abstraction/contracts/artifacts/${name}.json`);
  const entryPoint = newWallet().address;
  const inputs = compiled.abi.find(({ type }) => type === 'constructor');
  const takes = inputs !== undefined && 'inputs' in inputs ? inputs.inputs.length : 0;
  const contract = await deploy(compiled, takes === 0 ? [] : [entryPoint]);
  const account = newWallet();
  const { admin, chain, config, rpc } = ground.world.network;
  const { chainId } = config;
  const authorization = await account.signAuthorization({
    contractAddress: contract,
    chainId,
    nonce: 0,
  });
  const [nonce = 0n] = await chain.nonces([admin.address]);
  const raw = await admin.signTransaction({
    ...{ type: 'eip7702', chainId, nonce: Number(nonce), to: account.address, gas: 200_000n },
    ...{ maxFeePerGas: 50n * GWEI, maxPriorityFeePerGas: GWEI },
    authorizationList: [authorization],
  });
  await rpc.call('eth_sendRawTransaction', [raw]);
  for (let code = '0x'; code === '0x'; ) {
    code = (await rpc.call('eth_getCode', [account.address, 'latest'])) as string;
  }
  return { from: account.address, sign: (hash) => account.sign({ hash }) };
}

async function byLink(kind: Kind): Promise<string> {
  return payLink((await ground.newLink()).token, kind);
}

async function payLink(link: string, { from, sign }: Kind): Promise<string> {
  await ground.mint(from, PULLED);
  const { typed_data: typed } = await readLink(ground.server.pay, link, from);
  const digest = hashTypedData(typed as unknown as TypedDataDefinition);
  return summary(await ground.authorize(link, from, await sign(digest)));
}

async function byTag({ from, sign }: Kind): Promise<string> {
  await ground.mint(from, PULLED);
  const { db, merchant, clock } = ground.store;
  const { terminalId } = await addTerminal(db, merchant, clock.now());
  const [row] = await db.query<{ tag: string }>('select tag from terminals where id = $1', [
    terminalId,
  ]);
  const tag = tagToken(TEST_ID_KEY, row?.tag ?? '');
  await intentMaker(ground.store)({ merchant, terminalId }, { amount: AMOUNT });
  const { pay } = ground.server;
  const { payment } = (await pay.get(`/tags/${tag}?from=${from}`)).body as {
    payment: { reference: string; typed_data: TypedDataDefinition };
  };
  const signature = await sign(hashTypedData(payment.typed_data));
  const body = { payment: payment.reference, from, signature };
  return summary(await pay.post(`/tags/${tag}/authorization`, body));
}

/** Pays at the till with a chip that has this wallet's address. */
async function byChip({ from, sign }: Kind): Promise<string> {
  await ground.mint(from, PULLED);
  const { intentId } = await ground.newLink();
  const till = ground.server.device();
  const at = `/payment_intents/${intentId}/authorization`;
  const { typed_data: typed } = (await till.get(`${at}?from=${from}`)).body;
  const signature = await sign(hashTypedData(typed as unknown as TypedDataDefinition));
  return summary(await till.post(at, { from, signature }));
}

async function bySignIn({ from, sign }: Kind): Promise<string> {
  const { url } = ground.server;
  const open = caller(`${url}/api/payer/v1`, 'none');
  const { nonce } = (await open.post('/sign_in/nonce')).body as { nonce: string };
  const message = messageOf(
    { address: from },
    {
      ...{ chainId: ground.world.network.config.chainId, domain: new URL(url).host, uri: url },
      ...{ nonce, issuedAt: new Date() },
    },
  );
  const sent = { message, signature: await sign(hashMessage(message)) };
  return summary(await open.post('/sign_in', sent)).replace('undefined', 'signed in');
}

/** Gas limit that the operator pays for a call that a contract wallet has signed. */
const CALL_GAS = 1_500_000n;

/**
 * Asks the service, and then the contract itself, which must agree. An undeployed wallet is
 * deployed in between.
 */
async function agreed(
  { from, sign }: Kind,
  request: { readonly typed: TypedDataDefinition; readonly by: 'token' | 'contract' },
  call: (signature: Hex) => { readonly to: Hex; readonly data: Hex; readonly from?: Hex },
): Promise<string> {
  const digest = hashTypedData(request.typed);
  const { chain } = ground.world.network;
  const signed = { signer: from, digests: [digest], signature: await sign(digest), by: request.by };
  const { verdict, deployment } = await verifyDeployable(chain, signed);
  const sent = call(verdict.status === 'valid' ? verdict.signature : signed.signature);
  const isTaken =
    deployment === null
      ? (await chain.calls([{ ...sent, words: 'any' }]))[0]?.ok
      : await simulateDeployed(chain, deployment, { ...sent, gas: CALL_GAS });
  assert.equal(isTaken, verdict.status === 'valid', 'the service and the contract agree');
  return verdict.status;
}

function byPolicy(kind: Kind): Promise<string> {
  const { config } = ground.world.network;
  const terms = { perPayment: 1n, perPeriod: 1n, periodSeconds: 60, maxFeeRate: 100, nonce: 0n };
  const expiresAt = new Date(Number(FAR_FUTURE) * 1000);
  const policy = { payer: kind.from, ...terms, expiresAt, deadline: FAR_FUTURE };
  const sent = {
    ...{ perPaymentCap: '1', periodCap: '1', periodSeconds: '60', maxFeeRate: '100', nonce: '0' },
    ...{ expiry: `${FAR_FUTURE}`, deadline: `${FAR_FUTURE}` },
  };
  const request = { typed: spendingPolicy(config, policy), by: 'contract' } as const;
  return agreed(kind, request as never, (signature) => ({
    to: config.settlement,
    data: policyCall(kind.from, { ...sent, signature }),
  }));
}

/** Signs a merchant's consent to this wallet as its settlement wallet. */
function byConsent(kind: Kind): Promise<string> {
  const { config } = ground.world.network;
  const consent = { accountId: 'acct_smart', wallet: kind.from, deadline: FAR_FUTURE };
  const request = { typed: merchantConsent(config, consent), by: 'contract' } as const;
  const registrar = present(config.registrarKey, 'key of the registrar');
  return agreed(kind, request as never, (signature) => ({
    to: config.settlement,
    data: registerMerchantCall({ ...consent, deadline: `${FAR_FUTURE}`, signature }),
    from: heldAccount(registrar).address,
  }));
}

/** Pays over x402, where the facilitator checks, deploys and transfers. */
async function byX402({ from, sign }: Kind): Promise<string> {
  if (token === null) return 'skipped';
  await mintReal(token, from);
  const bridge = newWallet();
  await ground.world.network.rpc.call('hardhat_setBalance', [bridge.address, '0x8ac7230489e80000']);
  const { chainId, usdc, usdcDomain: domain, rpcUrls } = token;
  const facts = { rpcUrl: rpcUrls[0] ?? '', chainId, usdc, domain };
  const factories = [safe.factory];
  const opened = openToken(facts, bridge, { factories, onError: () => {} });
  const terms = { from, to: bridge.address, value: 1n, validAfter: 0n, validBefore: FAR_FUTURE };
  const message = { ...terms, nonce: pad('0x402') };
  const signature = unwrap(await sign(digestOf(facts, message)));
  const authorization = { ...message, ...signature };
  const verdict = await opened.checkSignature(authorization);
  if (verdict !== 'valid') return verdict;
  const deployed = await opened.deploy(authorization, WAIT_MS);
  if (deployed.status !== 'done') return deployed.status;
  return (await opened.transfer(authorization, WAIT_MS)).status;
}

/** Signs a permit, for Circle's token if it is available. */
function byPermit(kind: Kind): Promise<string> {
  const config = token ?? ground.world.network.config;
  const permit = { payer: kind.from, value: 1n, nonce: 0n, deadline: FAR_FUTURE };
  const sent = { value: '1', deadline: `${FAR_FUTURE}` };
  const request = { typed: usdcPermit(config, permit), by: 'token' } as const;
  return agreed(kind, request as never, (signature) => ({
    to: config.usdc,
    data: permitCall(kind.from, config.settlement, { ...sent, signature }),
  }));
}

async function mintReal({ usdc }: NetworkConfig, to: Hex): Promise<void> {
  const { abi } = fiatTokenPart('FiatTokenV2_2');
  const data = encodeFunctionData({ abi, functionName: 'mint', args: [to, 1n] });
  await ground.world.network.send(owner, usdc, data);
}

async function byTransfer({ from, sign }: Kind): Promise<string> {
  if (token === null) return 'skipped';
  await mintReal(token, from);
  const moved = { from, to: zero(), value: 1n, validBefore: FAR_FUTURE, nonce: pad('0x1') };
  const digest = hashTypedData(usdcTransfer(token, moved));
  const chain = { ...ground.world.network.chain, config: token };
  const signed = { signer: from, digests: [digest], signature: await sign(digest) };
  const { verdict, deployment } = await verifyDeployable(chain, { ...signed, by: 'token' });
  if (verdict.status !== 'valid') return verdict.status;
  const { signature } = verdict;
  const times = { amount: '1', validBefore: `${FAR_FUTURE}`, nonce: pad('0x1') };
  const transfer = { from, to: zero(), ...times, signature };
  return (await simulateTransfer(chain, transfer, deployment)).status;
}

const WAYS = {
  link: byLink,
  tag: byTag,
  chip: byChip,
  'sign-in': bySignIn,
  policy: byPolicy,
  permit: byPermit,
  transfer: byTransfer,
  consent: byConsent,
  x402: byX402,
} as const;
type Told = Readonly<Record<keyof typeof WAYS, string>>;

/** The expected results for a wallet that may do everything. */
const ALL: Told = {
  link: '200 succeeded',
  tag: '200 succeeded',
  chip: '200 succeeded',
  'sign-in': '201 signed in',
  policy: 'valid',
  permit: 'valid',
  transfer: 'accepted',
  consent: 'valid',
  x402: 'done',
};
/** Results for an account whose code lacks ERC-1271, where USDC itself verifies the signature. */
const REFUSED_BY_USDC = {
  link: '400 signature_invalid',
  tag: '400 signature_invalid',
  chip: '400 signature_invalid',
  permit: 'delegate_refuses',
  transfer: 'delegate_refuses',
  x402: 'delegate_refuses',
} as const;
const KINDS: readonly (readonly [string, () => Promise<Kind>, Told])[] = [
  ['a key', keyKind, ALL],
  ['a Safe', safeKind, ALL],
  ['an account of ERC-4337', accountKind, ALL],
  ['a key that has delegated to a smart account', () => delegated('Simple7702Account'), ALL],
  [
    'a key that has delegated to a contract without ERC-1271',
    () => delegated('SimpleAccount'),
    { ...ALL, ...REFUSED_BY_USDC },
  ],
  ['a Safe that is not deployed', undeployedSafe, { ...ALL, chip: '400 wallet_not_deployed' }],
];

/** Ways that need Circle's token, which is not in the repository. */
const WITH_REAL_TOKEN = ['transfer', 'x402'];

for (const [name, make, expected] of KINDS) {
  for (const [way, act] of Object.entries(WAYS)) {
    test(`${name} × ${way}`, async () => {
      const isSkipped = token === null && WITH_REAL_TOKEN.includes(way);
      const target = isSkipped ? 'skipped' : expected[way as keyof Told];
      assert.equal(await act(await make()), target);
    });
  }
}

test('a Safe that is not deployed approves over HTTP, and then pays by its pass', async () => {
  const { from, sign } = await undeployedSafe();
  await ground.mint(from, 2n * PULLED);
  const account = {
    ...newWallet(),
    address: from,
    signMessage: ({ message }: { message: SignableMessage }) => sign(hashMessage(message)),
    signTypedData: (typed: TypedDataDefinition) => sign(hashTypedData(typed)),
  } as PrivateKeyAccount;
  const { server, world } = ground;
  const { config } = world.network;
  const me = server.payer(await signInWallet(server.url, account, { chainId: config.chainId }));
  const permit = await signPermitOn(config, { account, nonce: 0 });
  const policy = await signPolicyOn(config, { account, nonce: 0 });
  assert.equal(summary(await me.post('/approvals', { permit, policy })), '201 succeeded');
  const pass = (await me.post('/passes', {})).body;
  const { intentId } = await ground.newLink();
  const credential = { type: 'nfc_id', value: pass.nfc_id };
  const tapped = await server.device().post(`/payment_intents/${intentId}/tap`, { credential });
  assert.equal(summary(tapped), '200 succeeded');
});

test('a Safe that a payment has deployed then works like any other', async () => {
  const kind = await undeployedSafe();
  assert.equal(await byLink(kind), '200 succeeded');
  assert.deepEqual([await bySignIn(kind), await byPolicy(kind)], ['201 signed in', 'valid']);
});

test('a wallet of the real Safe factory whose singleton is unknown is not deployed', async () => {
  const { rpc } = ground.world.network;
  const code = (await rpc.call('eth_getCode', [safe.singleton, 'latest'])) as Hex;
  const singleton = newWallet().address;
  // Behaves as a Safe, and signs. Only its code is another.
  await rpc.call('anvil_setCode', [singleton, concat([code, '0x00'])]);
  const before = await deploymentsIn(ground.store.db);
  const kind = await undeployedSafe(singleton);
  for (const pay of [byLink, byTag]) assert.equal(await pay(kind), '400 wallet_not_deployed');
  assert.deepEqual(await deploymentsIn(ground.store.db), before);
});

test('while a link is attacked, real wallets pay at others, and regulars there', async () => {
  const { network } = ground.world;
  const makers = [safeKind, undeployedSafe, accountKind, () => delegated('Simple7702Account')];
  const regular = await safeKind();
  assert.equal(await byLink(regular), '200 succeeded');
  const { token: attacked } = await ground.newLink();
  for (const _ of [1, 2]) {
    const hostile = await addContractWallet(network, { usdc: PULLED, manner: 'burning' });
    const answer = await payByLink(ground.server.pay, attacked, hostile);
    assert.equal(summary(answer), '200 authorization_refused');
  }
  for (const make of makers) {
    const kind = await make();
    assert.equal(await payLink(attacked, kind), '429 rate_limit_exceeded');
    assert.equal(await byLink(kind), '200 succeeded');
  }
  assert.equal(await payLink(attacked, regular), '200 succeeded');
});
