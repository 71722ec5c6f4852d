import type { Answer } from '../data/api.ts';
import type { CreateApprovalBody, PayerRequest, Wallet } from '../data/payer-api.ts';
import { refusalText } from '../data/refusal-text.ts';
import { t } from '../ui/text/t.ts';

/** The signatures and their nonces. Each signature works once. */
export interface SignedApproval {
  readonly body: CreateApprovalBody;
  readonly nonces: Wallet['nonces'];
}

/** The states of a permit and a policy from the form to the chain. */
export type Approval =
  | { readonly at: 'editing'; readonly problem: string | null }
  | { readonly at: 'signing' }
  | {
      readonly at: 'sending';
      readonly signed: SignedApproval;
      /** The number of times that the approval was sent. */
      readonly sends: number;
      /** The reason why the last send was refused. An earlier send may still have been accepted. */
      readonly refusal: string | null;
    }
  | { readonly at: 'waiting'; readonly signed: SignedApproval; readonly request: string }
  | { readonly at: 'done' };

export type ApprovalEvent =
  | { readonly type: 'submit' }
  | { readonly type: 'signed'; readonly signed: SignedApproval }
  | { readonly type: 'not_signed'; readonly problem: string }
  | { readonly type: 'sent' }
  | { readonly type: 'answered'; readonly answer: Answer<PayerRequest> }
  | { readonly type: 'seen'; readonly request: PayerRequest }
  /** The wallet's on-chain state, as the service read it after the last response. */
  | { readonly type: 'wallet'; readonly wallet: Wallet };

export const NEW_APPROVAL: Approval = { at: 'editing', problem: null };

function editing(problem: string | null): Approval {
  return { at: 'editing', problem };
}

function ofRequest(signed: SignedApproval, request: PayerRequest): Approval {
  if (request.status === 'succeeded') return { at: 'done' };
  if (request.status === 'failed') return editing(t('wallet.allow.problem.failed'));
  return { at: 'waiting', signed, request: request.id };
}

type Sending = Extract<Approval, { at: 'sending' }>;

/**
 * Starts sending the approval. If there is nothing to relay, the wallet's own transaction has
 * already set it.
 */
function newSending(signed: SignedApproval): Approval {
  const { permit, policy } = signed.body;
  if (permit === undefined && policy === undefined) return { at: 'done' };
  return { at: 'sending', signed, sends: 0, refusal: null };
}

function onAnswered(flow: Sending, answer: Answer<PayerRequest>): Approval {
  const { signed, sends } = flow;
  switch (answer.is) {
    case 'done':
      return ofRequest(signed, answer.value);
    case 'unknown':
      return flow;
    case 'not_sent':
      return sends > 1 ? flow : editing(t('wallet.problem.not_sent_unchanged'));
    case 'refused': {
      // The service did nothing, or the result is unknown. Sending the same signatures again is
      // safe, because each works once.
      if (answer.status >= 500 || answer.status === 429) return flow;
      if (sends === 1) return editing(refusalText(answer.error));
      // An earlier send is still in progress.
      if (answer.error.code === 'unexpected_state') return flow;
      return { ...flow, refusal: refusalText(answer.error) };
    }
  }
}

/**
 * True if the nonces of the signatures are used up. Only signatures of this wallet can use them up.
 */
function isUsed({ body, nonces }: SignedApproval, wallet: Wallet): boolean {
  if (body.policy !== undefined) return wallet.nonces.policy > nonces.policy;
  return (wallet.nonces.permit ?? 0) > (nonces.permit ?? 0);
}

function onWallet(flow: Approval, wallet: Wallet): Approval {
  if (!('signed' in flow)) return flow;
  if (isUsed(flow.signed, wallet)) return { at: 'done' };
  const isRefused = flow.at === 'sending' && flow.refusal !== null;
  return isRefused ? editing(flow.refusal) : flow;
}

/**
 * Returns the state after an event. A pure function; events that do not fit the state are ignored.
 */
export function nextApproval(flow: Approval, event: ApprovalEvent): Approval {
  switch (event.type) {
    case 'submit':
      return flow.at === 'editing' ? { at: 'signing' } : flow;
    case 'signed':
      return flow.at === 'signing' ? newSending(event.signed) : flow;
    case 'not_signed':
      return flow.at === 'signing' ? editing(event.problem) : flow;
    case 'sent':
      return flow.at === 'sending' ? { ...flow, sends: flow.sends + 1 } : flow;
    case 'answered':
      return flow.at === 'sending' ? onAnswered(flow, event.answer) : flow;
    case 'seen':
      return flow.at === 'waiting' && flow.request === event.request.id
        ? ofRequest(flow.signed, event.request)
        : flow;
    case 'wallet':
      return onWallet(flow, event.wallet);
  }
}
