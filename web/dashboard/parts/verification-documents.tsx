import { type ReactNode, useState } from 'react';
import { fromRoot } from '../../data/root.ts';
import type {
  ReadVerificationResponse,
  UploadVerificationDocumentQuery,
} from '../../data/types/dashboard.ts';
import { ActionButton } from '../../desk/action-button.tsx';
import { Form } from '../../desk/form.tsx';
import { useSend } from '../../desk/send.ts';
import { Select, TextField } from '../../ui/field.tsx';
import { sizeWords } from '../../ui/size-words.ts';
import { useMerchant } from '../merchant.ts';

type Kind = UploadVerificationDocumentQuery['kind'];

const KINDS: Readonly<Record<Kind, string>> = {
  registration: 'Company register extract',
  ownership: 'Proof of ownership',
  identity: 'ID of the authorized person',
  address: 'Proof of address',
  other: 'Other',
};

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
      <h2>Documents</h2>
      {kyb.documents.length === 0 ? <p className="soft">No document has been added.</p> : null}
      <ul className="stack stack-tight">
        {kyb.documents.map(({ id, kind, file_name, size }) => (
          <li key={id} className="row">
            <a href={file(id)} download>
              <bdi>{file_name}</bdi>
            </a>
            <span className="soft small">
              {KINDS[kind]}, {sizeWords(size)}
            </span>
            {canChange ? (
              <ActionButton
                label={`Remove ${file_name}`}
                request={() =>
                  call('DELETE /accounts/{account}/kyb/documents/{id}', { path: { id } })
                }
              >
                Remove
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
    if (file === null) return sending.refuse('file', 'Choose a file.');
    if (file.size > MOST_BYTES) return sending.refuse('file', 'The file is larger than 5 MB.');
    const query = { kind, file_name: file.name };
    const done = await sending.send(() =>
      call('POST /accounts/{account}/kyb/documents', { query, file }),
    );
    if (done === null) return;
    setFile(null);
    setUploads((count) => count + 1);
  };
  return (
    <Form sending={sending} onSend={upload} send="Upload">
      <Select
        label="Document type"
        value={kind}
        onChange={(event) => setKind(event.target.value as Kind)}
      >
        {Object.entries(KINDS).map(([name, words]) => (
          <option key={name} value={name}>
            {words}
          </option>
        ))}
      </Select>
      <TextField
        // Another field, which is empty: what was uploaded is in the list above.
        key={uploads}
        label="File"
        type="file"
        accept="application/pdf,image/png,image/jpeg"
        onChange={(event) => setFile(event.target.files?.[0] ?? null)}
        hint="PDF, PNG or JPEG, up to 5 MB."
        error={sending.problemAt('file')}
      />
    </Form>
  );
}
