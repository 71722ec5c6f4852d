import { Fragment, type ReactNode } from 'react';

/** A code such as `webhook_endpoint.created`: a narrow column breaks it where its words end. */
export function CodeWords({ code }: { readonly code: string }): ReactNode {
  // On a phone a cell without content is left out, with its name.
  if (code === '') return null;
  const words = code.split(/(?<=[._])/);
  const parts = words.map((word, place) => ({ word, before: words.slice(0, place).join('') }));
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
