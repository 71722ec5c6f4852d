import { type FormEvent, type ReactNode, useState } from 'react';
import { named } from '#i18n/bidi-isolates.ts';
import type { Card, NewCard } from '../../data/payer-api.ts';
import { readerCommand } from '../../data/reader-command.ts';
import { Amount } from '../../ui/amount.tsx';
import { Button } from '../../ui/button.tsx';
import { CopyField } from '../../ui/copy-field.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/field.tsx';
import { Status } from '../../ui/status.tsx';
import { SumField } from '../../ui/sum-field.tsx';
import { t } from '../../ui/text/t.ts';
import { rich, unseen } from '../../ui/text/tagged-text.ts';
import { readSum, sumIn, writeSum } from '../../ui/typed-sum.ts';
import { sumProblem } from '../sum-problems.ts';
import { useHere } from '../wallet-context.tsx';
import { rowsOf, useCards } from '../wallet-reads.ts';
import { ChipsPart } from './chips.tsx';
import { PagedList } from './paged-list.tsx';
import { ProblemNotice } from './problem-notice.tsx';
import { RevokeSheet } from './revoke-sheet.tsx';
import { RingsQuestion } from './rings.tsx';
import { useChange } from './use-change.ts';

/** The service's default limit for a card. */
const USUAL_LIMIT = 50_000_000n;

interface CardFormProps {
  readonly action: string;
  readonly card: Card | null;
  readonly onClose: () => void;
  readonly onDone: (card: Card | NewCard) => void;
}

function CardForm({ action, card, onClose, onDone }: CardFormProps): ReactNode {
  const { api } = useHere();
  const { busy, problem, change } = useChange();
  const [label, setLabel] = useState(card?.label ?? '');
  const [wrote] = useState(card === null ? USUAL_LIMIT : BigInt(card.per_payment_limit));
  const [typed, setTyped] = useState(writeSum(wrote));
  const sum = readSum(typed, { wrote });
  const wrong = sumProblem(sum);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (wrong !== null) return;
    const body = { label: label.trim(), per_payment_limit: Number(sumIn(sum)) };
    const saved = await change<Card | NewCard>(() =>
      card === null ? api.createCard(body) : api.changeCard(card.id, body),
    );
    if (saved !== null) onDone(saved);
  };
  return (
    <form className="stack" onSubmit={submit} noValidate>
      <TextField
        label={t('wallet.cards.name')}
        maxLength={100}
        value={label}
        onChange={(event) => setLabel(event.target.value)}
      />
      <SumField
        label={t('wallet.per_payment')}
        value={typed}
        sum={sum}
        shows
        hint={t('wallet.cards.per_payment_hint')}
        error={wrong}
        onText={setTyped}
      />
      <ProblemNotice problem={problem} />
      <Button type="submit" kind="primary" large busy={busy}>
        {action}
      </Button>
      <Button kind="quiet" onClick={onClose}>
        {t('wallet.not_now')}
      </Button>
    </form>
  );
}

function isNew(card: Card | NewCard): card is NewCard {
  return 'meta_read_key' in card;
}

/** Returns the card's settings on one line, in the format of the program that writes the card. */
function forReader({ url_template, meta_read_key, file_read_key }: NewCard): string {
  return JSON.stringify({ url_template, meta_read_key, file_read_key });
}

function AddCard({ onClose }: { readonly onClose: () => void }): ReactNode {
  const [made, setMade] = useState<Card | NewCard | null>(null);
  if (made === null || !isNew(made)) {
    return (
      <Dialog title={t('wallet.cards.add.heading')} onClose={onClose}>
        <CardForm
          action={t('wallet.cards.add.button')}
          card={null}
          onClose={onClose}
          onDone={setMade}
        />
      </Dialog>
    );
  }
  return (
    <Dialog title={t('wallet.cards.write.heading')} onClose={onClose}>
      <p className="soft">
        {rich('wallet.cards.write.text', {
          command: () => <code>{readerCommand('cards write')}</code>,
        })}
      </p>
      <CopyField label={t('wallet.cards.write.reader')} value={forReader(made)} />
      <CopyField label={t('wallet.cards.write.meta_key')} value={made.meta_read_key} />
      <CopyField label={t('wallet.cards.write.file_key')} value={made.file_read_key} />
      <CopyField label={t('wallet.cards.write.address')} value={made.url_template} />
      <Button kind="primary" large onClick={onClose}>
        {t('wallet.done')}
      </Button>
    </Dialog>
  );
}

function CardRow({ card }: { readonly card: Card }): ReactNode {
  const { api } = useHere();
  const [open, setOpen] = useState<'change' | 'revoke' | null>(null);
  const close = () => setOpen(null);
  const name = card.label === '' ? t('wallet.cards.unnamed') : card.label;
  return (
    <li className="card row row-apart">
      <div className="payment-who">
        <strong>
          <bdi>{name}</bdi>
        </strong>
        <span className="soft small">
          {rich('wallet.up_to', {
            sum: () => <Amount atoms={BigInt(card.per_payment_limit)} />,
          })}
        </span>
      </div>
      {card.status === 'active' ? (
        <div className="row">
          <Button onClick={() => setOpen('change')}>
            {rich('wallet.change.button_of', { of: unseen }, { name })}
          </Button>
          <Button onClick={() => setOpen('revoke')}>
            {rich('wallet.revoke.button_of', { of: unseen }, { name })}
          </Button>
        </div>
      ) : (
        <Status tone="plain">{t('wallet.revoked')}</Status>
      )}
      {open === 'change' ? (
        <Dialog title={named(name)} onClose={close}>
          <CardForm
            action={t('wallet.cards.change.button')}
            card={card}
            onClose={close}
            onDone={close}
          />
        </Dialog>
      ) : null}
      {open === 'revoke' ? (
        <RevokeSheet
          name={card.label}
          title={t('wallet.cards.revoke.heading')}
          act={t('wallet.cards.revoke.button')}
          keep={t('wallet.cards.revoke.keep_button')}
          revoke={() => api.revokeCard(card.id)}
          onClose={close}
        />
      ) : null}
    </li>
  );
}

export function CardsPage(): ReactNode {
  const [adding, setAdding] = useState(false);
  const cards = useCards();
  const rows = rowsOf(cards);
  return (
    <>
      <title>{t('wallet.cards.page')}</title>
      <div className="row row-apart">
        <h1>{t('wallet.cards.heading')}</h1>
        <Button kind="primary" onClick={() => setAdding(true)}>
          {t('wallet.cards.add.button')}
        </Button>
      </div>
      {rows?.some(({ status }) => status === 'active') === true && !adding ? (
        <RingsQuestion />
      ) : null}
      <PagedList
        pages={cards}
        empty={{ title: t('wallet.cards.empty.heading'), text: t('wallet.cards.empty.text') }}
        className="stack stack-tight"
        row={(card) => <CardRow key={card.id} card={card} />}
      />
      <ChipsPart />
      {adding ? <AddCard onClose={() => setAdding(false)} /> : null}
    </>
  );
}
