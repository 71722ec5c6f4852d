import { useQuery } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useEffect, useRef, useState } from 'react';
import { valueIn } from '../../data/api.ts';
import { chipsOf } from '../../data/payer-chips.ts';
import type { Chip } from '../../data/types/payer.ts';
import { needsClick } from '../../terminal/reader/read-chip-on-iphone.ts';
import { hasNfc } from '../../terminal/reader/read-nfc.ts';
import { ChipAsksPart } from '../../terminal/screens/chip-prompts.tsx';
import { useChipAsks } from '../../terminal/screens/use-chip-asks.ts';
import { Amount } from '../../ui/amount.tsx';
import { Button } from '../../ui/button.tsx';
import { Switch } from '../../ui/choice.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/field.tsx';
import { Status } from '../../ui/status.tsx';
import { SumField } from '../../ui/sum-field.tsx';
import { t } from '../../ui/text/t.ts';
import { rich, unseen } from '../../ui/text/tagged-text.ts';
import { readSum, writeSum } from '../../ui/typed-sum.ts';
import { type NewChip, registerHeldChip } from '../register-chip.ts';
import { limitIn, limitProblem } from '../sum-problems.ts';
import { useHere } from '../wallet-context.tsx';
import { keyOf } from '../wallet-reads.ts';
import { Problem } from './loading.tsx';
import { ProblemNotice } from './problem-notice.tsx';
import { useChange } from './use-change.ts';

function nameOf({ label, address }: Chip): string {
  return label === '' ? t('wallet.chips.unnamed', { end: address.slice(-4) }) : label;
}

interface FieldsProps {
  readonly label: string;
  readonly limit: string;
  readonly onLabel: (label: string) => void;
  readonly onLimit: (limit: string) => void;
}

function ChipFields({ label, limit, onLabel, onLimit }: FieldsProps): ReactNode {
  const sum = readSum(limit);
  return (
    <>
      <TextField
        label={t('wallet.chips.name')}
        maxLength={100}
        value={label}
        onChange={(event) => onLabel(event.target.value)}
      />
      <SumField
        label={t('wallet.per_payment')}
        value={limit}
        sum={sum}
        shows
        hint={t('wallet.chips.per_payment_hint')}
        error={limitProblem(sum)}
        onText={onLimit}
      />
    </>
  );
}

function AddChip({ onClose }: { readonly onClose: () => void }): ReactNode {
  const { api, refresh } = useHere();
  const asks = useChipAsks();
  const [label, setLabel] = useState('');
  const [typed, setTyped] = useState('');
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const end = useRef<AbortController | null>(null);
  useEffect(() => () => end.current?.abort(), []);
  const limit = limitIn(readSum(typed));
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (limit === undefined || busy) return;
    setBusy(true);
    setProblem(null);
    const until = new AbortController();
    end.current = until;
    const chip: NewChip = { label: label.trim(), per_payment_limit: limit };
    const wrong = await registerHeldChip({ api: chipsOf(api), asks, chip }, until.signal);
    if (until.signal.aborted) return;
    until.abort();
    setBusy(false);
    setProblem(wrong);
    refresh();
    if (wrong === null) onClose();
  };
  return (
    <Dialog title={t('wallet.chips.register.heading')} onClose={onClose}>
      <form className="stack" onSubmit={submit} noValidate>
        <p className="soft">{t('wallet.chips.register.text')}</p>
        <ChipFields label={label} limit={typed} onLabel={setLabel} onLimit={setTyped} />
        <ProblemNotice problem={problem} />
        {busy && asks.asked === null ? <p role="status">{t('wallet.chips.hold')}</p> : null}
        <Button type="submit" kind="primary" large busy={busy}>
          {t('wallet.chips.register.hold_button')}
        </Button>
      </form>
      {asks.asked === null ? null : <ChipAsksPart asked={asks.asked} />}
    </Dialog>
  );
}

interface SheetProps {
  readonly chip: Chip;
  readonly onClose: () => void;
}

function ChangeChip({ chip, onClose }: SheetProps): ReactNode {
  const { api } = useHere();
  const { busy, problem, change } = useChange();
  const { per_payment_limit: before } = chip;
  const [label, setLabel] = useState(chip.label);
  const [typed, setTyped] = useState(before === null ? '' : writeSum(BigInt(before)));
  const [blocked, setBlocked] = useState(chip.blocked);
  const limit = limitIn(readSum(typed));
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (limit === undefined) return;
    const body = { label: label.trim(), per_payment_limit: limit, blocked };
    if ((await change(() => chipsOf(api).changeChip(chip.id, body))) !== null) onClose();
  };
  const remove = async () => {
    if ((await change(() => chipsOf(api).deleteChip(chip.id))) !== null) onClose();
  };
  return (
    <Dialog title={nameOf(chip)} onClose={onClose}>
      <form className="stack" onSubmit={submit} noValidate>
        <ChipFields label={label} limit={typed} onLabel={setLabel} onLimit={setTyped} />
        <Switch label={t('wallet.chips.block')} checked={blocked} onChange={setBlocked} />
        <ProblemNotice problem={problem} />
        <Button type="submit" kind="primary" large busy={busy}>
          {t('wallet.chips.change.button')}
        </Button>
        <Button kind="danger" busy={busy} onClick={remove}>
          {t('wallet.chips.remove.button')}
        </Button>
        <p className="soft small">{t('wallet.chips.remove.text')}</p>
      </form>
    </Dialog>
  );
}

function ChipRow({ chip }: { readonly chip: Chip }): ReactNode {
  const [open, setOpen] = useState(false);
  const name = nameOf(chip);
  const { per_payment_limit: limit, blocked } = chip;
  return (
    <li className="card row row-apart">
      <div className="payment-who">
        <strong>
          <bdi>{name}</bdi>
        </strong>
        <span className="soft small">
          {limit === null
            ? t('wallet.chips.no_limit')
            : rich('wallet.up_to', { sum: () => <Amount atoms={BigInt(limit)} /> })}
        </span>
      </div>
      <div className="row">
        {blocked ? <Status tone="bad">{t('wallet.chips.status.blocked')}</Status> : null}
        <Button onClick={() => setOpen(true)}>
          {rich('wallet.change.button_of', { of: unseen }, { name })}
        </Button>
      </div>
      {open ? <ChangeChip chip={chip} onClose={() => setOpen(false)} /> : null}
    </li>
  );
}

/** Lists chips that hold their own key and money, with the limits that their owner set. */
export function ChipsPart(): ReactNode {
  const [adding, setAdding] = useState(false);
  const here = useHere();
  const chips = useQuery({
    queryKey: keyOf(here, 'chips'),
    queryFn: async () => valueIn(await chipsOf(here.api).chips()),
  });
  const canHold = hasNfc() || needsClick();
  const rows = chips.data?.data ?? [];
  return (
    <section className="stack" aria-labelledby="chips">
      <div className="row row-apart">
        <h2 id="chips">{t('wallet.chips.heading')}</h2>
        {canHold ? (
          <Button onClick={() => setAdding(true)}>{t('wallet.chips.register.button')}</Button>
        ) : null}
      </div>
      <p className="soft">
        {t('wallet.chips.about')} {canHold ? null : t('wallet.chips.elsewhere')}
      </p>
      {chips.isError ? <Problem of={chips.error} /> : null}
      {rows.length === 0 ? null : (
        <ul className="stack stack-tight">
          {rows.map((chip) => (
            <ChipRow key={chip.id} chip={chip} />
          ))}
        </ul>
      )}
      {adding ? <AddChip onClose={() => setAdding(false)} /> : null}
    </section>
  );
}
