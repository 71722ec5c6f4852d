import '../ui/base.css';
import './receipt.css';
import type { Receipt } from '../data/types/pay.ts';
import { t } from '../ui/text/t.ts';
import { type Verdict, verify } from './verify-receipt.ts';

/**
 * Describes the verdict. The page works without this script, which only verifies the payment on
 * chain and prints.
 */

function words(verdict: Verdict): readonly [string, string] {
  switch (verdict.kind) {
    case 'proven':
      return ['good', t('receipt.check.proven')];
    case 'differs':
      return ['bad', t('receipt.check.differs', { what: verdict.what })];
    case 'unknown':
      return ['plain', t('receipt.check.unknown')];
  }
}

async function check(): Promise<void> {
  const element = document.getElementById('verdict');
  const told = document.getElementById('receipt')?.textContent;
  const node = element?.dataset.node;
  if (element === null || node === undefined || !told) return;
  element.textContent = t('receipt.check.checking');
  const [kind, text] = words(await verify(JSON.parse(told) as Receipt, node));
  element.className = `verdict ${kind}`;
  element.textContent = text;
}

const print = document.getElementById('print');
if (print !== null) {
  print.hidden = false;
  print.addEventListener('click', () => window.print());
  // A till that prints the receipt opens it with this fragment.
  if (location.hash === '#print') window.addEventListener('load', () => window.print());
}
void check();
