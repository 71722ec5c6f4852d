import '../ui/base.css';
import './receipt.css';
import type { Receipt } from '../data/types/pay.ts';
import { formatUsdc } from '../ui/money.ts';
import { type Verdict, verify } from './verify.ts';

/** No framework here: a receipt has to stay below 20 KB. Addresses begin at the page's `<base>`. */
const ADDRESS = 'api/pay/v1/receipts/';
const PROOF = 'receipt-proof';

type Child = Node | string;

function element(name: string, attributes: Readonly<Record<string, string>>, ...inner: Child[]) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...inner);
  return made;
}

const money = (atoms: number | bigint) => formatUsdc(BigInt(atoms));

function time(at: string): HTMLElement {
  const words = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
  return element('time', { datetime: at }, words.format(new Date(at)));
}

/** A name and what belongs to it. Names of people and shops may run from right to left. */
function row(name: string, value: Child, kind = ''): HTMLElement {
  const said = element('dd', { dir: 'auto' }, value);
  return element('div', { class: `row ${kind}` }, element('dt', {}, name), said);
}

function amounts(receipt: Receipt): HTMLElement {
  const { sale, tip, amount, fees, total_charged, amount_refunded } = receipt;
  const rows = [row('Sale', money(sale))];
  if (tip > 0) rows.push(row('Tip', money(tip)), row('Sale and tip', money(amount)));
  rows.push(row('Network fees', money(fees.acquirer + fees.protocol)));
  rows.push(row('Paid', money(total_charged), 'total'));
  if (fees.cashback > 0) rows.push(row('Cashback', money(fees.cashback)));
  for (const refund of receipt.refunds) {
    const name = refund.status === 'pending' ? 'Refund on its way' : 'Refunded';
    const at = element('span', { class: 'at' }, time(refund.created));
    rows.push(row(name, element('span', {}, money(refund.amount), ' ', at)));
  }
  if (receipt.refunds.length > 1) rows.push(row('Refunded in all', money(amount_refunded)));
  return element('dl', { class: 'amounts' }, ...rows);
}

const METHODS: Readonly<Record<string, string>> = {
  wallet_pass: 'Wallet pass',
  agent_token: 'AI agent',
  wallet: 'Wallet',
};

function facts(receipt: Receipt): HTMLElement {
  const rows = [row('Paid at', time(receipt.settled_at)), row('Order', receipt.order_id)];
  if (receipt.description) rows.push(row('For', receipt.description));
  const method = METHODS[receipt.payment_method.type];
  if (method !== undefined) rows.push(row('Paid with', method));
  rows.push(row('Payer', receipt.payer));
  return element('dl', { class: 'facts' }, ...rows);
}

const TOLD =
  'As told by this server. It names no node that your browser could ask, so this page could not ' +
  'check with the chain.';

function words(verdict: Verdict | 'told' | 'asking'): readonly [string, string] {
  if (verdict === 'told') return ['plain', TOLD];
  if (verdict === 'asking') return ['plain', 'Checking with the chain…'];
  switch (verdict.kind) {
    case 'proven':
      return ['good', '✓ Checked by your browser: the chain says the same.'];
    case 'differs':
      return [
        'bad',
        `✗ The chain says otherwise about ${verdict.what}. Do not trust this receipt.`,
      ];
    case 'unknown':
      return ['plain', 'As told by this server. The chain could not be asked just now.'];
  }
}

function showVerdict(verdict: Verdict | 'told' | 'asking'): void {
  const place = document.getElementById(PROOF);
  const [kind, text] = words(verdict);
  if (place === null) return;
  place.className = `verdict ${kind}`;
  place.textContent = text;
}

function proof(receipt: Receipt): HTMLElement {
  const { chain_id, settlement, tx_hash, block_number, log_index, event, number, explorer_url } =
    receipt.proof;
  const hash = element('code', {}, tx_hash);
  const shown =
    explorer_url === null ? hash : element('a', { href: explorer_url, rel: 'noreferrer' }, hash);
  const details = element(
    'dl',
    { class: 'facts' },
    row('Transaction', shown),
    row('Block', String(block_number)),
    row('Event', `${event}, entry ${log_index} of the block`),
    row('Payment number', String(number)),
    row('Contract', element('code', {}, settlement)),
    row('Chain', String(chain_id)),
  );
  const command = `npm run receipt -- ${location.href}`;
  return element(
    'section',
    { 'aria-labelledby': 'proof' },
    element('h2', { id: 'proof' }, 'Proof on the chain'),
    element('p', { id: PROOF, role: 'status' }),
    element(
      'details',
      {},
      element('summary', {}, 'Check it yourself'),
      details,
      element('p', { class: 'soft' }, 'Anybody can repeat the proof from the chain alone:'),
      element('p', {}, element('code', {}, command)),
    ),
  );
}

function show(...inner: Child[]): void {
  document.getElementById('app')?.replaceChildren(element('main', {}, ...inner));
}

function showReceipt(receipt: Receipt): void {
  const { merchant, total_charged } = receipt;
  document.title = `Receipt · ${merchant.name}`;
  const print = element('button', { type: 'button', class: 'print' }, 'Print');
  print.addEventListener('click', () => print.ownerDocument.defaultView?.print());
  const test = element('p', { class: 'test' }, 'A payment in test mode: no real money moved.');
  show(
    element('p', { class: 'soft' }, 'Receipt'),
    element('h1', { dir: 'auto' }, merchant.name),
    element('p', { class: 'sum' }, money(total_charged)),
    ...(receipt.livemode ? [] : [test]),
    amounts(receipt),
    facts(receipt),
    proof(receipt),
    print,
  );
}

function sayProblem(title: string, text: string): void {
  const again = element('button', { type: 'button', class: 'print' }, 'Try again');
  again.addEventListener('click', () => location.reload());
  show(element('h1', {}, title), element('p', { role: 'alert' }, text), again);
}

async function load(): Promise<void> {
  const token = location.pathname.split('/').at(-1) ?? '';
  const response = await fetch(`${ADDRESS}${encodeURIComponent(token)}`);
  if (response.status === 404) {
    sayProblem('No such receipt', 'Is the address complete? It ends with 22 letters and digits.');
    return;
  }
  if (!response.ok) throw new Error(`answered ${response.status}`);
  const receipt = (await response.json()) as Receipt;
  showReceipt(receipt);
  const { rpc_url } = receipt.proof;
  showVerdict(rpc_url === null ? 'told' : 'asking');
  if (rpc_url !== null) showVerdict(await verify(receipt, rpc_url));
}

load().catch(() =>
  sayProblem('Not loaded', 'The receipt could not be loaded. Is this device online?'),
);
