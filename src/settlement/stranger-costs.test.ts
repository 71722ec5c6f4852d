import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { GAS_PER_DAY, KEPT_PART } from '#settlement/gas-budget.ts';
import {
  AUTHORIZED_PAYMENT_GAS,
  DEPLOYMENT_GAS,
  ENROLMENT_GAS,
  TRANSFER_GAS,
} from '#settlement/gas-ceilings.ts';
import type { GasKind } from '#settlement/gas-spending-queries.ts';

const SECURITY = path.join(import.meta.dirname, '../../SECURITY.md');

const CALLS: Readonly<Record<GasKind, readonly [what: string, setting: string, gas: bigint]>> = {
  payment: [
    'failed payments of contract wallets',
    'WALLET_PAYMENT_GAS_PER_DAY',
    AUTHORIZED_PAYMENT_GAS,
  ],
  enrolment: ['approvals', 'APPROVAL_GAS_PER_DAY', ENROLMENT_GAS],
  transfer: ['transfers, if `GASLESS_TRANSFERS`', 'GASLESS_TRANSFER_GAS_PER_DAY', TRANSFER_GAS],
  wallet_deployment: ['deployments', 'WALLET_DEPLOYMENT_GAS_PER_DAY', DEPLOYMENT_GAS],
};

const grouped = (gas: bigint) => gas.toLocaleString('en-US');

/** The table of SECURITY.md, from the constants. */
function costs(): string {
  let ofStrangers = 0n;
  let ofAll = 0n;
  const rows = Object.entries(CALLS).map(([kind, [what, setting, ceiling]]) => {
    const perDay = BigInt(GAS_PER_DAY[kind as GasKind]);
    const open = perDay - perDay / BigInt(KEPT_PART);
    ofStrangers += open;
    ofAll += perDay;
    const shown = [grouped(ceiling), grouped(open), grouped(perDay)].join(' | ');
    return `| ${what}: \`${setting}\` | ${shown} |`;
  });
  return [
    '| calls of one network: setting | ceiling of a call | strangers, a day | all wallets, a day |',
    '|---|---|---|---|',
    ...rows,
    `| together | | ${grouped(ofStrangers)} | ${grouped(ofAll)} |`,
  ].join('\n');
}

test('SECURITY.md says what strangers can cost a day', async () => {
  const text = await readFile(SECURITY, 'utf8');
  const [, table] =
    /<!-- What strangers can cost: [^\n]*\n([\s\S]*?)\n<!-- End of what/.exec(text) ?? [];
  assert.equal(table, costs());
});
