import type { ReactNode } from 'react';

/** Whatever else is known, as the service says it. */
export function Details({ of }: { readonly of: unknown }): ReactNode {
  return (
    <details>
      <summary>Details</summary>
      <pre className="code">{JSON.stringify(of, null, 2)}</pre>
    </details>
  );
}
