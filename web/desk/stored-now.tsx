import type { ReactNode } from 'react';
import { named } from '#core/isolates.ts';
import { Notice } from '../ui/notice.tsx';

/** Below a field: what somebody else has stored meanwhile, when it is something else. */
export function storedNow({
  isStale,
  stored,
  typed,
}: {
  readonly isStale: boolean;
  readonly stored: string;
  readonly typed: string;
}): string | null {
  if (!isStale || stored === typed) return null;
  return `Stored now: ${stored === '' ? 'nothing' : named(stored)}`;
}

/** Over a form whose object was changed by somebody else while it was open. */
export function ChangedMeanwhile({ isStale }: { readonly isStale: boolean }): ReactNode {
  if (!isStale) return null;
  return (
    <Notice tone="warn" role="status">
      <strong>Someone else changed this since you opened it</strong>
      <p>
        The current value is shown below each field that differs. Saving replaces it with yours.
      </p>
    </Notice>
  );
}
