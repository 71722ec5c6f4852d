import { decodeFunctionResult, encodeFunctionData } from 'viem';
import { describeError, type Log } from '#core/log.ts';
import { StartError } from '#core/start-error.ts';
import type { Chain } from '#settlement/chain/chain.ts';
import { RpcUnavailable } from '#settlement/chain/rpc.ts';
import { readEvents } from '#settlement/contract/contract-events.ts';
import { firstBlockOf } from '#settlement/editions.ts';
import { cellOfNumber, isOfCell } from '#settlement/numbers.ts';
import { settlementAbi } from '../../../contracts/artifacts/Settlement.ts';

/** The least delays for real money: they are the time to notice a stolen key. */
export const MIN_CONTRACT_DELAY_SECONDS = 86_400;

const DELAYS = ['WALLET_DELAY', 'PAYOUT_HOLD', 'RATES_DELAY', 'defaultAdminDelay'] as const;

/**
 * For the start in production: the delays are immutable, so a contract that was deployed for a test
 * can never be trusted with money. The service starts even if the chain cannot be reached.
 * @throws StartError when one of them is too short.
 */
export async function requireContractDelays(chain: Chain, log: Log): Promise<void> {
  const { settlement, network } = chain.config;
  try {
    const answers = await chain.calls(
      DELAYS.map((functionName) => {
        const data = encodeFunctionData({ abi: settlementAbi, functionName });
        return { to: settlement, data, words: 1 };
      }),
    );
    DELAYS.forEach((functionName, index) => {
      const answer = answers[index];
      if (answer?.ok !== true) throw new RpcUnavailable('a delay could not be read');
      const { data } = answer;
      const delay = decodeFunctionResult({ abi: settlementAbi, functionName, data });
      if (delay >= MIN_CONTRACT_DELAY_SECONDS) return;
      throw new StartError(
        `${functionName} of the settlement contract of ${network} is ${delay} s; production ` +
          `needs ${MIN_CONTRACT_DELAY_SECONDS} s: deploy one with npm run chain -- deploy`,
      );
    });
  } catch (error) {
    if (!(error instanceof RpcUnavailable)) throw error;
    log.warn('the contract is not checked yet', { network, error: describeError(error) });
  }
}

/** Of the newest logs: enough for a contract in use, and no long wait for one that is not. */
const PORTIONS = 20;

/**
 * A contract is one cell's: two that settle on one would book each other's payments as foreign.
 * The cell is read from the number of the newest payment.
 * @throws StartError when another cell settles there.
 */
export async function requireOwnContract(chain: Chain, cell: number, log: Log): Promise<void> {
  const { network, settlement } = chain.config;
  try {
    const number = await newestNumber(chain);
    if (number === null || isOfCell(cell, number)) return;
    throw new StartError(
      `CELL=${cell}, but cell ${cellOfNumber(number)} settles at ${settlement} (${network}): ` +
        'each cell has a contract of its own',
    );
  } catch (error) {
    if (!(error instanceof RpcUnavailable)) throw error;
    log.warn('the contract is not checked yet', { network, error: describeError(error) });
  }
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
