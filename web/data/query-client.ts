import { QueryClient } from '@tanstack/react-query';
import { ApiFailure } from './api.ts';

const RETRIES = 2;
/** Where somebody was in a list is known for as long as a phone call keeps them from it. */
const WALK_KEPT_MS = 3_600_000;

/** A refusal stays one however often it is asked for. */
function mayRetry(failures: number, error: Error): boolean {
  const isRefused = error instanceof ApiFailure && error.answer.is === 'refused';
  return !isRefused && failures < RETRIES;
}

/** For apps with many lists: what the service said, and when to ask again. */
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
