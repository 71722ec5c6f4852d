import { slipOf } from '#apis/pay/receipt-contents.ts';
import type { ShownReceipt } from '#apis/pay/receipt-data-route.ts';
import { receiptPage } from '#apis/pay/receipt-html.ts';
import type { TestWindow } from './browser.ts';

export interface ReceiptChanges {
  readonly [field: string]: unknown;
}

const SHOWN = /<main>.*<script type="application\/json" id="receipt">(.*?)<\/script>/s;

/** Changes these fields in the receipts that this window shows. */
export async function alterReceipts(
  { page }: TestWindow,
  changes: ReceiptChanges,
  node: string | null = 'chain/testnet',
): Promise<void> {
  await page.route('**/receipts/*', async (route) => {
    const response = await route.fetch();
    const html = await response.text();
    const told = JSON.parse(SHOWN.exec(html)?.[1] ?? '{}') as ShownReceipt;
    const { body } = receiptPage(slipOf({ ...told, ...changes }), {
      url: route.request().url(),
      node,
      pdf: null,
    });
    await route.fulfill({ response, body: html.replace(SHOWN, () => body) });
  });
}
