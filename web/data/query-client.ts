import { QueryClient } from '@tanstack/react-query';
import { ApiFailure } from './api.ts';

const RETRIES = 2;
/**
 * Time for which a list's scroll position is kept: an hour, so that it survives an interruption.
 */
const PAGINATION_KEPT_MS = 3_600_000;

/**
 * True if a failed read should be retried. The service would repeat a refusal, so a refusal is
 * final.
 */
function mayRetry(failures: number, error: Error): boolean {
  const isRefused = error instanceof ApiFailure && error.answer.is === 'refused';
  return !isRefused && failures < RETRIES;
}

/** Creates the response cache of apps with many lists, with its rules for refetching. */
export function createQueryClient(): QueryClient {
  const client = new QueryClient({
    defaultOptions: {
      queries: { retry: mayRetry, staleTime: 5_000, networkMode: 'always' },
      mutations: { retry: false, networkMode: 'always' },
    },
  });
  client.setQueryDefaults(['pagination'], { gcTime: PAGINATION_KEPT_MS });
  return client;
}
