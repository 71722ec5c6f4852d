import { type ReactNode, useState } from 'react';
import { fromRoot } from '../../data/root-path.ts';
import type {
  ReadVerificationResponse,
  UploadVerificationDocumentQuery,
} from '../../data/types/dashboard.ts';
import { ActionButton } from '../../desk/action-button.tsx';
import { Form } from '../../desk/form.tsx';
import { useSend } from '../../desk/use-send.ts';
import { Select, TextField } from '../../ui/field.tsx';
import { sizeWords } from '../../ui/size-words.ts';
import { t } from '../../ui/text/t.ts';
import { rich } from '../../ui/text/tagged-text.ts';
import { useMerchant } from '../use-merchant.ts';

type Kind = UploadVerificationDocumentQuery['kind'];

const KINDS: readonly Kind[] = ['registration', 'ownership', 'identity', 'address', 'other'];

const MOST_BYTES = 5 * 1024 * 1024;

export interface VerificationDocumentsProps {
  readonly kyb: ReadVerificationResponse;
  readonly canChange: boolean;
}

export function VerificationDocuments({ kyb, canChange }: VerificationDocumentsProps): ReactNode {
  const { account, call } = useMerchant();
  const file = (id: string) =>
    // GET /accounts/{account}/kyb/documents/{id}
    fromRoot(`api/dashboard/v1/accounts/${account.id}/kyb/documents/${id}`).href;
  return (
    <section className="card stack">
      <h2>{t('dashboard.documents.heading')}</h2>
      {kyb.documents.length === 0 ? <p className="soft">{t('dashboard.documents.empty')}</p> : null}
      <ul className="stack stack-tight">
        {kyb.documents.map(({ id, kind, file_name, size }) => (
          <li key={id} className="row">
            <a href={file(id)} download>
              <bdi>{file_name}</bdi>
            </a>
            <span className="soft small">
              {rich('dashboard.documents.kind', {
                kind: () => <>{t(`dashboard.document.${kind}`)}</>,
                size: () => <>{sizeWords(size)}</>,
              })}
            </span>
            {canChange ? (
              <ActionButton
                label={t('dashboard.documents.remove', { name: file_name })}
                request={() =>
                  call('DELETE /accounts/{account}/kyb/documents/{id}', { path: { id } })
                }
              >
                {t('dashboard.button.remove')}
              </ActionButton>
            ) : null}
          </li>
        ))}
      </ul>
      {canChange ? <Upload /> : null}
    </section>
  );
}

function Upload(): ReactNode {
  const { call } = useMerchant();
  const [kind, setKind] = useState<Kind>('registration');
  const [file, setFile] = useState<File | null>(null);
  const [uploads, setUploads] = useState(0);
  const sending = useSend(['file', 'kind']);
  const upload = async () => {
    if (file === null) return sending.refuse('file', t('dashboard.documents.file_missing'));
    if (file.size > MOST_BYTES)
      return sending.refuse('file', t('dashboard.documents.file_too_large'));
    const query = { kind, file_name: file.name };
    const done = await sending.send(() =>
      call('POST /accounts/{account}/kyb/documents', { query, file }),
    );
    if (done === null) return;
    setFile(null);
    setUploads((count) => count + 1);
  };
  return (
    <Form sending={sending} onSend={upload} send={t('dashboard.documents.upload')}>
      <Select
        label={t('dashboard.documents.type')}
        value={kind}
        onChange={(event) => setKind(event.target.value as Kind)}
      >
        {KINDS.map((name) => (
          <option key={name} value={name}>
            {t(`dashboard.document.${name}`)}
          </option>
        ))}
      </Select>
      <TextField
        // Changing the key empties the file field after an upload; the uploaded file is in the list
        // above.
        key={uploads}
        label={t('dashboard.documents.file')}
        type="file"
        accept="application/pdf,image/png,image/jpeg"
        onChange={(event) => setFile(event.target.files?.[0] ?? null)}
        hint={t('dashboard.documents.file_hint')}
        error={sending.problemAt('file')}
      />
    </Form>
  );
}
