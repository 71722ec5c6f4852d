import { getAddress, hashTypedData, zeroAddress } from 'viem';
import { isRefusal, type Refusal, refuse } from '#core/answer.ts';
import { DAY_MS } from '#core/durations.ts';
import { newId } from '#core/ids.ts';
import { networkOf } from '#core/mode.ts';
import type { Sql, Tx } from '#db/database.ts';
import type { ProcessContext } from '#db/process-context.ts';
import { lockPayer, type PayerRow } from '#payers/payer-queries.ts';
import {
  countTransfersSince,
  payerRequests,
  payerTransfers,
  selectTransfer,
} from '#payers/request-queries.ts';
import type { Chain } from '#settlement/chain/chain.ts';
import {
  type CheckedSignature,
  checkSignature,
  type DeployFirst,
  onceDeployed,
} from '#settlement/chain/check/signature-refusals.ts';
import { simulateTransfer } from '#settlement/chain/check/simulate-signed.ts';
import { type Hex, requestOnChain } from '#settlement/chain-requests.ts';
import { isKeySignature } from '#settlement/contract/contract-calls.ts';
import { usdcTransfer } from '#settlement/contract/signed-messages.ts';
import { checksummed } from '#settlement/evm-address.ts';
import type { NetworkConfig } from '#settlement/network-config.ts';

/**
 * An EIP-3009 TransferWithAuthorization, as the wallet signed it. Its `validAfter` is 0, so it is
 * valid immediately.
 */
export interface SignedTransfer {
  readonly to: string;
  /** Atoms. */
  readonly amount: number;
  /** Unix seconds. */
  readonly valid_before: number;
  readonly nonce: string;
  readonly signature: string;
}

/**
 * Transfers per payer and UTC day for which the operator pays the gas: enough for a person, too few
 * for a business.
 */
export const TRANSFERS_PER_DAY = 3;
/** Minimum amount: the gas of a smaller transfer would cost more than the transfer is worth. */
export const LEAST_TRANSFER_ATOMS = 1_000_000;
/**
 * Bounds for the remaining validity of a signature. With less, the transaction may be mined too
 * late; with more, an old signature could still move money.
 */
const VALID_SECONDS = { least: 30, most: 3_600 };

/** Returns the start of the UTC day, in which transfers are counted. */
function dayOf(now: Date): Date {
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()));
}

/** Returns how many more transfers of this payer the operator pays for today. */
export async function transfersLeft(
  sql: Sql,
  { payerId, now }: { readonly payerId: string; readonly now: Date },
): Promise<number> {
  const made = await countTransfersSince(sql, { payerId, since: dayOf(now) });
  return Math.max(0, TRANSFERS_PER_DAY - made);
}

/** Refuses, as recipients, the payer's own wallet and addresses where USDC would be lost. */
function wrongRecipient(to: string, payer: Hex, { usdc, settlement }: NetworkConfig) {
  const wrong = (message: string) => refuse('parameter_invalid', message, 'to');
  if (checksummed(to) === null)
    return wrong('to is not a valid address: check its digits and the case of its letters.');
  const is = (other: string) => to.toLowerCase() === other.toLowerCase();
  if (is(zeroAddress)) return wrong('to is the zero address: USDC sent there is lost.');
  if (is(usdc)) return wrong('to is the token itself: USDC sent there is lost.');
  if (is(settlement)) return wrong('to is the settlement contract: USDC sent there is lost.');
  return is(payer) ? wrong('to is this wallet itself.') : null;
}

/** Counts a transfer toward its limits, in the transaction that accepts it. */
export type TakeTransfer = (
  tx: Tx,
  transfer: { readonly id: string; readonly payer: PayerRow },
) => Promise<Refusal | null>;

interface TransferRequest {
  readonly payer: PayerRow;
  readonly chain: Chain;
  /** The payer's current balance on the chain, in atoms. */
  readonly balance: bigint;
  /** True if the token has recorded this payer's nonce, through a transfer or its cancellation. */
  readonly isUsed: (payer: Hex, nonce: Hex) => Promise<boolean>;
  /** True if the operator pays the gas of transfers on this network. */
  readonly isOn: boolean;
  readonly deploy: DeployFirst;
  readonly take: TakeTransfer;
  readonly signed: SignedTransfer;
  readonly now: Date;
}

function checkTerms({ balance, signed, now }: TransferRequest): Refusal | null {
  if (balance < BigInt(signed.amount)) {
    return refuse(
      'parameter_invalid',
      `Not enough USDC: the wallet holds ${balance} atoms.`,
      'amount',
    );
  }
  const seconds = signed.valid_before - now.getTime() / 1000;
  if (seconds >= VALID_SECONDS.least && seconds <= VALID_SECONDS.most) return null;
  const { least, most } = VALID_SECONDS;
  const message = `valid_before must be ${least} to ${most} seconds from now, in Unix seconds.`;
  return refuse('parameter_invalid', message, 'valid_before');
}

function payloadOf({ payer, signed }: TransferRequest) {
  return {
    from: getAddress(payer.address),
    to: getAddress(signed.to),
    amount: String(signed.amount),
    validBefore: String(signed.valid_before),
    nonce: signed.nonce.toLowerCase() as Hex,
    signature: signed.signature as Hex,
  };
}

async function checkSigned(request: TransferRequest): Promise<CheckedSignature | Refusal> {
  const { from, to, amount, validBefore, nonce, signature } = payloadOf(request);
  const moved = { from, to, value: BigInt(amount), validBefore: BigInt(validBefore), nonce };
  const digest = hashTypedData(usdcTransfer(request.chain.config, moved));
  return checkSignature(
    request.chain,
    { signer: from, digest, signature, by: 'token', simulates: true },
    {
      code: 'parameter_invalid',
      message: 'signature was not made by this wallet over these values for this network’s token.',
      param: 'signature',
    },
  );
}

/**
 * Simulates the transfer of a contract wallet, after its deployment if there is one. The token may
 * not accept such signatures, or the wallet may need more gas than the operator pays for.
 */
async function tokenRefusal(
  request: TransferRequest,
  { signature, deployment }: CheckedSignature,
): Promise<Refusal | null> {
  if (deployment === null && isKeySignature(signature)) return null;
  const payload = { ...payloadOf(request), signature };
  const { status } = await simulateTransfer(request.chain, payload, deployment);
  if (status === 'accepted') return null;
  return status === 'unavailable'
    ? refuse('service_unavailable', 'The chain cannot be reached. Nothing was sent. Try again.')
    : refuse(
        'parameter_invalid',
        "This network's token does not accept this signature from a contract wallet. The " +
          'wallet can still send the transfer itself and pay the gas.',
        'signature',
      );
}

/** Refuses a wallet that has used up its transfers for today. */
async function noneLeft(sql: Sql, { payer, now }: TransferRequest): Promise<Refusal | null> {
  if ((await transfersLeft(sql, { payerId: payer.id, now })) > 0) return null;
  const seconds = Math.ceil((dayOf(now).getTime() + DAY_MS - now.getTime()) / 1000);
  const message = `The operator pays for ${TRANSFERS_PER_DAY} transfers per wallet per UTC day.`;
  const headers = { 'Retry-After': String(seconds) };
  return { ...refuse('rate_limit_exceeded', message), headers };
}

/**
 * @param isPaid true if the token has already recorded the nonce. The operator then pays no gas, so
 * no limit applies.
 */
async function leave(tx: Tx, request: TransferRequest, isPaid: boolean): Promise<string | Refusal> {
  const { payer, now } = request;
  const payload = payloadOf(request);
  const which = { payer_id: payer.id, nonce: payload.nonce };
  await lockPayer(tx, payer.id);
  // A client that lost the response and repeats its request gets the same transfer.
  const before = await selectTransfer(tx, which);
  if (before !== undefined) return before.request_id;
  const id = newId('transfer', now);
  const taken = async () => (await noneLeft(tx, request)) ?? request.take(tx, { id, payer });
  const tooMany = isPaid ? null : await taken();
  if (tooMany !== null) return tooMany;
  await payerTransfers.insertAll(tx, [{ ...which, request_id: id, created: now }]);
  const times = { created: now, updated: now };
  await payerRequests.insert(tx, { id, payer_id: payer.id, kind: 'transfer', ...times });
  const { livemode } = payer;
  await requestOnChain(tx, { livemode, kind: 'transfer', subjectId: id, payload, now });
  return id;
}

function checkSwitches({ payer, isOn }: TransferRequest): Refusal | null {
  if (!isOn) {
    return refuse(
      'not_configured',
      'On this network, wallets pay the gas for their own transfers.',
    );
  }
  if (payer.blocked_at === null) return null;
  const words = 'This wallet is blocked here. It can still send transfers itself and pay the gas.';
  return refuse('unexpected_state', words);
}

/** Deploys the wallet if necessary, unless the transfer would be refused afterwards. */
function deployed(
  { db }: ProcessContext,
  request: TransferRequest,
  checked: CheckedSignature | Refusal,
) {
  const { payer, chain } = request;
  return onceDeployed(checked, {
    check: () => checkSigned(request),
    deploy: (first, deployment) => {
      const whyUnable = async () => (await noneLeft(db, request)) ?? tokenRefusal(request, first);
      return request.deploy({ chain, wallet: getAddress(payer.address), deployment, whyUnable });
    },
  });
}

/**
 * Sends USDC from the payer's wallet; the operator pays the gas. The same authorization always
 * returns the same transfer. If the token has already accepted the authorization, for example
 * before a restore lost the row, the request is not refused, because the payer would then send the
 * money again.
 * @returns the ID of the request, whose result comes later.
 */
export async function createTransfer(
  ctx: ProcessContext,
  request: TransferRequest,
): Promise<string | Refusal> {
  const { payer, signed } = request;
  const nonce = signed.nonce.toLowerCase() as Hex;
  const before = await selectTransfer(ctx.db, { payer_id: payer.id, nonce });
  if (before !== undefined) return before.request_id;
  // Runs first, because the code below requires valid addresses.
  const recipient = wrongRecipient(signed.to, payer.address, request.chain.config);
  if (recipient !== null) return recipient;
  const checked = await checkSigned(request);
  const isSigned = !isRefusal(checked);
  const isPaid = isSigned && (await request.isUsed(getAddress(payer.address), nonce));
  const wrong = isPaid ? null : (checkSwitches(request) ?? checkTerms(request));
  if (wrong !== null) return wrong;
  const verified = isPaid ? checked : await deployed(ctx, request, checked);
  if (isRefusal(verified)) return verified;
  const { signature } = verified;
  // A deployment takes seconds, in which the signature may expire.
  const late = { ...request, now: ctx.clock.now() };
  const refused = isPaid ? null : (checkTerms(late) ?? (await tokenRefusal(late, verified)));
  if (refused !== null) return refused;
  const signedByPayer = { ...late, signed: { ...signed, signature } };
  const id = await ctx.db.transaction((tx) => leave(tx, signedByPayer, isPaid));
  ctx.wakeups.send('chain-requests', networkOf(payer.livemode));
  return id;
}
