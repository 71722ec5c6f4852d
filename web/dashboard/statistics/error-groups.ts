export interface FailedRequest {
  readonly code: string | null;
  readonly operation: string | null;
  readonly status: number;
  readonly created: string;
  readonly id: string;
}

export interface ErrorGroup {
  readonly key: string;
  readonly code: string;
  readonly operation: string | null;
  readonly status: number;
  readonly count: number;
  /** The group's newest request. */
  readonly newest: FailedRequest;
}

/**
 * Groups requests by error and route, the largest group first. `requests` must be sorted newest
 * first.
 */
export function groupErrors(requests: readonly FailedRequest[]): ErrorGroup[] {
  const groups = new Map<string, ErrorGroup>();
  for (const request of requests) {
    const { code, operation, status } = request;
    const key = `${status} ${code} ${operation}`;
    const known = groups.get(key);
    groups.set(
      key,
      known === undefined
        ? { key, code: code ?? String(status), operation, status, count: 1, newest: request }
        : { ...known, count: known.count + 1 },
    );
  }
  return [...groups.values()].sort((one, other) => other.count - one.count);
}
