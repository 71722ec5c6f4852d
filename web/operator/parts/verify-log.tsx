import { type ReactNode, useState } from 'react';
import type { VerifyAuditLogResponse } from '../../data/types/operator.ts';
import { wordsOf } from '../../desk/error-texts.ts';
import { Button } from '../../ui/button.tsx';
import { CopyField } from '../../ui/copy-field.tsx';
import { Notice } from '../../ui/notice.tsx';
import { useOperator } from '../use-operator.ts';

type Verified = VerifyAuditLogResponse;

type State =
  | { readonly is: 'idle' }
  | { readonly is: 'reading'; readonly to: number }
  | { readonly is: 'read'; readonly verified: Verified }
  | { readonly is: 'stopped'; readonly words: string };

function useVerification(account: string | undefined) {
  const { call } = useOperator();
  const [state, setState] = useState<State>({ is: 'idle' });
  const verify = async () => {
    let after = 0;
    for (;;) {
      setState({ is: 'reading', to: after });
      const answer = await call('GET /audit_log/verification', { query: { account, after } });
      if (answer.is !== 'done') return setState({ is: 'stopped', words: wordsOf(answer) });
      if (!answer.value.has_more) return setState({ is: 'read', verified: answer.value });
      after = answer.value.verified_to;
    }
  };
  return { state, verify };
}

export function VerifyLog({ account }: { readonly account: string | undefined }): ReactNode {
  const { state, verify } = useVerification(account);
  return (
    <section className="stack">
      <div>
        <Button busy={state.is === 'reading'} onClick={() => void verify()}>
          Verify this log
        </Button>
      </div>
      {state.is === 'reading' ? (
        <Notice tone="info" role="status">
          <p>Verified up to entry {state.to.toLocaleString('en-US')}…</p>
        </Notice>
      ) : null}
      {state.is === 'stopped' ? (
        <Notice tone="warn" role="alert">
          <p>{state.words}</p>
        </Notice>
      ) : null}
      {state.is === 'read' ? <Outcome verified={state.verified} /> : null}
    </section>
  );
}

function Outcome({ verified }: { readonly verified: Verified }): ReactNode {
  const { intact, verified_to: to, broken_at: brokenAt, reason, hash } = verified;
  const count = to.toLocaleString('en-US');
  if (!intact) {
    return (
      <Notice tone="bad" role="alert">
        <strong>The log was altered</strong>
        <p>
          Entry {brokenAt}: {reason}. Up to entry {count} nothing was changed.
        </p>
      </Notice>
    );
  }
  return (
    <>
      <Notice tone="good" role="status">
        <strong>No entry was changed or removed</strong>
        <p>
          Each entry matches the one before it, up to entry {count}. To check that no newer ones
          were cut off, compare the hash below with one stored outside the database.
        </p>
      </Notice>
      <CopyField label={`Hash of entry ${count}`} value={hash} />
    </>
  );
}
