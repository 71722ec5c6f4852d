import { useState } from 'react';
import type { Answer } from '../../data/api.ts';
import { refusalText } from '../../data/refusal-text.ts';
import { t } from '../../ui/text/t.ts';
import { useHere } from '../wallet-context.tsx';

export interface Change {
  readonly busy: boolean;
  readonly problem: string | null;
  /** Sends a change. @returns `null` if it failed or its result is unknown: see `problem`. */
  change<T>(send: () => Promise<Answer<T>>): Promise<T | null>;
}

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
      if (answer.is === 'refused') setProblem(refusalText(answer.error));
      else
        setProblem(
          t(
            answer.is === 'not_sent'
              ? 'wallet.problem.not_sent_unchanged'
              : 'wallet.problem.unknown',
          ),
        );
      return null;
    },
  };
}
