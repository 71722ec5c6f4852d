import { Fragment, type ReactNode } from 'react';

/**
 * Shows a code such as `webhook_endpoint.created`, which may wrap between its words in a narrow
 * column.
 */
export function CodeWords({ code }: { readonly code: string }): ReactNode {
  // Renders nothing for an empty code, because a phone hides an empty cell together with its label.
  if (code === '') return null;
  const words = code.split(/(?<=[._])/);
  const parts = words.map((word, index) => ({ word, before: words.slice(0, index).join('') }));
  return (
    <span translate="no">
      {parts.map(({ word, before }) => (
        <Fragment key={before + word}>
          {before === '' ? null : <wbr />}
          {word}
        </Fragment>
      ))}
    </span>
  );
}
