import { decodeFunctionResult, encodeFunctionData } from 'viem';
import { describeError, type Log } from '#core/log.ts';
import { StartError } from '#core/start-error.ts';
import type { Chain } from '#settlement/chain/chain.ts';
import { RpcUnavailable } from '#settlement/chain/rpc.ts';
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
