import {
  type Address,
  createPublicClient,
  type Hash,
  http,
  type PublicClient,
  parseEventLogs,
  type TransactionReceipt,
} from 'viem';
import { plainFetch } from '#outgoing/plain-fetch.ts';
import { settlementAbi } from '../../contracts/artifacts/Settlement.ts';
import { unpackCharges, unpackTerms } from '../../contracts/payment-tree.ts';

/** The fields of a receipt's JSON that the chain can confirm. */
export interface ReceiptClaims {
  readonly merchant: { readonly name: string };
  readonly order_id: string;
  readonly sale: number;
  readonly tip: number;
  readonly fees: {
    readonly acquirer: number;
    readonly protocol: number;
    readonly cashback: number;
  };
  readonly payer: string;
  readonly settled_at: string;
  readonly refunds: readonly {
    readonly amount: number;
    readonly status: string;
    readonly tx_hash: string | null;
  }[];
  readonly proof: {
    readonly chain_id: number;
    readonly settlement: string;
    readonly tx_hash: string;
    readonly block_number: number;
    readonly log_index: number;
    readonly number: number;
    readonly batch: number;
    readonly merchant: number | null;
    readonly rpc_url: string | null;
  };
}

export interface Finding {
  readonly holds: boolean;
  readonly what: string;
}

/** Converts `<web>/receipts/<token>` to the URL of the receipt's JSON; `null` for any other URL. */
export function receiptJsonUrl(url: string): string | null {
  if (!URL.canParse(url)) return null;
  const { origin, pathname } = new URL(url);
  const match = /^(.*)\/receipts\/([0-9A-Za-z]+)$/.exec(pathname);
  return match === null ? null : `${origin}${match[1]}/api/pay/v1/receipts/${match[2]}`;
}

type ContractEvent = ReturnType<typeof eventsIn>[number];

/** Returns the payments that a transaction settled at this contract, in order. */
function eventsIn(
  logs: Parameters<typeof parseEventLogs>[0]['logs'],
  { settlement }: ReceiptClaims['proof'],
) {
  const own = logs.filter(({ address }) => address.toLowerCase() === settlement.toLowerCase());
  return parseEventLogs({ abi: settlementAbi, eventName: 'PaymentSettled', logs: own }).map(
    ({ logIndex, args }) => ({
      logIndex,
      number: args.number,
      payer: args.payer,
      ...unpackTerms(args.terms),
      ...unpackCharges(args.charges),
    }),
  );
}

function compare(receipt: ReceiptClaims, event: ContractEvent): Finding[] {
  const { proof, fees } = receipt;
  const [begin = '', end = ''] = receipt.payer.toLowerCase().split('…');
  const payer = event.payer.toLowerCase();
  const same = (what: string, told: bigint | number | string, said: bigint | number | string) => ({
    holds: String(told) === String(said),
    what: `${what}: ${told}${String(told) === String(said) ? '' : `, the chain says ${said}`}`,
  });
  return [
    same('number of the payment', proof.number, event.number),
    same('merchant on the contract', proof.merchant ?? 'none', event.merchant),
    same('order', receipt.order_id, event.orderId),
    same('sale and tip, atoms', receipt.sale + receipt.tip, event.amount),
    same('acquirer fee', fees.acquirer, event.acquirerFee),
    same('protocol fee', fees.protocol, event.protocolFee),
    same('cashback', fees.cashback, event.cashback),
    same('batch', proof.batch, event.batch),
    {
      holds: begin.length >= 6 && payer.startsWith(begin) && payer.endsWith(end),
      what: `payer ${receipt.payer}: ${event.payer}`,
    },
  ];
}

/**
 * Checks the receipt's block, which nodes keep forever: it must contain the event and list the
 * transaction.
 */
async function checkBlock(
  client: PublicClient,
  { blockHash, blockNumber, transactionHash }: TransactionReceipt,
): Promise<Finding> {
  const block = await client.getBlock({ blockNumber });
  return {
    holds: block.hash === blockHash && block.transactions.includes(transactionHash),
    what: `block ${blockHash}, which lists the transaction`,
  };
}

/** Checks that the contract has used the settlement number. */
async function checkContract(client: PublicClient, { proof }: ReceiptClaims): Promise<Finding> {
  const address = proof.settlement as Address;
  const args = [BigInt(proof.number)] as const;
  const isSettled = { address, abi: settlementAbi, functionName: 'isSettled', args } as const;
  return {
    holds: await client.readContract(isSettled),
    what: 'the contract will not settle this number again',
  };
}

async function checkRefunds(client: PublicClient, receipt: ReceiptClaims): Promise<Finding[]> {
  const { proof } = receipt;
  const paid = receipt.refunds.filter(({ status }) => status === 'succeeded');
  return Promise.all(
    paid.map(async ({ amount, tx_hash }) => {
      const receipt = await client.getTransactionReceipt({ hash: tx_hash as Hash });
      const own = receipt.logs.filter(
        ({ address }) => address.toLowerCase() === proof.settlement.toLowerCase(),
      );
      const refunds = parseEventLogs({
        abi: settlementAbi,
        eventName: 'PaymentRefunded',
        logs: own,
      });
      const holds = refunds.some(
        ({ args }) => args.number === BigInt(proof.number) && args.amount === BigInt(amount),
      );
      return { holds, what: `refund of ${amount} in ${tx_hash}` };
    }),
  );
}

/** Compares a receipt with the chain as this node reports it. Uses no other source. */
export async function checkReceipt(receipt: ReceiptClaims, rpcUrl: string): Promise<Finding[]> {
  const { proof } = receipt;
  const client = createPublicClient({ transport: http(rpcUrl, { fetchFn: plainFetch }) });
  const chainId = await client.getChainId();
  const isChain = { holds: chainId === proof.chain_id, what: `chain ${proof.chain_id}` };
  if (!isChain.holds)
    return [{ ...isChain, what: `${isChain.what}, but the node is on chain ${chainId}` }];
  const mined = await client
    .getTransactionReceipt({ hash: proof.tx_hash as Hash })
    .catch(() => null);
  if (mined === null) return [isChain, { holds: false, what: `transaction ${proof.tx_hash}` }];
  const events = eventsIn(mined.logs, proof);
  const event = events.find(({ logIndex }) => logIndex === proof.log_index);
  const findings = [
    isChain,
    { holds: mined.status === 'success', what: `transaction ${proof.tx_hash}` },
    {
      holds: Number(mined.blockNumber) === proof.block_number,
      what: `block ${proof.block_number}`,
    },
    await checkBlock(client, mined),
    { holds: event !== undefined, what: `PaymentSettled at ${proof.settlement}` },
  ];
  if (event === undefined) return findings;
  return [
    ...findings,
    ...compare(receipt, event),
    await checkContract(client, receipt),
    ...(await checkRefunds(client, receipt)),
  ];
}
