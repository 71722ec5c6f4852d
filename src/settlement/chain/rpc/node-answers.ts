import type { Hex } from '#settlement/chain-requests.ts';

/**
 * An invalid result is the node's fault: the next provider is tried, and no decision uses the
 * result.
 */

type Check = (result: unknown, params: readonly unknown[]) => boolean;

const QUANTITY = /^0x(0|[1-9a-f][0-9a-f]{0,63})$/i;
/** Some nodes pad quantities with zeros. */
const LOOSE_QUANTITY = /^0x[0-9a-f]{1,64}$/i;
const BYTES = /^0x([0-9a-f]{2})*$/i;
const HASH = /^0x[0-9a-f]{64}$/i;
const ADDRESS = /^0x[0-9a-f]{40}$/i;

const CHECKS: Readonly<Record<string, Check>> = {
  eth_chainId: isQuantity,
  eth_blockNumber: isQuantity,
  eth_getTransactionCount: isQuantity,
  eth_getBalance: isQuantity,
  // How little gas a transaction may need is the chain's affair: Glamsterdam lowers it to 12,000.
  eth_estimateGas: (result) => isQuantity(result) && BigInt(result) > 0n,
  eth_getCode: isBytes,
  eth_call: isBytes,
  eth_sendRawTransaction: (result) => matches(result, HASH),
  eth_getBlockByNumber: isBlockOrNull,
  eth_getTransactionReceipt: isReceiptOrNull,
  eth_getBlockReceipts: isReceiptsOrNull,
  eth_getTransactionByHash: isTransactionOrNull,
  eth_getLogs: isLogs,
  eth_feeHistory: isFeeHistory,
};

/**
 * True if this is a possible result of the method. Results of methods that the service does not use
 * are not checked.
 */
export function isWellFormed(
  call: { readonly method: string; readonly params: readonly unknown[] },
  result: unknown,
): boolean {
  return CHECKS[call.method]?.(result, call.params) ?? true;
}

function matches(value: unknown, shape: RegExp): value is Hex {
  return typeof value === 'string' && shape.test(value);
}

function isQuantity(value: unknown): value is Hex {
  return matches(value, LOOSE_QUANTITY);
}

function isBytes(value: unknown): value is Hex {
  return matches(value, BYTES);
}

type Fields = { readonly [name: string]: unknown };

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function same(a: unknown, b: unknown): boolean {
  return String(a).toLowerCase() === String(b).toLowerCase();
}

function isBlockOrNull(result: unknown, [tag]: readonly unknown[]): boolean {
  // There is always a newest block; there may be no final one.
  if (result === null) return tag !== 'latest';
  if (!isFields(result)) return false;
  const { number, hash, parentHash, timestamp, baseFeePerGas, transactions = [] } = result;
  return (
    isQuantity(number) &&
    (!matches(tag, QUANTITY) || BigInt(number) === BigInt(tag)) &&
    matches(hash, HASH) &&
    matches(parentHash, HASH) &&
    isQuantity(timestamp) &&
    BigInt(timestamp) < MAX_TIMESTAMP &&
    (baseFeePerGas === undefined || baseFeePerGas === null || isQuantity(baseFeePerGas)) &&
    Array.isArray(transactions) &&
    transactions.every(isTransactionOfBlock)
  );
}

/**
 * True for a transaction's hash or a whole transaction; the request determines which one the block
 * contains.
 */
function isTransactionOfBlock(one: unknown): boolean {
  if (!isFields(one)) return matches(one, HASH);
  return matches(one.hash, HASH) && matches(one.from, ADDRESS) && isQuantity(one.nonce);
}

/** In seconds: the latest time that a JavaScript Date can hold. */
const MAX_TIMESTAMP = 8_640_000_000_000n;

function isReceiptOrNull(result: unknown, [hash]: readonly unknown[]): boolean {
  if (result === null) return true;
  if (!isFields(result) || !same(result.transactionHash, hash)) return false;
  // Some nodes return a receipt for a pending transaction; it counts as no receipt.
  if (result.blockNumber === null) return true;
  const { blockNumber, blockHash, logs } = result;
  return (
    (result.status === '0x1' || result.status === '0x0') &&
    isQuantity(blockNumber) &&
    matches(blockHash, HASH) &&
    matches(result.from, ADDRESS) &&
    isQuantity(result.gasUsed) &&
    Array.isArray(logs) &&
    logs.every(
      (log) => isLog(log) && same(log.transactionHash, hash) && same(log.blockHash, blockHash),
    )
  );
}

function isReceiptsOrNull(result: unknown, [number]: readonly unknown[]): boolean {
  if (result === null) return true;
  return (
    Array.isArray(result) &&
    result.every(
      (one) =>
        isFields(one) &&
        matches(one.transactionHash, HASH) &&
        isQuantity(one.blockNumber) &&
        BigInt(one.blockNumber) === BigInt(String(number)) &&
        isReceiptOrNull(one, [one.transactionHash]),
    )
  );
}

/** The transaction's block is null until it is mined. */
function isTransactionOrNull(result: unknown, [hash]: readonly unknown[]): boolean {
  if (result === null) return true;
  if (!isFields(result) || !same(result.hash, hash)) return false;
  return result.blockHash === null || matches(result.blockHash, HASH);
}

function isLog(log: unknown): log is Fields {
  return (
    isFields(log) &&
    matches(log.address, ADDRESS) &&
    Array.isArray(log.topics) &&
    log.topics.length <= MAX_TOPICS &&
    log.topics.every((topic) => matches(topic, HASH)) &&
    isBytes(log.data) &&
    matches(log.transactionHash, HASH) &&
    matches(log.blockHash, HASH) &&
    isQuantity(log.blockNumber) &&
    isQuantity(log.logIndex) &&
    log.removed !== true
  );
}

const MAX_TOPICS = 4;

/**
 * True if the logs match the request; logs of other blocks or contracts answer a different request.
 */
function isLogs(result: unknown, [filter]: readonly unknown[]): boolean {
  if (!Array.isArray(result)) return false;
  const fields: Fields = isFields(filter) ? filter : {};
  const within = (number: Hex) =>
    (!isQuantity(fields.fromBlock) || BigInt(number) >= BigInt(fields.fromBlock)) &&
    (!isQuantity(fields.toBlock) || BigInt(number) <= BigInt(fields.toBlock));
  const { address } = fields;
  const contracts = Array.isArray(address) ? address : [address];
  return result.every(
    (log) =>
      isLog(log) &&
      within(log.blockNumber as Hex) &&
      (address === undefined || contracts.some((one) => same(log.address, one))),
  );
}

function isFeeHistory(result: unknown): boolean {
  if (!isFields(result)) return false;
  const { reward = [] } = result;
  if (reward === null) return true;
  return (
    Array.isArray(reward) && reward.every((tips) => Array.isArray(tips) && tips.every(isQuantity))
  );
}
