import type { ReactNode } from 'react';

/** Shows all remaining fields, as the API returns them. */
export function Details({ of }: { readonly of: unknown }): ReactNode {
  return (
    <details>
      <summary>Details</summary>
      <pre className="code">{JSON.stringify(of, null, 2)}</pre>
    </details>
  );
}
