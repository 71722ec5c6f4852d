import { decodeFunctionResult, encodeFunctionData } from 'viem';
import { StartError } from '#core/start-error.ts';
import type { Database } from '#db/database.ts';
import type { Chain } from '#settlement/chain/chain.ts';
import { RpcUnavailable } from '#settlement/chain/rpc/rpc.ts';
import type { Hex } from '#settlement/chain-requests.ts';
import { readEvents } from '#settlement/contract/contract-events.ts';
import { roleId } from '#settlement/contract/contract-roles.ts';
import { timelockOf } from '#settlement/contract/timelock-calls.ts';
import { hasContracts, keepContracts } from '#settlement/contract-queries.ts';
import { firstBlockOf } from '#settlement/contract-versions.ts';
import { cellOfNumber, isOfCell } from '#settlement/settlement-numbers.ts';
import { settlementAbi } from '../../../../contracts/artifacts/Settlement.ts';
import { timelockAbi } from '../../../../contracts/artifacts/Timelock.ts';

/**
 * Minimum delays of contracts for real money, so that operators have time to notice a stolen key.
 */
export const MIN_CONTRACT_DELAY_SECONDS = 86_400;

/** The minimum delay of a timelock operation, within which guardians can cancel it. */
export const GOVERNANCE_DELAY_SECONDS = 2 * 86_400;

const DELAYS = ['WALLET_DELAY', 'PAYOUT_HOLD'] as const;

const MIN_DELAY = { abi: timelockAbi, functionName: 'getMinDelay' } as const;
const HAS_ROLE = { abi: timelockAbi, functionName: 'hasRole' } as const;
/** The zero address. Granting a role to it lets every account use that role. */
const ANYONE: Hex = `0x${'00'.repeat(20)}`;

async function readOne(chain: Chain, to: Hex, data: Hex): Promise<Hex> {
  const [answer] = await chain.calls([{ to, data, words: 1 }]);
  if (answer?.ok !== true) throw new RpcUnavailable('the contract could not be read');
  return answer.data;
}

/**
 * Returns how many seconds an operation of the contract's timelock waits.
 * @throws RpcUnavailable
 */
export async function readDelay(chain: Chain, settlement: Hex): Promise<bigint> {
  const data = await readOne(chain, timelockOf(settlement), encodeFunctionData(MIN_DELAY));
  return decodeFunctionResult({ ...MIN_DELAY, data });
}

/**
 * Checks the contract when the service starts in production. Its delays are immutable, so a
 * contract that was deployed with short test delays must never hold money.
 * @throws StartError if a delay is too short, or if the timelock's roles are wrong.
 * @throws RpcUnavailable
 */
export async function requireSafeContract(chain: Chain): Promise<void> {
  const { settlement, network } = chain.config;
  for (const functionName of DELAYS) {
    const call = encodeFunctionData({ abi: settlementAbi, functionName });
    const data = await readOne(chain, settlement, call);
    const delay = decodeFunctionResult({ abi: settlementAbi, functionName, data });
    requireDelay(network, { name: functionName, delay, least: MIN_CONTRACT_DELAY_SECONDS });
  }
  const delay = Number(await readDelay(chain, settlement));
  requireDelay(network, { name: 'getMinDelay', delay, least: GOVERNANCE_DELAY_SECONDS });
  await requireTimelock(chain);
}

function requireDelay(
  network: string,
  { name, delay, least }: { readonly name: string; readonly delay: number; readonly least: number },
): void {
  if (delay >= least) return;
  throw new StartError(
    `${name} of the settlement contract of ${network} is ${delay} s; production ` +
      `needs ${least} s: deploy a new contract with npm run chain -- deploy`,
  );
}

/**
 * Checks the timelock's roles at each start, because operations can change them.
 * @throws StartError if its guardians cannot cancel operations, some accounts cannot execute them,
 * or it has another admin.
 * @throws RpcUnavailable
 */
export async function requireTimelock(chain: Chain): Promise<void> {
  const { settlement, network } = chain.config;
  const timelock = timelockOf(settlement);
  const has = async (role: 'canceller' | 'executor' | 'admin', account: Hex) => {
    const data = encodeFunctionData({ ...HAS_ROLE, args: [roleId(role), account] });
    const answer = await readOne(chain, timelock, data);
    return decodeFunctionResult({ ...HAS_ROLE, data: answer });
  };
  const rules: readonly (readonly [boolean, string])[] = [
    [await has('canceller', settlement), 'its guardians cannot cancel operations'],
    [await has('executor', ANYONE), 'not everyone can execute operations'],
    [await has('admin', timelock), 'the timelock is not its own admin'],
    [!(await has('admin', settlement)), 'the contract is an admin of the timelock'],
  ];
  const broken = rules.find(([holds]) => !holds);
  if (broken === undefined) return;
  throw new StartError(
    `the settlement contract of ${network} is not governed as required: ${broken[1]}`,
  );
}

/**
 * The number of portions of logs to read, from the newest: enough to find a payment on an active
 * contract, and few enough to read quickly if the contract is unused.
 */
const PORTIONS = 20;

/**
 * Checks that the contract belongs to this cell: two cells on one contract would each book the
 * other's payments as foreign. The settlement number of the newest payment identifies the cell.
 * @throws StartError if another cell settles there.
 * @throws RpcUnavailable
 */
export async function requireOwnContract(chain: Chain, cell: number): Promise<void> {
  const { network, settlement } = chain.config;
  const number = await newestNumber(chain);
  if (number === null || isOfCell(cell, number)) return;
  throw new StartError(
    `CELL=${cell}, but cell ${cellOfNumber(number)} settles at ${settlement} (${network}): ` +
      'each cell needs its own contract',
  );
}

/**
 * Records the order of the chain's contracts. At a ledger's first start, this waits for the proof
 * that they belong to this cell; recorded contracts have already been proven.
 * @throws StartError if another cell settles on the contract, or if the settings omit a contract
 * that the ledger has used.
 */
export async function keepOwnContracts(db: Database, chain: Chain): Promise<void> {
  const { config } = chain;
  if (await hasContracts(db, config.livemode)) return keepContracts(db, config);
  await chain.checkAtStart(async () => {
    await requireOwnContract(chain, db.cell);
    await keepContracts(db, config);
  });
}

async function newestNumber(chain: Chain): Promise<bigint | null> {
  const { number: head } = await chain.newest();
  let portions = 0;
  const range = { fromBlock: firstBlockOf(chain.config), toBlock: head, newestFirst: true };
  for await (const { logs } of chain.logPortions(range)) {
    const paid = readEvents(chain.config, logs).filter(({ event }) => event === 'PaymentSettled');
    const last = paid.at(-1);
    if (last?.event === 'PaymentSettled') return last.number;
    if (++portions === PORTIONS) return null;
  }
  return null;
}
