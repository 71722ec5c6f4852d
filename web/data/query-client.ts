import { QueryClient } from '@tanstack/react-query';
import { ApiFailure } from './api.ts';

const RETRIES = 2;
/** How long a list's scroll position is kept: an interruption of an hour. */
const WALK_KEPT_MS = 3_600_000;

/** A refused request would be refused again, so only other failures are retried. */
function mayRetry(failures: number, error: Error): boolean {
  const isRefused = error instanceof ApiFailure && error.answer.is === 'refused';
  return !isRefused && failures < RETRIES;
}

/** Cache of responses for apps with many lists, with its rules for refetching. */
export function createQueryClient(): QueryClient {
  const client = new QueryClient({
    defaultOptions: {
      queries: { retry: mayRetry, staleTime: 5_000, networkMode: 'always' },
      mutations: { retry: false, networkMode: 'always' },
    },
  });
  client.setQueryDefaults(['walk'], { gcTime: WALK_KEPT_MS });
  return client;
}
