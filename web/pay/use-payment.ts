import { useCallback, useEffect, useReducer, useRef } from 'react';
import type { Answer } from '../data/api.ts';
import type { Hex } from '../data/bytes.ts';
import { refusalText } from '../data/refusal-text.ts';
import { t } from '../ui/text/t.ts';
import type { Message } from './build-payment-message.ts';
import { Refused } from './connect-wallet.ts';
import { type PayApi, type PayLink, type Signed, totalOf } from './pay-link.ts';
import { next, type PayEvent, START, type Step } from './pay-machine.ts';

/** The interval at which the page polls the payment's state. */
const POLL_MS = 1_500;
/** Delay before a request without a response is sent again. */
const RETRY_MS = 2_000;

export interface Signer {
  readonly address: Hex;
  /** @throws Refused */
  sign(message: Message): Promise<Hex>;
}

export interface Payment {
  readonly step: Step;
  /** Milliseconds to add to this device's clock to get the service's. */
  readonly clockOffsetMs: number;
  /**
   * `connect` resolves to the signer, or to `null` if the page already shows why it cannot sign.
   * Nothing is sent before there is a signature.
   */
  pay(connect: () => Promise<Signer | null>): void;
  reload(): void;
}

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * True if the refusal is temporary. Such a refusal reveals nothing about an earlier send of the
 * request.
 */
function isForNow(answer: Answer<unknown>): boolean {
  return answer.is === 'refused' && (answer.status === 429 || answer.status >= 500);
}

/**
 * Sends the signature until the result is known. The same signature always gets the first response.
 * @param wasSent True if an earlier send may have arrived. Then a failure to reach the network
 * proves nothing.
 */
async function sendUntilKnown(api: PayApi, signed: Signed, wasSent = false) {
  let mayHaveArrived = wasSent;
  for (;;) {
    const answer = await api.pay(signed);
    if (!mayHaveArrived && answer.is !== 'unknown') return answer;
    const isKnown = answer.is === 'done' || answer.is === 'refused';
    if (isKnown && !isForNow(answer)) return answer;
    mayHaveArrived = true;
    await sleep(RETRY_MS);
  }
}

function problemOf(error: unknown): string {
  if (error instanceof Refused) return t('pay.problem.refused');
  if (error instanceof Error && error.name === 'OtherMessage')
    return t('pay.problem.other_message');
  if (error instanceof Error && error.name === 'OtherContracts')
    return t('pay.problem.other_contracts');
  return t('pay.problem.failed');
}

/**
 * Builds the message to sign, and checks it against the contents of the page and the pinned
 * contracts.
 */
async function messageNow(
  api: PayApi,
  {
    shown,
    from,
    tip,
  }: { readonly shown: PayLink; readonly from: Hex; readonly tip: bigint | null },
): Promise<
  { readonly message: Message } | { readonly problem: string; readonly read: Answer<PayLink> }
> {
  const [read, { messageFor, contractsOf, checkContracts }] = await Promise.all([
    api.read({ from, tip }),
    import('./build-payment-message.ts'),
  ]);
  if (read.is !== 'done') {
    return {
      problem: read.is === 'refused' ? refusalText(read.error) : t('pay.unreachable.text'),
      read,
    };
  }
  const fresh = read.value;
  if (fresh.typed_data === null) return { problem: '', read };
  if (totalOf(fresh) !== totalOf(shown)) return { problem: t('pay.problem.price_changed'), read };
  const told = { ...shown, salt: fresh.salt };
  const message = messageFor(told, fresh.typed_data, from);
  checkContracts(shown.network, contractsOf(message, shown));
  return { message };
}

/** After a reload, sends the stored signature again until the service responds. */
async function resume(
  api: PayApi,
  { signed, left }: { readonly signed: Signed; readonly left: AbortSignal },
  dispatch: (event: PayEvent) => void,
) {
  let read = await api.read({ tip: signed.tip });
  while (read.is !== 'done' && !left.aborted) {
    dispatch({ type: 'read', answer: read });
    if (read.is === 'refused' && read.status === 404) return;
    await sleep(POLL_MS);
    read = await api.read({ tip: signed.tip });
  }
  if (read.is !== 'done' || left.aborted) return;
  dispatch({ type: 'resumed', link: read.value });
  dispatch({ type: 'answered', answer: await sendUntilKnown(api, signed, true) });
}

interface Following {
  readonly isOver: boolean;
  reload(): Promise<void>;
  dispatch(event: PayEvent): void;
}

/** Polls the payment until it has ended. */
function useFollowing(api: PayApi, { isOver, reload, dispatch }: Following): void {
  useEffect(() => {
    if (isOver) return;
    const leaving = new AbortController();
    let timer: ReturnType<typeof setInterval> | undefined;
    const follow = () => {
      void reload();
      timer = setInterval(() => void reload(), POLL_MS);
    };
    const signed = api.sent?.() ?? null;
    if (signed === null) follow();
    else {
      // Follows the stored signature instead: the payment's public state would end the wait for
      // this tab's own response.
      void resume(api, { signed, left: leaving.signal }, dispatch).then(() => {
        if (!leaving.signal.aborted) follow();
      });
    }
    return () => {
      leaving.abort();
      clearInterval(timer);
    };
  }, [api, isOver, reload, dispatch]);
}

/** Runs the payment. @param tip `null` until the payer has chosen, or if no tip is offered. */
export function usePayment(api: PayApi, tip: bigint | null): Payment {
  const [step, dispatch] = useReducer(next, START);
  const offset = useRef(0);
  const isPaying = useRef(false);
  const isOver = step.at === 'ended' || step.at === 'missing';

  const reload = useCallback(async () => {
    const answer = await api.read({ tip });
    if (answer.is === 'done' && answer.serverTime !== null) {
      offset.current = answer.serverTime - Date.now();
    }
    dispatch({ type: 'read', answer });
  }, [api, tip]);

  useFollowing(api, { isOver, reload, dispatch });

  const run = async (shown: PayLink, connect: () => Promise<Signer | null>) => {
    dispatch({ type: 'began' });
    try {
      const signer = await connect();
      if (signer === null) return dispatch({ type: 'stopped', problem: null });
      const message = await messageNow(api, { shown, from: signer.address, tip });
      if ('problem' in message) {
        dispatch({ type: 'stopped', problem: message.problem === '' ? null : message.problem });
        return dispatch({ type: 'read', answer: message.read });
      }
      const signature = await signer.sign(message.message);
      dispatch({ type: 'sent' });
      const answer = await sendUntilKnown(api, { from: signer.address, signature, tip });
      dispatch({ type: 'answered', answer });
    } catch (error) {
      dispatch({ type: 'stopped', problem: problemOf(error) });
    }
  };

  return {
    step,
    clockOffsetMs: offset.current,
    reload: () => void reload(),
    pay: (connect) => {
      if (step.at !== 'open' || isPaying.current) return;
      isPaying.current = true;
      void run(step.link, connect).finally(() => {
        isPaying.current = false;
      });
    },
  };
}
