import { valueIn } from '../data/api.ts';
import { type Hex, randomBytes, toHex } from '../data/bytes.ts';
import type { Wallet } from '../data/payer-api.ts';
import { t } from '../ui/text/t.ts';
import {
  isGasless,
  pushToChain,
  pushToService,
  type Sending,
  wrongRecipient,
} from './pending-transfer.ts';
import { checkContracts } from './pinned-contracts.ts';
import type { Account } from './private-key-account.ts';
import { deadlineAt, factsOf, signTransfer } from './sign-permit-and-transfer.ts';
import {
  type ChainTruth,
  chainNode,
  OtherChain,
  readChain,
  sendUsdc,
  TRANSFER_GAS_LIMIT,
} from './wallet-chain-node.ts';
import type { Here } from './wallet-context.tsx';
import { keep, kept, type Network } from './wallet-storage.ts';

/** The plan that the user sees before confirming the transfer. */
export interface Plan {
  readonly to: Hex;
  readonly atoms: bigint;
  readonly how:
    | { readonly by: 'service' }
    | { readonly by: 'wallet'; readonly truth: ChainTruth }
    | { readonly by: 'nobody'; readonly words: string };
}

async function howOf(
  { vault, network }: Here,
  wallet: Wallet,
  atoms: bigint,
): Promise<Plan['how']> {
  if (isGasless(wallet, atoms)) return { by: 'service' };
  const chain = checkContracts(network, factsOf(wallet));
  const node = chainNode(chain);
  if (node === null) return { by: 'nobody', words: t('wallet.send.problem.no_node') };
  try {
    return { by: 'wallet', truth: await readChain(node, chain, vault.address) };
  } catch (error) {
    return {
      by: 'nobody',
      words: t(
        error instanceof OtherChain
          ? 'wallet.problem.other_chain'
          : 'wallet.send.problem.node_silent',
      ),
    };
  }
}

/**
 * Checks the input and determines who pays the gas.
 * @param input.atoms The amount, or the error in the typed text.
 * @throws OtherContracts
 */
export async function planSending(input: {
  readonly here: Here;
  readonly wallet: Wallet;
  readonly recipient: string;
  readonly atoms: bigint | string;
}): Promise<
  { readonly plan: Plan } | { readonly wrong: { readonly to?: string; readonly sum?: string } }
> {
  const { here, wallet, recipient, atoms } = input;
  const { readAddress } = await import('./private-key-account.ts');
  const chain = checkContracts(here.network, factsOf(wallet));
  const to = readAddress(recipient);
  const own = here.vault.address;
  const wrong =
    to === null ? t('wallet.send.problem.recipient') : wrongRecipient(to, { chain, own });
  if (to === null || wrong !== null || typeof atoms === 'string') {
    return {
      wrong: {
        ...(wrong === null ? {} : { to: wrong }),
        ...(typeof atoms === 'string' ? { sum: atoms } : {}),
      },
    };
  }
  return { plan: { to, atoms, how: await howOf(here, wallet, atoms) } };
}

/** Signs the reviewed plan. @throws OtherContracts, ApiFailure */
export async function signSending(input: {
  readonly here: Here;
  readonly account: Account;
  readonly plan: Plan;
}): Promise<Sending> {
  const { here, account, plan } = input;
  const { to, atoms, how } = plan;
  // Reads the facts again, because another window may have received other contracts since the
  // review.
  const chain = checkContracts(here.network, factsOf(valueIn(await here.api.wallet())));
  if (how.by !== 'wallet') {
    const nonce = toHex(randomBytes(32));
    const validBefore = deadlineAt(here.api.now());
    const body = await signTransfer(account, { chain, to, amount: atoms, validBefore, nonce });
    return { by: 'service', body, sends: 0 };
  }
  const { signTransaction, hashOf } = await import('./private-key-account.ts');
  const { nonce, maxFeePerGas } = how.truth;
  const call = { chainId: chain.chainId, to: chain.usdc, data: sendUsdc(to, atoms) };
  const gas = TRANSFER_GAS_LIMIT;
  const raw = await signTransaction(account, { ...call, nonce, gas, maxFeePerGas });
  return { by: 'wallet', to, amount: Number(atoms), raw, hash: hashOf(raw), nonce, sends: 0 };
}

/** Stores the transfer before it is sent. `null` removes it once its result is known. */
export function keepSending(network: Network, sending: Sending | null): void {
  const { [network]: _, ...others } = kept('sending');
  keep('sending', sending === null ? others : { ...others, [network]: sending });
}

/** Polling interval: a block takes one or two seconds. */
const ASK_EVERY_MS = 1_500;
/**
 * Number of times that an unseen transaction is looked up, for 30 seconds in all. One URL may lead
 * to several nodes, some of which lag behind.
 */
const UNSEEN_LOOKS = 20;

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

function push({ api, vault, network }: Here, sending: Sending) {
  if (sending.by === 'service') return pushToService(api, sending);
  const node = chainNode(kept('chains')[network]);
  return node === null
    ? Promise.resolve({ is: 'open' } as const)
    : pushToChain(node, sending, vault.address);
}

/** Sends the stored transfer, repeatedly if necessary, until its result is known. */
export async function follow(input: {
  readonly here: Here;
  readonly signal: AbortSignal;
  /** Called with the problem; `null` means success. */
  readonly onEnd: (problem: string | null) => void;
}): Promise<void> {
  const { here, signal, onEnd } = input;
  let unseen = 0;
  while (!signal.aborted) {
    const sending = kept('sending')[here.network];
    if (sending === undefined) return;
    // Stores the transfer before sending it. After a reload, it must not look as if it had never
    // been sent.
    if (sending.sends === 0) keepSending(here.network, { ...sending, sends: 1 });
    const fate = await push(here, sending);
    if (signal.aborted) return;
    unseen = fate.is === 'unseen' ? unseen + 1 : 0;
    if (unseen === UNSEEN_LOOKS) return onEnd(t('wallet.send.problem.replaced'));
    if (fate.is === 'sent') return onEnd(null);
    if (fate.is === 'failed') return onEnd(fate.words);
    await pause(ASK_EVERY_MS);
  }
}
