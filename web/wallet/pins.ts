import type { PayerNetwork } from '../data/payer.ts';
import { changedFields, type Pin, type PinnedField } from './contracts.ts';
import { keep, kept, type Network } from './kept.ts';
import { type ChainFacts, factsOf } from './signing.ts';

/**
 * The contracts and fees that this browser signs for: from the build (`web/contracts.json`), else
 * as they were named at the first use. The service names them again each time, but a service that
 * was broken into must not get a permit signed for a stranger. So a change stops, and a person
 * decides.
 */

/** The service names other contracts than before. Nothing was signed. */
export class OtherContracts extends Error {
  constructor(network: Network, fields: readonly PinnedField[]) {
    super(`${network}: another ${fields.join(', another ')} than before`);
    this.name = 'OtherContracts';
  }
}

/** Those of the build, which nothing that the service says can change. */
export function builtIn(network: Network): Pin | null {
  const built = import.meta.env.VITE_CONTRACTS as { readonly [name in Network]?: Pin };
  return built[network] ?? null;
}

/** A build that names no fees leaves them to the first use. */
export function pinOf(network: Network): Pin | null {
  const built = builtIn(network);
  const known = kept('chains')[network] ?? null;
  return built === null ? known : { feeRate: known?.feeRate, ...built };
}

function rememberTold(network: Network, told: Pin | null): void {
  const { [network]: before, ...others } = kept('otherContracts');
  if (told === null && before === undefined) return;
  keep('otherContracts', told === null ? others : { ...others, [network]: told });
}

/**
 * What the service names now, compared with what is pinned; pins it where nothing is.
 *
 * @throws OtherContracts: then nothing may be signed, and the wallet shows both.
 */
export function checkContracts(network: Network, told: Pin | ChainFacts): ChainFacts {
  const pin = pinOf(network);
  const former = formerOf(network, told);
  const known = former ?? pin;
  const changed = known === null ? [] : changedFields(known, told);
  rememberTold(network, changed.length === 0 ? null : told);
  if (changed.length > 0) throw new OtherContracts(network, changed);
  // A shop that has not moved yet: it changes nothing of what this wallet signs for elsewhere.
  if (former !== null) return { rpcUrl: null, ...told, feeRate: pin?.feeRate ?? told.feeRate };
  // Lower fees are not kept: raised again to what they were, they would stop somebody.
  return keepFacts(network, { ...told, feeRate: pin?.feeRate ?? told.feeRate });
}

/** A contract of before that a shop still uses, with the fees of now; null: it names none. */
function formerOf(network: Network, { settlement }: Pin): Pin | null {
  const sought = settlement.toLowerCase();
  const former = kept('formerContracts')[network] ?? [];
  const found = former.find((one) => one.settlement.toLowerCase() === sought);
  return found === undefined ? null : { ...found, feeRate: pinOf(network)?.feeRate };
}

function keepFacts(network: Network, told: Pin | ChainFacts): ChainFacts {
  const chains = kept('chains');
  const before = chains[network];
  const facts = { rpcUrl: before?.rpcUrl ?? null, ...told };
  if (JSON.stringify(before) !== JSON.stringify(facts)) {
    keep('chains', { ...chains, [network]: facts });
  }
  return facts;
}

/**
 * Pins the contracts of all networks at the first sign-in: the page that ends the permission has
 * to work without the service.
 *
 * @throws OtherContracts when those of the chosen network have changed.
 */
export function checkNetworks(networks: readonly PayerNetwork[], chosen: PayerNetwork): void {
  for (const one of networks) {
    try {
      checkContracts(one.network, factsOf(one));
    } catch (error) {
      // A change of the other network is shown there.
      if (one === chosen || !(error instanceof OtherContracts)) throw error;
    }
  }
}

/** An address is the same in any case. */
function isSame({ settlement: one }: Pin, { settlement: other }: Pin): boolean {
  return one.toLowerCase() === other.toLowerCase();
}

/** What was allowed to the contract of before holds until the person ends it there. */
function rememberFormer(network: Network, now: Pin): void {
  const before = pinOf(network);
  if (before === null || isSame(before, now)) return;
  const former = kept('formerContracts');
  const known = former[network] ?? [];
  if (known.some((one) => isSame(one, before))) return;
  keep('formerContracts', { ...former, [network]: [...known, before] });
}

/** A person has compared them with what the operator has published. */
export function trustTold(network: Network): void {
  const told = kept('otherContracts')[network];
  if (told === undefined) return;
  rememberFormer(network, told);
  keepFacts(network, told);
  rememberTold(network, null);
}
