import { type FormEvent, type ReactNode, useState } from 'react';
import { named } from '#core/isolates.ts';
import type { NewPass, Pass } from '../../data/payer.ts';
import { Button } from '../../ui/button.tsx';
import { CopyField } from '../../ui/copy-field.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { TextField } from '../../ui/field.tsx';
import { Status } from '../../ui/status.tsx';
import { Time } from '../../ui/time.tsx';
import { useHere } from '../here.tsx';
import { rowsOf, usePasses } from '../queries.ts';
import { PageLink } from './frame.tsx';
import { More, Problem, Waiting } from './loading.tsx';
import { PassCodeSheet } from './pass-code.tsx';
import { Refused } from './refused.tsx';
import { RingsQuestion } from './rings.tsx';
import { useChange } from './use-change.ts';

function AddPass({ onClose }: { readonly onClose: () => void }): ReactNode {
  const { api } = useHere();
  const [label, setLabel] = useState('');
  const [made, setMade] = useState<NewPass | null>(null);
  const { busy, problem, change } = useChange();
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const pass = await change(() => api.createPass(label.trim()));
    if (pass !== null) setMade(pass);
  };
  if (made !== null) {
    return (
      <Dialog title="Your new pass" onClose={onClose}>
        <p>
          At the till, tap “Show code”. Each code pays once, within a minute, so a photo of it is
          worthless.
        </p>
        <h3>For a plain NFC tag</h3>
        <p className="soft">
          You can also write this code to a tag. It never changes: anyone who reads it can copy it
          and pay within your limits until you revoke the pass. It is shown only once.
        </p>
        <CopyField label="Pass code" value={made.nfc_id} />
        <Button kind="primary" large onClick={onClose}>
          Done
        </Button>
      </Dialog>
    );
  }
  return (
    <Dialog title="A new pass" onClose={onClose}>
      <form className="stack" onSubmit={submit}>
        <TextField
          label="Name of the pass"
          hint="So that you know which one to revoke: Keyring, Blue card."
          maxLength={100}
          value={label}
          onChange={(event) => setLabel(event.target.value)}
        />
        <Refused problem={problem} />
        <Button type="submit" kind="primary" large busy={busy}>
          Add pass
        </Button>
        <Button kind="quiet" onClick={onClose}>
          Not now
        </Button>
      </form>
    </Dialog>
  );
}

interface RevokeProps {
  readonly pass: Pass;
  readonly onClose: () => void;
}

function RevokePass({ pass, onClose }: RevokeProps): ReactNode {
  const { api } = useHere();
  const { busy, problem, change } = useChange();
  const revoke = async () => {
    if ((await change(() => api.revokePass(pass.id))) !== null) onClose();
  };
  return (
    <Dialog
      title={`Revoke ${pass.label === '' ? 'this pass' : named(pass.label)}?`}
      onClose={onClose}
    >
      <p>No till will accept it any more. Payments already in progress are not undone.</p>
      <Refused problem={problem} />
      <Button kind="danger" large busy={busy} onClick={revoke}>
        Revoke pass
      </Button>
      <Button kind="quiet" onClick={onClose}>
        Keep pass
      </Button>
    </Dialog>
  );
}

const TONES = 5;

/** The same pass has the same color on every device. */
function toneOf({ id, status }: Pass): string {
  if (status !== 'active') return 'over';
  return String([...id].reduce((sum, letter) => sum + letter.charCodeAt(0), 0) % TONES);
}

/** As a card is known in a purse: by its color, its name and its last four letters. */
function PassFace({ pass, name }: { readonly pass: Pass; readonly name: string }): ReactNode {
  return (
    <div className={`pass-face pass-tone-${toneOf(pass)}`}>
      <div className="row row-apart">
        <img src="icons/tapline.svg" alt="" width="28" height="28" />
        {pass.status === 'active' ? null : <Status tone="plain">Revoked</Status>}
      </div>
      <strong>
        <bdi>{name}</bdi>
      </strong>
      <div className="row row-apart small">
        <span aria-label={`Ends in ${pass.id.slice(-4)}`} role="img">
          •••• {pass.id.slice(-4)}
        </span>
        <span>
          Since <Time at={pass.created} shape="day" />
        </span>
      </div>
    </div>
  );
}

function PassRow({ pass }: { readonly pass: Pass }): ReactNode {
  const [revoking, setRevoking] = useState(false);
  const [showing, setShowing] = useState(false);
  const name = pass.label === '' ? 'Unnamed pass' : pass.label;
  return (
    <li className="pass stack stack-tight">
      <PassFace pass={pass} name={name} />
      {pass.last_declined === null ? null : (
        <span className="soft small">
          Refused at a till <Time at={pass.last_declined.declined_at} shape="full" />
        </span>
      )}
      {pass.status === 'active' ? (
        <div className="row">
          <Button onClick={() => setShowing(true)} aria-label={`Show code of ${name}`}>
            Show code
          </Button>
          <Button onClick={() => setRevoking(true)} aria-label={`Revoke ${name}`}>
            Revoke
          </Button>
        </div>
      ) : null}
      {showing ? <PassCodeSheet pass={pass} onClose={() => setShowing(false)} /> : null}
      {revoking ? <RevokePass pass={pass} onClose={() => setRevoking(false)} /> : null}
    </li>
  );
}

export function PassesPage(): ReactNode {
  const [adding, setAdding] = useState(false);
  const passes = usePasses();
  const rows = rowsOf(passes);
  return (
    <>
      <title>Passes · Tapline</title>
      <div className="row row-apart">
        <h1>Passes</h1>
        <Button kind="primary" onClick={() => setAdding(true)}>
          Add pass
        </Button>
      </div>
      {rows === null && passes.isError ? <Problem of={passes.error} /> : null}
      {rows === null && !passes.isError ? <Waiting /> : null}
      {rows?.length === 0 ? (
        <EmptyState title="No passes yet">
          A pass is what you present at a till: a code on this phone that pays once. It pays within
          your limits and can be revoked at any time.
        </EmptyState>
      ) : null}
      {rows?.some(({ status }) => status === 'active') === true && !adding ? (
        <RingsQuestion />
      ) : null}
      {rows === null || rows.length === 0 ? null : (
        <ul className="stack">
          {rows.map((pass) => (
            <PassRow key={pass.id} pass={pass} />
          ))}
        </ul>
      )}
      <More pages={passes} />
      <p className="row">
        <PageLink path="wallet/cards">Cards with a chip</PageLink>
        <PageLink path="wallet/agents">Tokens for AI agents</PageLink>
      </p>
      {adding ? <AddPass onClose={() => setAdding(false)} /> : null}
    </>
  );
}
