import type { ReactNode } from 'react';
import { ChangedMeanwhile } from '../../desk/concurrent-change.tsx';
import { Form } from '../../desk/form.tsx';
import { TextField } from '../../ui/field.tsx';
import { Fact, FactList } from '../../ui/table.tsx';
import { t } from '../../ui/text/t.ts';
import { rich } from '../../ui/text/tagged-text.ts';
import { given } from '../../ui/text/untranslated-parts.ts';
import { useMerchant } from '../use-merchant.ts';
import {
  type Account,
  type AccountChange,
  type AccountProps,
  useSettingsForm,
} from './account-settings.ts';

const GUIDE = 'docs/receipts#a-fiscal-signer';

export function ReceiptSettings({ account }: AccountProps): ReactNode {
  const { may } = useMerchant();
  return (
    <section className="card stack">
      <h2>{t('dashboard.receipts.heading')}</h2>
      <p className="soft">{t('dashboard.receipts.text')}</p>
      {may('admin') ? <ReceiptForm account={account} /> : <ReceiptFacts account={account} />}
    </section>
  );
}

interface Texts {
  readonly legal_name: string;
  readonly address: string;
  readonly tax_number: string;
  readonly url: string;
}

function textsOf({ legal_name, address, tax_number, fiscal_signer: signer }: Account): Texts {
  return {
    legal_name: legal_name ?? '',
    address: address ?? '',
    tax_number: tax_number ?? '',
    url: signer?.url ?? '',
  };
}

/** Returns the text to store; `null` for an empty field. */
function orNone(text: string): string | null {
  return text.trim() === '' ? null : text.trim();
}

function changeOf({ legal_name, address, tax_number, url }: Texts): AccountChange {
  const signer = orNone(url);
  return {
    legal_name: orNone(legal_name),
    address: orNone(address),
    tax_number: orNone(tax_number),
    fiscal_signer: signer === null ? null : { url: signer },
  };
}

const fields = (): readonly (readonly [name: keyof Texts, label: string])[] => [
  ['legal_name', t('dashboard.receipts.legal_name.label')],
  ['address', t('dashboard.receipts.address.label')],
  ['tax_number', t('dashboard.receipts.tax_number.label')],
  ['url', t('dashboard.receipts.signer.label')],
];

function ReceiptFacts({ account }: AccountProps): ReactNode {
  const texts = textsOf(account);
  return (
    <FactList>
      {fields().map(([name, label]) => (
        <Fact key={name} name={label}>
          {given(texts[name]) || t('dashboard.receipts.not_set')}
        </Fact>
      ))}
    </FactList>
  );
}

const FORM = {
  fields: ['legal_name', 'address', 'tax_number', 'url'],
  valuesOf: textsOf,
  changeOf,
};
/**
 * The longest text that the service stores in these fields. URLs of fiscal signers may be longer.
 */
const LONGEST = 200;

function ReceiptForm({ account }: AccountProps): ReactNode {
  const { values, set, stored, isStale, sending, onSend } = useSettingsForm(account, FORM);
  const guide = rich('dashboard.receipts.signer.hint', {
    guide: (text) => <a href={GUIDE}>{text}</a>,
  });
  return (
    <Form sending={sending} onSend={onSend} send={t('dashboard.receipts.save.button')}>
      <ChangedMeanwhile isStale={isStale} />
      {fields().map(([name, label]) => {
        const isAddress = name === 'url';
        return (
          <TextField
            key={name}
            label={label}
            value={values[name]}
            onChange={({ target }) => set({ [name]: target.value })}
            hint={stored(name) ?? (isAddress ? guide : undefined)}
            error={sending.problemAt(name)}
            {...(isAddress
              ? { type: 'url', placeholder: 'https://…', translate: 'no' }
              : { maxLength: LONGEST })}
          />
        );
      })}
    </Form>
  );
}
