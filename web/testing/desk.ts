import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Download } from 'playwright-core';
import type { SandboxFile } from '#sandbox/sandbox-file.ts';
import type { TestWindow } from './browser.ts';
import { postAsMerchant } from './till.ts';

/** Signs in as the sandbox's user in any language, starting from the requested page. */
export async function signInAt(
  { page }: TestWindow,
  { sandbox, path }: { readonly sandbox: SandboxFile; readonly path: string },
): Promise<void> {
  const person = path.startsWith('operator') ? sandbox.operator : sandbox.dashboard;
  await page.goto(`${sandbox.web_url}/${path}`);
  const named = (name: string) => page.locator(`[data-name="${name}"]`);
  await named('Email').fill(person.email);
  await named('Password').fill(person.password);
  await named('Sign in').click();
  await named('Sign out').waitFor();
}

export async function textOf(download: Download): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'tapline-download-'));
  const file = path.join(folder, 'file');
  await download.saveAs(file);
  const text = await readFile(file, 'utf8');
  await rm(folder, { recursive: true });
  return text;
}

export interface Sale {
  readonly intent: string;
  readonly orderId: string;
  /** The payment's id; empty if the payment was declined. */
  readonly payment: string;
}

const TAXED = { tax_inclusive: true };
/** 2 × 3.80 and 12.16 less 10 %. */
export const CAFE_SALE = {
  presentment: { currency: 'eur', amount: 1_778 },
  line_items: [
    { name: 'Coffee', quantity: 2, unit_amount: 380, tax_rate: 1_900, ...TAXED },
    { name: 'Cake', quantity: 1, unit_amount: 1_216, tax_rate: 700, ...TAXED },
  ],
  discount: { rate: 1_000 },
};

/** Makes a sale at a terminal and taps one of the sandbox's passes. */
export async function payAt(
  sandbox: SandboxFile,
  {
    terminal,
    pass = 'ok',
    tip,
    ...sale
  }: {
    readonly terminal: string;
    readonly amount?: number;
    /** The price of a sale with lines, in minor units. */
    readonly presentment?: { readonly currency: string; readonly amount: number };
    readonly line_items?: readonly object[];
    readonly discount?: { readonly rate: number };
    readonly pass?: keyof SandboxFile['test']['passes'];
    /** A tip that the terminal offers and the customer chooses. */
    readonly tip?: number;
    readonly description?: string;
  },
): Promise<Sale> {
  const tipping = { percentages: [10, 15, 20] };
  const input = { ...sale, terminal, ...(tip === undefined ? {} : { tipping }) };
  const intent = await postAsMerchant(sandbox, '/payment_intents', input);
  const tapped = await postAsMerchant(sandbox, `/test_helpers/terminals/${terminal}/tap`, {
    payment_intent: intent.id,
    credential: { type: 'nfc_id', value: sandbox.test.passes[pass] },
    ...(tip === undefined ? {} : { tip_amount: tip }),
  });
  return {
    intent: String(intent.id),
    orderId: String(intent.order_id),
    payment: String(tapped.payment ?? ''),
  };
}
