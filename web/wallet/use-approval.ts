import { useCallback, useEffect, useRef, useState } from 'react';
import type { PayerApi } from '../data/payer-api.ts';
import {
  type Approval,
  type ApprovalEvent,
  NEW_APPROVAL,
  nextApproval,
  type SignedApproval,
} from './approval-machine.ts';

const RETRY_MS = 2_000;
/** Polling interval: a block takes one or two seconds. */
const ASK_EVERY_MS = 700;

export interface ApprovalFlow {
  readonly flow: Approval;
  /**
   * Signs with `sign`, and follows the approval to its result. `sign` throws an Error with a
   * message for the user.
   */
  submit(sign: () => Promise<SignedApproval>): Promise<void>;
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * Performs the next step of the flow: polls the service, sends the approval, or reads the wallet.
 */
async function step(
  api: PayerApi,
  flow: Approval,
  dispatch: (event: ApprovalEvent) => Approval,
): Promise<void> {
  if (flow.at === 'waiting') {
    await pause(ASK_EVERY_MS);
    const seen = await api.request(flow.request);
    if (seen.is === 'done') dispatch({ type: 'seen', request: seen.value });
  }
  if (flow.at !== 'sending') return;
  dispatch({ type: 'sent' });
  const answer = await api.approve(flow.signed.body);
  if (dispatch({ type: 'answered', answer }).at !== 'sending') return;
  const wallet = await api.wallet();
  if (wallet.is === 'done') dispatch({ type: 'wallet', wallet: wallet.value });
  await pause(RETRY_MS);
}

/** Sends a signed approval, and repeats it until its result is known. */
export function useApproval(api: PayerApi): ApprovalFlow {
  const [flow, setFlow] = useState<Approval>(NEW_APPROVAL);
  const current = useRef(flow);
  const isShown = useRef(true);
  useEffect(() => {
    isShown.current = true;
    return () => {
      isShown.current = false;
    };
  }, []);
  const dispatch = useCallback((event: ApprovalEvent) => {
    current.current = nextApproval(current.current, event);
    setFlow(current.current);
    return current.current;
  }, []);
  const submit = useCallback(
    async (sign: () => Promise<SignedApproval>) => {
      if (dispatch({ type: 'submit' }).at !== 'signing') return;
      try {
        dispatch({ type: 'signed', signed: await sign() });
      } catch (error) {
        const problem = error instanceof Error ? error.message : String(error);
        dispatch({ type: 'not_signed', problem });
      }
      while (isShown.current && 'signed' in current.current) {
        await step(api, current.current, dispatch);
      }
    },
    [api, dispatch],
  );
  return { flow, submit };
}
