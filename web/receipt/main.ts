import '../ui/base.css';
import './receipt.css';
import type { Receipt } from '../data/types/pay.ts';
import { type Verdict, verify } from './verify.ts';

/** The page is finished without this: it only asks the chain, and prints. */

function words(verdict: Verdict): readonly [string, string] {
  switch (verdict.kind) {
    case 'proven':
      return ['good', '✓ Checked by your browser: it matches the chain.'];
    case 'differs':
      return [
        'bad',
        `✗ The chain does not agree about ${verdict.what}. Do not trust this receipt.`,
      ];
    case 'unknown':
      return ['plain', 'Reported by this server. The chain could not be reached just now.'];
  }
}

async function check(): Promise<void> {
  const place = document.getElementById('verdict');
  const told = document.getElementById('receipt')?.textContent;
  const node = place?.dataset.node;
  if (place === null || node === undefined || !told) return;
  place.textContent = 'Checking with the chain…';
  const [kind, text] = words(await verify(JSON.parse(told) as Receipt, node));
  place.className = `verdict ${kind}`;
  place.textContent = text;
}

const print = document.getElementById('print');
if (print !== null) {
  print.hidden = false;
  print.addEventListener('click', () => window.print());
  // A till opens it so.
  if (location.hash === '#print') window.addEventListener('load', () => window.print());
}
void check();
