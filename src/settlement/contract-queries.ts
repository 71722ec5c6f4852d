import { getAddress } from 'viem';
import { StartError } from '#core/start-error.ts';
import type { Database } from '#db/database.ts';
import { type Contracts, contractsOf } from '#settlement/contract-versions.ts';
import type { NetworkConfig } from '#settlement/network-config.ts';

/** True if a contract of this network was recorded at an earlier start. */
export async function hasContracts(db: Database, livemode: boolean): Promise<boolean> {
  const rows = await db.query(
    'select 1 as known from settlement_contracts where livemode = $1 limit 1',
    [livemode],
  );
  return rows.length > 0;
}

type Known = Contracts & Pick<NetworkConfig, 'livemode' | 'network'>;

/**
 * Records a network's contracts in order, because merchant numbers depend on the order. An operator
 * may add a contract long after its deployment, so a new row is not marked `read`: reconciliation
 * then reads the contract's earlier events once.
 * @throws StartError if the settings omit or replace a contract that the ledger has used.
 */
export async function keepContracts(db: Database, network: Known): Promise<void> {
  const contracts = contractsOf(network);
  await db.query(
    `insert into settlement_contracts (livemode, contract_version, settlement, read)
     select $1, contract_version - 1, settlement, contract_version = 1
     from unnest($2::text[]) with ordinality as t (settlement, contract_version)
     on conflict do nothing`,
    [network.livemode, contracts.map(({ settlement }) => settlement.toLowerCase())],
  );
  const rows = await db.query<{ contract_version: number; settlement: string }>(
    `select contract_version, settlement from settlement_contracts
     where livemode = $1 order by contract_version`,
    [network.livemode],
  );
  const other = rows.find(
    (row) => contracts[row.contract_version]?.settlement.toLowerCase() !== row.settlement,
  );
  if (other === undefined) return;
  const prefix = `CHAIN_${network.network.toUpperCase()}_`;
  const known = rows.map(({ settlement }) => getAddress(settlement)).join(', ');
  const missing = getAddress(other.settlement);
  throw new StartError(
    `${prefix}SETTLEMENT and ${prefix}PREVIOUS_CONTRACTS do not list ${missing}, on which ` +
      `this database has payments. List all of its contracts, oldest first: ${known}`,
  );
}
