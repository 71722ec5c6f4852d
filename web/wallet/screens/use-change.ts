import { useState } from 'react';
import type { Answer } from '../../data/api.ts';
import { useHere } from '../here.tsx';

const NOT_SENT = 'Not sent: there is no connection. Nothing has changed.';
const UNKNOWN = 'We don’t know yet whether it worked. Check the list before you try again.';

export interface Change {
  readonly busy: boolean;
  readonly problem: string | null;
  /** @returns null where it did not happen, or nobody knows: `problem` says which. */
  change<T>(send: () => Promise<Answer<T>>): Promise<T | null>;
}

/** One change at the service, and what to say when it does not go through. */
export function useChange(): Change {
  const { refresh } = useHere();
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  return {
    busy,
    problem,
    change: async (send) => {
      if (busy) return null;
      setBusy(true);
      setProblem(null);
      const answer = await send();
      refresh();
      setBusy(false);
      if (answer.is === 'done') return answer.value;
      if (answer.is === 'refused') setProblem(answer.error.message);
      else setProblem(answer.is === 'not_sent' ? NOT_SENT : UNKNOWN);
      return null;
    },
  };
}
