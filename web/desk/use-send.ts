import { useQueryClient } from '@tanstack/react-query';
import { useCallback, useRef, useState } from 'react';
import type { Answer } from '../data/api.ts';
import { fieldOf, isRefusedAs, type Trouble, wordsOf } from './error-texts.ts';
import { useFactor } from './factor-context.ts';

export interface Sending {
  readonly busy: boolean;
  /** True if the change may have been made. Then only the identical request may be sent again. */
  readonly isUnknown: boolean;
  /** A problem that belongs to no field of the form. */
  readonly problem: string | null;
  problemAt(field: string): string | null;
  /**
   * Sends a change. If it needs a fresh second factor, asks for one and sends the change again.
   * @param request Gets an Idempotency-Key, which stays the same until the result is known.
   * @returns `null` if the change failed; the form then keeps its contents.
   */
  send<T>(request: (key: string) => Promise<Answer<T>>): Promise<T | null>;
  /** Reports a problem that the form itself found. */
  refuse(field: string | null, words: string): void;
  clear(): void;
}

interface Problem {
  readonly field: string | null;
  readonly words: string;
}

/** Refusals after which a request with this key may still succeed. */
const STILL_OPEN = new Set([
  'idempotency_request_in_progress',
  'internal_error',
  'request_timeout',
  'service_unavailable',
  'rate_limit_exceeded',
]);

function isOpen(answer: Answer<unknown>): boolean {
  if (answer.is === 'refused') return STILL_OPEN.has(answer.error.code);
  return answer.is === 'unknown';
}

/** Holds the state of a form's change. @param fields The form's fields, as the API names them. */
export function useSend(fields: readonly string[] = []): Sending {
  const prove = useFactor();
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [isUnknown, setIsUnknown] = useState(false);
  const key = useRef<string | null>(null);
  const cache = useQueryClient();
  const send = useCallback(
    async <T>(request: (key: string) => Promise<Answer<T>>): Promise<T | null> => {
      setBusy(true);
      setProblem(null);
      key.current ??= crypto.randomUUID();
      let answer = await request(key.current);
      if (isRefusedAs(answer, 'second_factor_required') && (await prove())) {
        answer = await request(key.current);
      }
      if (!isOpen(answer)) key.current = null;
      setIsUnknown(answer.is === 'unknown');
      setBusy(false);
      if (answer.is !== 'done') {
        // Reloads the object, so that the form shows the stored values beside the typed ones.
        if (isRefusedAs(answer, 'version_conflict')) await cache.invalidateQueries();
        setProblem(problemOf(answer));
        return null;
      }
      // The change may affect any data on screen. Deferred, because the caller may now leave a
      // page, which would otherwise reload a deleted object.
      setTimeout(() => void cache.invalidateQueries());
      return answer.value;
    },
    [prove, cache],
  );
  const isOwn = (field: string | null) => field !== null && fields.includes(field);
  return {
    busy,
    isUnknown,
    problem: problem !== null && !isOwn(problem.field) ? problem.words : null,
    problemAt: (field) => (problem?.field === field ? problem.words : null),
    send,
    refuse: (field, words) => setProblem({ field, words }),
    clear: () => setProblem(null),
  };
}

function problemOf(trouble: Trouble): Problem {
  return { field: fieldOf(trouble), words: wordsOf(trouble) };
}
