import type { PayerNetwork } from '../data/payer-api.ts';
import { changedFields, type Pin, type PinnedField } from './compare-contract-pins.ts';
import { type ChainFacts, factsOf } from './sign-permit-and-transfer.ts';
import { keep, kept, type Network } from './wallet-storage.ts';

/**
 * The contracts and fees for which this browser signs: those in the build (`web/contracts.json`),
 * or else those of the first response. The service names them again each time, but a compromised
 * service must not obtain a permit for an attacker's contract. So any change stops the flow until
 * the user decides.
 */

/** Thrown if the service names other contracts than before. Nothing was signed. */
export class OtherContracts extends Error {
  constructor(network: Network, fields: readonly PinnedField[]) {
    super(`${network}: another ${fields.join(', another ')} than before`);
    this.name = 'OtherContracts';
  }
}

/** Returns the contracts in the build, which no response of the service can change. */
export function builtIn(network: Network): Pin | null {
  const built = import.meta.env.VITE_CONTRACTS as { readonly [name in Network]?: Pin };
  return built[network] ?? null;
}

/** Returns the pinned contracts. Fees that the build does not name are pinned at the first use. */
export function pinOf(network: Network): Pin | null {
  const built = builtIn(network);
  const known = kept('chains')[network] ?? null;
  return built === null ? known : { feeRate: known?.feeRate, ...built };
}

function rememberReported(network: Network, reported: Pin | null): void {
  const { [network]: before, ...others } = kept('otherContracts');
  if (reported === null && before === undefined) return;
  keep('otherContracts', reported === null ? others : { ...others, [network]: reported });
}

/**
 * Compares the contracts that the service names with the pins. Without pins, pins the named
 * contracts.
 * @throws OtherContracts if they differ: nothing may be signed, and the wallet shows both.
 */
export function checkContracts(network: Network, reported: Pin | ChainFacts): ChainFacts {
  const pin = pinOf(network);
  const former = formerOf(network, reported);
  const known = former ?? pin;
  const changed = known === null ? [] : changedFields(known, reported);
  rememberReported(network, changed.length === 0 ? null : reported);
  if (changed.length > 0) throw new OtherContracts(network, changed);
  // Does not pin a previous contract that a shop still uses: signatures for other shops stay with
  // the pinned one.
  if (former !== null)
    return { rpcUrl: null, ...reported, feeRate: pin?.feeRate ?? reported.feeRate };
  // Does not pin lower fees; otherwise a return to the old fees would stop the user.
  return keepFacts(network, { ...reported, feeRate: pin?.feeRate ?? reported.feeRate });
}

/**
 * Returns the previous contract at this address, with the current fees, or `null` if the wallet
 * knows none there.
 */
function formerOf(network: Network, { settlement }: Pin): Pin | null {
  const sought = settlement.toLowerCase();
  const former = kept('formerContracts')[network] ?? [];
  const match = former.find((one) => one.settlement.toLowerCase() === sought);
  return match === undefined ? null : { ...match, feeRate: pinOf(network)?.feeRate };
}

function keepFacts(network: Network, reported: Pin | ChainFacts): ChainFacts {
  const chains = kept('chains');
  const before = chains[network];
  const facts = { rpcUrl: before?.rpcUrl ?? null, ...reported };
  if (JSON.stringify(before) !== JSON.stringify(facts)) {
    keep('chains', { ...chains, [network]: facts });
  }
  return facts;
}

/**
 * Pins the contracts of all networks at the first sign-in, because the page that revokes the
 * approval must work without the service.
 *
 * @throws OtherContracts if the contracts of the chosen network have changed.
 */
export function checkNetworks(networks: readonly PayerNetwork[], chosen: PayerNetwork): void {
  for (const one of networks) {
    try {
      checkContracts(one.network, factsOf(one));
    } catch (error) {
      // A change on another network is shown when the user switches to it.
      if (one === chosen || !(error instanceof OtherContracts)) throw error;
    }
  }
}

/** True if the addresses are equal, ignoring case. */
function isSame({ settlement: one }: Pin, { settlement: other }: Pin): boolean {
  return one.toLowerCase() === other.toLowerCase();
}

/** Remembers the previous contract, because its approval stays until the user revokes it there. */
function rememberFormer(network: Network, now: Pin): void {
  const before = pinOf(network);
  if (before === null || isSame(before, now)) return;
  const former = kept('formerContracts');
  const known = former[network] ?? [];
  if (known.some((one) => isSame(one, before))) return;
  keep('formerContracts', { ...former, [network]: [...known, before] });
}

/** Pins the contracts after the user has compared them with the operator's published addresses. */
export function trustReported(network: Network): void {
  const reported = kept('otherContracts')[network];
  if (reported === undefined) return;
  rememberFormer(network, reported);
  keepFacts(network, reported);
  rememberReported(network, null);
}
