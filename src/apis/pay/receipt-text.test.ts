import assert from 'node:assert/strict';
import { test } from 'node:test';
import { receiptPage } from '#apis/pay/receipt-html.ts';
import { slipOf } from '#apis/pay/receipt-lines.ts';
import { RECEIPT_EXAMPLE, type ShownReceipt } from '#apis/pay/receipt-routes.ts';
import { receiptText } from '#apis/pay/receipt-text.ts';
import { exactUsdc, headlineUsdc, readableUsdc } from '#core/money.ts';

const URL = 'https://pay.example.com/receipts/0000003Fc2kHq8vXo1TzYd';
const receipt = RECEIPT_EXAMPLE as unknown as ShownReceipt;

test('headlines have two decimals, and never say that nothing was paid', () => {
  const shown = [6_780_375n, 5_000n, 4_999n, 1n, 0n, 999_995_000n, 1_234_567_000_000n].map(
    headlineUsdc,
  );
  assert.deepEqual(shown, ['6.78', '0.01', '< 0.01', '< 0.01', '0.00', '1,000.00', '1,234,567.00']);
  const exact = [6_780_375n, 2_500_000n, -1_375n, 1n].map(exactUsdc);
  assert.deepEqual(exact, ['6.780375', '2.50', '-0.001375', '0.000001']);
  const readable = [-1_375n, 1_000_250_000n].map(readableUsdc);
  assert.deepEqual(readable, ['−0.001375', '1,000.25']);
});

test('a line of a roll is never longer than the roll, whatever a name holds', () => {
  const names = [
    'Blue Door Café',
    'x'.repeat(80),
    '東京'.repeat(30),
    'e\u0301'.repeat(60),
    'a '.repeat(40),
  ];
  for (const name of names) {
    for (const width of [32, 48] as const) {
      const text = receiptText(slipOf({ ...receipt, merchant: { name } }), URL, width);
      for (const line of text.split('\n')) {
        const columns = [...line.replaceAll(/\p{M}/gu, '')].reduce(
          (sum, letter) => sum + (/\p{Script=Han}/u.test(letter) ? 2 : 1),
          0,
        );
        assert.ok(columns <= width, `${columns} columns: ${line}`);
      }
    }
  }
});

test('a name cannot give a printer commands, turn a line round, or write into the page', () => {
  const name = '\u001b@Café\u202egnp\n</script><b>&';
  const shown = slipOf({ ...receipt, merchant: { name }, description: name });
  assert.doesNotMatch(receiptText(shown, URL, 32), /\p{Cc}(?<!\n)|\p{Cf}/u);
  const { title, body } = receiptPage(shown, { url: URL, node: null });
  assert.doesNotMatch(title + body, /<b>/);
  assert.equal(body.match(/<\/script>/g)?.length, 1);
});

test('the parts of a receipt add up to what left the wallet', () => {
  const { sale, tip, fees, paid } = receipt;
  assert.equal(sale + tip + fees.acquirer + fees.protocol - fees.cashback, paid);
  assert.match(receiptText(slipOf(receipt), URL, 48), /Paid {31}2\.762375 USDC\n/);
});
