import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { after, before, describe, test } from 'node:test';
import { x402Client } from '@x402/core/client';
import { decodePaymentRequiredHeader, encodePaymentSignatureHeader } from '@x402/core/http';
import { ExactEvmScheme } from '@x402/evm';
import { type Address, numberToHex } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { testFolder } from '#testkit/fixtures/core/test-folder.ts';
import { installTool } from '#testkit/fixtures/core/tools.ts';
import { type Listening, listen } from '#testkit/network/listen.ts';
import { startSharedSandbox } from '#testkit/network/shared-sandbox.ts';
import { type Facilitator, routesOf, serverOf } from '../../x402/src/index.ts';
import {
  completeToken,
  HONEST,
  HONEST_CODE,
  newContractBuyer,
  nodeOf,
} from '../../x402/test/undeployed-buyers.ts';
import { openX402Ground, type X402Ground } from '../../x402/test/x402-ground.ts';

/**
 * A shop with `@x402/express`, on a chain with a block every 12 seconds. Its client signs anew
 * after each 402, as after a lost response.
 */

const PRICE = 1_000_000;
const FUNDS = 10_000_000n;
const MOST_SIGNATURES = 20;

const folder = testFolder();
let ground: X402Ground;
const servers: Listening[] = [];
const shops: ChildProcess[] = [];
/** URLs of the shops, by the time that their facilitator waits. */
let patient: string;
let hasty: string;

before(async () => {
  ground = await openX402Ground(await startSharedSandbox({ SANDBOX_BLOCK_MS: '12000' }));
  await nodeOf(ground).setCode({ address: HONEST, bytecode: HONEST_CODE });
  // Compiles a contract, which blocks this process for longer than a request may take.
  await completeToken(ground);
  const { cwd } = await installTool('x402-express', folder);
  const facilitators = await Promise.all([open(), open(3_000)]);
  [patient = '', hasty = ''] = await Promise.all(facilitators.map((one) => startShop(cwd, one)));
});

after(async () => {
  for (const shop of shops) shop.kill();
  await Promise.all(servers.map((server) => server.close()));
  await ground?.close();
});

/** Opens a facilitator with its own bridge wallet. */
async function open(waitMs?: number): Promise<Facilitator> {
  const privateKey = generatePrivateKey();
  const { address } = privateKeyToAccount(privateKey);
  await nodeOf(ground).setBalance({ address, value: 10n ** 18n });
  const waits = waitMs === undefined ? {} : { waitMs };
  return ground.another({ privateKey, walletFactories: [HONEST], ...waits });
}

async function startShop(cwd: string, facilitator: Facilitator): Promise<string> {
  const routes = await listen(serverOf(routesOf(facilitator)));
  servers.push(routes);
  const { network, asset, amount, payTo, extra } = facilitator.requirements({
    price: PRICE,
    resource: 'https://shop.test/',
  });
  const args = [routes.url, network, payTo, asset, amount, String(extra.name)];
  const shop = spawn(process.execPath, ['shop.mjs', ...args, String(extra.version)], {
    cwd,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  shops.push(shop);
  const [url] = await once(createInterface(shop.stdout), 'line');
  return String(url);
}

interface Signer {
  readonly address: Address;
}

/** Asks and signs until the shop delivers. @returns the number of signatures. */
async function buy(url: string, buyer: Signer, id: string | null): Promise<number> {
  const { chain_id, usdc: asset } = ground.shared.sandbox.test;
  const network = `eip155:${chain_id}` as const;
  const client = x402Client.fromConfig({
    schemes: [{ network, client: new ExactEvmScheme(buyer as never) }],
    spendControls: { allowedAssets: [{ network, asset }] },
  });
  for (let signatures = 1; signatures <= MOST_SIGNATURES; signatures++) {
    const offer = (await fetch(url)).headers.get('PAYMENT-REQUIRED') ?? '';
    const payload = await client.createPaymentPayload(decodePaymentRequiredHeader(offer));
    if (id !== null) {
      const extension = payload.extensions?.['payment-identifier'] as { info: { id?: string } };
      extension.info.id = id;
    }
    const headers = { 'PAYMENT-SIGNATURE': encodePaymentSignatureHeader(payload) };
    const response = await fetch(url, { headers });
    if (response.ok) return signatures;
    assert.equal(response.status, 402, await response.text());
  }
  throw new Error(`no delivery after ${MOST_SIGNATURES} signatures`);
}

const BUYERS: Readonly<Record<string, () => Promise<Signer>>> = {
  'an account': () => ground.newBuyer(FUNDS),
  'a wallet that is not deployed': () => newContractBuyer(ground, { atoms: Number(FUNDS) }),
};

describe('a client that signs anew after each 402', { concurrency: true }, () => {
  for (const [who, newBuyer] of Object.entries(BUYERS)) {
    test(`${who} is charged once, because the facilitator waits for the blocks`, async () => {
      const buyer = await newBuyer();
      assert.equal(await buy(`${patient}/plain`, buyer, null), 1);
      assert.equal(await ground.usdcOf(buyer.address), FUNDS - total());
    });

    test(`${who} is charged once under one name, however often it signs`, async () => {
      const buyer = await newBuyer();
      const id = `order_${numberToHex(BigInt(buyer.address), { size: 20 })}`;
      const signatures = await buy(`${hasty}/named`, buyer, id);
      assert.ok(signatures > 1, 'the facilitator does not wait for a block');
      assert.equal(await buy(`${hasty}/named`, buyer, id), 1, 'a lost response is told again');
      assert.equal(await ground.usdcOf(buyer.address), FUNDS - total());
    });
  }
});

function total(): bigint {
  return BigInt(ground.facilitator.requirements({ price: PRICE, resource: '' }).amount);
}
