import { useQueryClient } from '@tanstack/react-query';
import { useCallback, useRef, useState } from 'react';
import type { Answer } from '../data/api.ts';
import { fieldOf, isRefusedAs, type Trouble, wordsOf } from './answers.ts';
import { useFactor } from './factor-context.ts';

/** One change on its way from a form. */
export interface Sending {
  readonly busy: boolean;
  /** It may have been done: only the very same may be sent again. */
  readonly isUnknown: boolean;
  /** What is wrong with no field of the form in particular. */
  readonly problem: string | null;
  /** What is wrong with this field. */
  problemAt(field: string): string | null;
  /**
   * Sends it, asks for a fresh second factor in place where one is needed, and sends it again.
   *
   * @param request Gets an Idempotency-Key, the same one until it is known what became of it.
   * @returns null when nothing came of it; the form stays as it is.
   */
  send<T>(request: (key: string) => Promise<Answer<T>>): Promise<T | null>;
  /** Something that the form itself has found. */
  refuse(field: string | null, words: string): void;
  clear(): void;
}

interface Problem {
  readonly field: string | null;
  readonly words: string;
}

/** Refusals after which the request with this key may still succeed. */
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

/** @param fields Names of the form's fields, as the service calls them. */
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
        // The form shows what is stored now beside what was typed.
        if (isRefusedAs(answer, 'version_conflict')) await cache.invalidateQueries();
        setProblem(problemOf(answer));
        return null;
      }
      // Whatever is shown may have changed with it. The caller goes first: a page that it leaves
      // must not ask once more for what was just deleted.
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
