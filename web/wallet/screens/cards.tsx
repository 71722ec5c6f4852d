import { type FormEvent, type ReactNode, useState } from 'react';
import { named } from '#core/isolates.ts';
import type { Card, NewCard } from '../../data/payer.ts';
import { Amount } from '../../ui/amount.tsx';
import { Button } from '../../ui/button.tsx';
import { CopyField } from '../../ui/copy-field.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { TextField } from '../../ui/field.tsx';
import { Status } from '../../ui/status.tsx';
import { SumField } from '../../ui/sum-field.tsx';
import { readSum, sumIn, writeSum } from '../../ui/typed-sum.ts';
import { useHere } from '../here.tsx';
import { rowsOf, useCards } from '../queries.ts';
import { sumProblem } from '../words.ts';
import { ChipsPart } from './chips.tsx';
import { More, Problem, Waiting } from './loading.tsx';
import { Refused } from './refused.tsx';
import { RingsQuestion } from './rings.tsx';
import { useChange } from './use-change.ts';

/** What the service gives a card that says nothing else. */
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
        label="Card name"
        maxLength={100}
        value={label}
        onChange={(event) => setLabel(event.target.value)}
      />
      <SumField
        label="At most per payment"
        value={typed}
        sum={sum}
        shows
        hint="What a lost card can cost you, each time, until you revoke it."
        error={wrong}
        onText={setTyped}
      />
      <Refused problem={problem} />
      <Button type="submit" kind="primary" large busy={busy}>
        {action}
      </Button>
      <Button kind="quiet" onClick={onClose}>
        Not now
      </Button>
    </form>
  );
}

function isNew(card: Card | NewCard): card is NewCard {
  return 'meta_read_key' in card;
}

/** What the program asks for, on one line. */
function forReader({ url_template, meta_read_key, file_read_key }: NewCard): string {
  return JSON.stringify({ url_template, meta_read_key, file_read_key });
}

function AddCard({ onClose }: { readonly onClose: () => void }): ReactNode {
  const [made, setMade] = useState<Card | NewCard | null>(null);
  if (made === null || !isNew(made)) {
    return (
      <Dialog title="A new card" onClose={onClose}>
        <CardForm action="Add card" card={null} onClose={onClose} onDone={setMade} />
      </Dialog>
    );
  }
  return (
    <Dialog title="Write your card" onClose={onClose}>
      <p className="soft">
        With a USB reader, run <code>npx tapline-reader cards write</code>, paste the first line,
        and hold a blank NTAG 424 DNA there. All of this is shown only now; afterwards no one can
        copy the card.
      </p>
      <CopyField label="For tapline-reader" value={forReader(made)} />
      <CopyField label="Meta read key" value={made.meta_read_key} />
      <CopyField label="File read key" value={made.file_read_key} />
      <CopyField label="Address for the chip" value={made.url_template} />
      <Button kind="primary" large onClick={onClose}>
        Done
      </Button>
    </Dialog>
  );
}

interface CardSheetProps {
  readonly card: Card;
  readonly onClose: () => void;
}

function RevokeCard({ card, onClose }: CardSheetProps): ReactNode {
  const { api } = useHere();
  const { busy, problem, change } = useChange();
  const revoke = async () => {
    if ((await change(() => api.revokeCard(card.id))) !== null) onClose();
  };
  return (
    <Dialog
      title={`Revoke ${card.label === '' ? 'this card' : named(card.label)}?`}
      onClose={onClose}
    >
      <p>No till will accept it any more. Payments already in progress are not undone.</p>
      <Refused problem={problem} />
      <Button kind="danger" large busy={busy} onClick={revoke}>
        Revoke card
      </Button>
      <Button kind="quiet" onClick={onClose}>
        Keep card
      </Button>
    </Dialog>
  );
}

function CardRow({ card }: { readonly card: Card }): ReactNode {
  const [open, setOpen] = useState<'change' | 'revoke' | null>(null);
  const close = () => setOpen(null);
  const name = card.label === '' ? 'Unnamed card' : card.label;
  return (
    <li className="card row row-apart">
      <div className="payment-who">
        <strong>
          <bdi>{name}</bdi>
        </strong>
        <span className="soft small">
          Up to <Amount atoms={BigInt(card.per_payment_limit)} /> per payment
        </span>
      </div>
      {card.status === 'active' ? (
        <div className="row">
          <Button onClick={() => setOpen('change')} aria-label={`Change ${name}`}>
            Change
          </Button>
          <Button onClick={() => setOpen('revoke')} aria-label={`Revoke ${name}`}>
            Revoke
          </Button>
        </div>
      ) : (
        <Status tone="plain">Revoked</Status>
      )}
      {open === 'change' ? (
        <Dialog title={named(name)} onClose={close}>
          <CardForm action="Change card" card={card} onClose={close} onDone={close} />
        </Dialog>
      ) : null}
      {open === 'revoke' ? <RevokeCard card={card} onClose={close} /> : null}
    </li>
  );
}

export function CardsPage(): ReactNode {
  const [adding, setAdding] = useState(false);
  const cards = useCards();
  const rows = rowsOf(cards);
  return (
    <>
      <title>Cards · Tapline</title>
      <div className="row row-apart">
        <h1>Cards</h1>
        <Button kind="primary" onClick={() => setAdding(true)}>
          Add card
        </Button>
      </div>
      {rows === null && cards.isError ? <Problem of={cards.error} /> : null}
      {rows === null && !cards.isError ? <Waiting /> : null}
      {rows?.length === 0 ? (
        <EmptyState title="No cards yet">
          A chip card cannot be copied and has its own limit.
        </EmptyState>
      ) : null}
      {rows?.some(({ status }) => status === 'active') === true && !adding ? (
        <RingsQuestion />
      ) : null}
      {rows === null || rows.length === 0 ? null : (
        <ul className="stack stack-tight">
          {rows.map((card) => (
            <CardRow key={card.id} card={card} />
          ))}
        </ul>
      )}
      <More pages={cards} />
      <ChipsPart />
      {adding ? <AddCard onClose={() => setAdding(false)} /> : null}
    </>
  );
}
