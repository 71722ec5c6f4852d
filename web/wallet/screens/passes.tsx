import { type FormEvent, type ReactNode, useState } from 'react';
import type { NewPass, Pass } from '../../data/payer-api.ts';
import { Button } from '../../ui/button.tsx';
import { CopyField } from '../../ui/copy-field.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/field.tsx';
import { Status } from '../../ui/status.tsx';
import { t } from '../../ui/text/t.ts';
import { rich, unseen } from '../../ui/text/tagged-text.ts';
import { Time } from '../../ui/time.tsx';
import { useHere } from '../wallet-context.tsx';
import { rowsOf, usePasses } from '../wallet-reads.ts';
import { PageLink } from './frame.tsx';
import { PagedList } from './paged-list.tsx';
import { PassCodeSheet } from './pass-code.tsx';
import { ProblemNotice } from './problem-notice.tsx';
import { RevokeSheet } from './revoke-sheet.tsx';
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
      <Dialog title={t('wallet.passes.added.heading')} onClose={onClose}>
        <p>{t('wallet.passes.added.text')}</p>
        <h3>{t('wallet.passes.added.tag_heading')}</h3>
        <p className="soft">{t('wallet.passes.added.tag_text')}</p>
        <CopyField label={t('wallet.passes.added.code')} value={made.nfc_id} />
        <Button kind="primary" large onClick={onClose}>
          {t('wallet.done')}
        </Button>
      </Dialog>
    );
  }
  return (
    <Dialog title={t('wallet.passes.add.heading')} onClose={onClose}>
      <form className="stack" onSubmit={submit}>
        <TextField
          label={t('wallet.passes.name')}
          hint={t('wallet.passes.name_hint')}
          maxLength={100}
          value={label}
          onChange={(event) => setLabel(event.target.value)}
        />
        <ProblemNotice problem={problem} />
        <Button type="submit" kind="primary" large busy={busy}>
          {t('wallet.passes.add.button')}
        </Button>
        <Button kind="quiet" onClick={onClose}>
          {t('wallet.not_now')}
        </Button>
      </form>
    </Dialog>
  );
}

const TONES = 5;

/** Returns the color of a pass, which is the same on every device. */
function toneOf({ id, status }: Pass): string {
  if (status !== 'active') return 'over';
  return String([...id].reduce((sum, letter) => sum + letter.charCodeAt(0), 0) % TONES);
}

function PassFace({ pass, name }: { readonly pass: Pass; readonly name: string }): ReactNode {
  return (
    <div className={`pass-face pass-tone-${toneOf(pass)}`}>
      <div className="row row-apart">
        <img src="icons/tapline.svg" alt="" width="28" height="28" />
        {pass.status === 'active' ? null : <Status tone="plain">{t('wallet.revoked')}</Status>}
      </div>
      <strong>
        <bdi>{name}</bdi>
      </strong>
      <div className="row row-apart small">
        <span
          aria-label={t('wallet.passes.end', { end: pass.id.slice(-4) })}
          role="img"
          translate="no"
        >
          •••• {pass.id.slice(-4)}
        </span>
        <span>
          {rich('wallet.passes.since', { day: () => <Time at={pass.created} shape="day" /> })}
        </span>
      </div>
    </div>
  );
}

function PassRow({ pass }: { readonly pass: Pass }): ReactNode {
  const { api } = useHere();
  const [revoking, setRevoking] = useState(false);
  const [showing, setShowing] = useState(false);
  const name = pass.label === '' ? t('wallet.passes.unnamed') : pass.label;
  return (
    <li className="pass stack stack-tight">
      <PassFace pass={pass} name={name} />
      {pass.last_declined === null ? null : (
        <span className="soft small">
          {rich('wallet.passes.refused_at', {
            time: () => <Time at={pass.last_declined?.declined_at ?? ''} shape="full" />,
          })}
        </span>
      )}
      {pass.status === 'active' ? (
        <div className="row">
          <Button onClick={() => setShowing(true)}>
            {rich('wallet.passes.show_code_of', { of: unseen }, { name })}
          </Button>
          <Button onClick={() => setRevoking(true)}>
            {rich('wallet.revoke.button_of', { of: unseen }, { name })}
          </Button>
        </div>
      ) : null}
      {showing ? <PassCodeSheet pass={pass} onClose={() => setShowing(false)} /> : null}
      {revoking ? (
        <RevokeSheet
          name={pass.label}
          title={t('wallet.passes.revoke.heading')}
          act={t('wallet.passes.revoke.button')}
          keep={t('wallet.passes.revoke.keep_button')}
          revoke={() => api.revokePass(pass.id)}
          onClose={() => setRevoking(false)}
        />
      ) : null}
    </li>
  );
}

export function PassesPage(): ReactNode {
  const [adding, setAdding] = useState(false);
  const passes = usePasses();
  const rows = rowsOf(passes);
  return (
    <>
      <title>{t('wallet.passes.page')}</title>
      <div className="row row-apart">
        <h1>{t('wallet.passes.heading')}</h1>
        <Button kind="primary" onClick={() => setAdding(true)}>
          {t('wallet.passes.add.button')}
        </Button>
      </div>
      {rows?.some(({ status }) => status === 'active') === true && !adding ? (
        <RingsQuestion />
      ) : null}
      <PagedList
        pages={passes}
        empty={{ title: t('wallet.passes.empty.heading'), text: t('wallet.passes.empty.text') }}
        className="stack"
        row={(pass) => <PassRow key={pass.id} pass={pass} />}
      />
      <p className="row">
        <PageLink path="wallet/cards">{t('wallet.passes.cards_link')}</PageLink>
        <PageLink path="wallet/agents">{t('wallet.passes.agents_link')}</PageLink>
      </p>
      {adding ? <AddPass onClose={() => setAdding(false)} /> : null}
    </>
  );
}
