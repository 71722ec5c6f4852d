import '../ui/base.css';
import '../receipt/receipt.css';
import type { Holdings } from '../data/contract-holdings.ts';
import { usdcWords } from '../ui/elements.ts';
import { addUp, type Contract, type Verdict } from './add-up-holdings.ts';

/** This script queries the chains and adds up the amounts. The page works without it. */

type Network = Contract & { readonly network: string };

function words(verdict: Verdict): readonly [string, string] {
  switch (verdict.kind) {
    case 'covered':
      return [
        'good',
        `✓ Added up by your browser at block ${verdict.holdings.block}: all the money is there.`,
      ];
    case 'short':
      return [
        'bad',
        `✗ Added up by your browser at block ${verdict.holdings.block}: money is missing.`,
      ];
    case 'elsewhere':
      return ['bad', '✗ The node does not know this contract. Do not trust these numbers.'];
    case 'unknown':
      return ['plain', 'Reported by this server. The chain could not be reached to check it.'];
  }
}

function show(section: Element, { held, owed, fees }: Holdings): void {
  const sums = { held, owed, fees, surplus: held - owed - fees };
  for (const [name, atoms] of Object.entries(sums)) {
    const element = section.querySelector(`[data-sum="${name}"]`);
    if (element !== null) element.textContent = usdcWords(atoms);
  }
}

async function check(network: Network, id: string): Promise<void> {
  const section = document.getElementById(id);
  const element = section?.querySelector<HTMLElement>('.verdict');
  const node = element?.dataset.node;
  if (section === null || element == null || node === undefined) return;
  const verdict = await addUp(network, node);
  if ('holdings' in verdict) show(section, verdict.holdings);
  const [kind, text] = words(verdict);
  element.className = `verdict ${kind}`;
  element.textContent = text;
}

const told = document.getElementById('solvency')?.textContent;
const { networks } = JSON.parse(told || '{"networks":[]}') as { networks: readonly Network[] };
for (const network of networks) {
  // The current contract has the network's name; earlier ones have a number after it.
  const index = networks.filter((one) => one.network === network.network).indexOf(network);
  void check(network, index === 0 ? network.network : `${network.network}-${index}`);
}
