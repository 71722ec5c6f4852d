import type { ReactNode } from 'react';

/** Shows all remaining fields in the API's format. */
export function Details({ of }: { readonly of: unknown }): ReactNode {
  return (
    <details>
      <summary>Details</summary>
      <pre className="code">{JSON.stringify(of, null, 2)}</pre>
    </details>
  );
}
