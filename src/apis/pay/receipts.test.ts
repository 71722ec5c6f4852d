import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import path from 'node:path';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { checkReceipt, type ReceiptClaims, receiptJsonUrl } from '#ops/check-receipt.ts';
import { startPayGround } from '#testkit/apis/pay-ground.ts';
import { payByLink } from '#testkit/apis/pay-links.ts';
import { openForTests } from '#testkit/fixtures/core/open-for-tests.ts';

const ROOT = path.join(import.meta.dirname, '../../..');

let token = '';
let receipt: ReceiptClaims & { readonly [field: string]: unknown };

const ground = openForTests(startPayGround, async () => {
  const { token: link, intentId } = await ground.newLink();
  await payByLink(ground.server.pay, link, { account: await ground.bare() });
  const merchant = await ground.server.merchant();
  let payment: { receipt_url: string } | undefined;
  // On a slow machine, the response may still be `processing`. Waits for the payment, which appears
  // once the chain has settled it.
  for (let tries = 0; payment === undefined && tries < 300; tries++) {
    const { body } = await merchant.get(`/payments?payment_intent=${intentId}`);
    [payment] = body.data as { receipt_url: string }[];
    if (payment === undefined) await sleep(200);
  }
  token = payment?.receipt_url.split('/').at(-1) ?? '';
  receipt = (await ground.server.pay.get(`/receipts/${token}`)).body as typeof receipt;
});

const failures = async (changed: Partial<ReceiptClaims>) => {
  const findings = await checkReceipt(
    { ...receipt, ...changed },
    ground.world.network.config.rpcUrls[0] ?? '',
  );
  return findings.filter(({ holds }) => !holds).map(({ what }) => what.split(/[:,]/)[0]);
};

describe('a receipt', () => {
  test('shows the paid amounts to everyone who has its address, and no payer', async () => {
    assert.deepEqual(
      [receipt.sale, receipt.tip, receipt.order_id.length > 0],
      [2_500_000, 0, true],
    );
    assert.match(receipt.payer, /^0x[0-9A-Fa-f]{4}…[0-9A-Fa-f]{4}$/);
    assert.doesNotMatch(JSON.stringify(receipt), /0x[0-9a-fA-F]{40}"[^}]*"payer|pay_|pi_|acct_/);
  });

  test('is not found for a token that was altered, of another kind, or made up', async () => {
    const flipped = token.replace(/.$/, (last) => (last === 'a' ? 'b' : 'a'));
    const { token: unpaid } = await ground.newLink();
    for (const wrong of [flipped, unpaid, token.slice(1), `${token}a`, 'x', '%00', "'"]) {
      const { status } = await ground.server.pay.get(`/receipts/${wrong}`);
      assert.ok(status === 404 || status === 400, `${wrong}: ${status}`);
    }
  });
});

describe('the proof, recomputed from the chain', () => {
  test('holds', async () => assert.deepEqual(await failures({}), []));

  test('detects each number that was altered', async () => {
    const { fees, proof } = receipt;
    const lies: readonly (readonly [Partial<ReceiptClaims>, string])[] = [
      [{ sale: 2_500_001 }, 'sale and tip'],
      [{ tip: 1 }, 'sale and tip'],
      [{ order_id: 'OTHER' }, 'order'],
      [{ payer: '0x0000…0000' }, 'payer 0x0000…0000'],
      [{ fees: { ...fees, cashback: 0 } }, 'cashback'],
      [{ proof: { ...proof, merchant: 4_000_000 } }, 'merchant on the contract'],
      [{ proof: { ...proof, block_number: proof.block_number + 1 } }, 'block'],
      [{ proof: { ...proof, chain_id: 1 } }, 'chain 1'],
      [{ proof: { ...proof, log_index: proof.log_index + 99 } }, 'PaymentSettled at'],
      [{ proof: { ...proof, tx_hash: `0x${'1'.repeat(64)}` } }, 'transaction'],
    ];
    for (const [lie, result] of lies) {
      const [first = ''] = await failures(lie);
      assert.ok(first.startsWith(result), `${result}: ${first}`);
    }
  });

  test('detects a refund that was never paid', async () => {
    const refunds = [{ amount: 1, status: 'succeeded', tx_hash: receipt.proof.tx_hash }];
    assert.match((await failures({ refunds })).join(), /^refund of 1/);
  });

  test('can be recomputed by a command', async () => {
    const url = `${ground.server.url}/receipts/${token}`;
    assert.equal(receiptJsonUrl(url), `${ground.server.url}/api/pay/v1/receipts/${token}`);
    const node = ground.world.network.config.rpcUrls[0] ?? '';
    const run = (...args: string[]) =>
      new Promise<{ code: number; text: string }>((resolve) => {
        const command = [path.join(ROOT, 'src/ops/receipt-command.ts'), ...args];
        execFile(process.execPath, command, (error, out, err) =>
          resolve({ code: Number(error?.code ?? 0), text: out + err }),
        );
      });
    const good = await run(url, '--rpc', node);
    assert.deepEqual([good.code, good.text.includes('✗')], [0, false], good.text);
    assert.match(good.text, /The chain says the same\.\n$/);
    const missing = await run(url.replace(/.$/, '~'), '--rpc', node);
    assert.deepEqual([missing.code, /usage|no such/.test(missing.text)], [2, true], missing.text);
    const away = await run(url, '--rpc', 'http://127.0.0.1:9');
    assert.equal(away.code, 2, away.text);
  });
});
