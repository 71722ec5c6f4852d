// Renders docs/gas-rules.md.

import { readFileSync } from 'node:fs';
import { limitOf, NEWEST, type Need } from './limits.ts';
import { type Charge, GLAMSTERDAM, OSAKA, type Prices } from './prices.ts';

const number = (value: number | bigint) => value.toLocaleString('en-US');

const row = (cells: readonly (string | number)[]) => `| ${cells.join(' | ')} |`;

/** Today's prices, in the order of the table. */
const SHOWN = { KECCAK256: 30, DIV: 5, MOD: 5, MULMOD: 8 };

function priceTable(): string {
  const of = (read: (prices: Prices) => string) => [OSAKA, GLAMSTERDAM].map(read);
  const gas = (regular: number, state = 0) =>
    state === 0 ? number(regular) : `${number(regular)} + ${number(state)} state`;
  const charge = ({ regular, state }: Charge, access = 0) => gas(regular + access, state);
  const list = ({ SDIV: _, ...prices }: Record<string, number>) => Object.values(prices).join(', ');
  const rows: readonly (readonly [what: string, eip: string, read: (prices: Prices) => string])[] =
    [
      ['transaction that calls another address', '2780', ({ call }) => gas(call)],
      ['transaction to the own address', '2780', ({ ownCall }) => gas(ownCall)],
      ['transaction that creates a contract', '2780, 8037', ({ creation }) => charge(creation)],
      ['least for a byte of call data (zero, other)', '7976', ({ floor }) => list(floor)],
      ['cold account', '8038', ({ coldAccount }) => gas(coldAccount)],
      ['cold slot, read', '8038', ({ coldSlot }) => gas(coldSlot)],
      ['warm account or slot', '8038', ({ warm }) => gas(warm)],
      ['new slot, cold', '8037, 8038', ({ write: { cold, set } }) => charge(set, cold)],
      ['changed slot, cold', '8038', ({ write: { cold, changed } }) => gas(cold + changed)],
      ['changed slot, warm', '8038', ({ write: { warm, changed } }) => gas(warm + changed)],
      ['EXTCODESIZE, EXTCODECOPY, beside the access', '8038', ({ codeRead }) => gas(codeRead)],
      ['CREATE, CREATE2, beside the init code', '8037, 8038', ({ create }) => charge(create)],
      ['a byte of deployed code', '8037', ({ codeByte }) => charge(codeByte)],
      ['KECCAK256, DIV, MOD, MULMOD', '7904', ({ opcodes }) => list({ ...SHOWN, ...opcodes })],
    ];
  return [
    row(['operation', 'EIP', ...of(({ name }) => name)]),
    row(['---', '---', '---:', '---:']),
    ...rows.map(([what, eip, read]) => row([what, eip, ...of(read)])),
  ].join('\n');
}

/** How much of what is needed the limit leaves free, rounded down. */
export function headroom(need: number, limit: bigint): number {
  return Math.floor((Number(limit) / need - 1) * 100);
}

function pathRow({ path, counts: c, today, glamsterdam }: Need): string {
  const { regular, state, needed } = glamsterdam;
  const limits = [today, needed].map((need) => limitOf(path, need));
  const [now, later] = limits;
  const differ = now !== later;
  const limit = limits.map((one) => (one === null ? 'split' : number(one)));
  const left = [today, needed].map((need, index) => {
    const one = limits[index];
    return one === null || one === undefined ? '' : `${headroom(need, one)} %`;
  });
  return row([
    path,
    `${c.coldAccounts}, ${c.warmAccounts}`,
    `${c.coldSlots}, ${c.warmSlots}`,
    `${c.newSlots}, ${c.changedSlots}`,
    number(c.codeBytes),
    number(today),
    `${number(needed)} (${number(regular)} + ${number(state)})`,
    differ ? limit.join('; ') : (limit[0] ?? ''),
    left.filter((one) => one !== '').join('; '),
  ]);
}

const TEMPLATE = readFileSync(new URL('template.md', import.meta.url), 'utf8');

const PULLS = [
  ['a sale with a policy, into an empty contract balance', /sale|batch/],
  ['an authorization by a key, into an empty contract balance', /^authorization (by a key|into)/],
] as const;

function pullTable(needs: readonly Need[]): string {
  const rows = PULLS.map(([what, paths]) => {
    const pulls = needs.filter(({ path }) => paths.test(path)).map(({ pull }) => pull);
    const today = Math.max(...pulls.map((pull) => pull.today));
    const later = Math.max(...pulls.map((pull) => pull.glamsterdam));
    const left = `${headroom(Math.max(today, later), NEWEST.pull)} %`;
    return row([what, number(today), number(later), number(NEWEST.pull), left]);
  });
  return rows.join('\n');
}

export function renderPage(needs: readonly Need[]): string {
  const parts: Readonly<Record<string, string>> = {
    prices: priceTable(),
    paths: needs.map(pathRow).join('\n'),
    pulls: pullTable(needs),
    pull: number(NEWEST.pull),
    signature: number(NEWEST.signature),
    authorized: number(NEWEST.pull + NEWEST.signature),
  };
  return TEMPLATE.replaceAll(/\{\{(\w+)\}\}/g, (_, name: string) => parts[name] ?? '');
}
