import { createHash } from 'node:crypto';
import { lockOwnAccount } from '#accounts/account-queries.ts';
import {
  type DocumentRow,
  deleteDocument,
  kybDocuments,
  selectDocumentContent,
  selectDocuments,
} from '#accounts/kyb-queries.ts';
import { actorId } from '#audit/audit.ts';
import { type AccountRef, recordAccountChange } from '#audit/record-change.ts';
import { isRefusal, type Refusal, refuse, resourceMissing } from '#core/answer.ts';
import { decrypt, encrypt } from '#core/bearer-secrets.ts';
import { newId } from '#core/ids.ts';
import { readName } from '#core/name-rules.ts';
import type { Sql, Tx } from '#db/database.ts';

/** The largest document: enough for scans of a few pages. */
export const MAX_DOCUMENT_BYTES = 5 * 1024 * 1024;
const MAX_DOCUMENTS = 20;

export const DOCUMENT_KINDS = [
  'registration',
  'ownership',
  'identity',
  'address',
  'other',
] as const;

/** The accepted file types with their first bytes, because the declared type proves nothing. */
const SIGNATURES = {
  'application/pdf': [Buffer.from('%PDF-')],
  'image/png': [Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])],
  'image/jpeg': [Buffer.from([0xff, 0xd8, 0xff])],
} as const satisfies Record<string, readonly Buffer[]>;

export const DOCUMENT_TYPES = Object.keys(SIGNATURES) as (keyof typeof SIGNATURES)[];

export interface NewDocument {
  readonly kind: (typeof DOCUMENT_KINDS)[number];
  readonly fileName: string;
  readonly contentType: string;
  readonly bytes: Buffer;
}

function checkBytes(document: NewDocument): Refusal | null {
  const type = DOCUMENT_TYPES.find((known) => known === document.contentType);
  const begins = type === undefined ? [] : SIGNATURES[type];
  if (begins.some((start) => document.bytes.subarray(0, start.length).equals(start))) return null;
  return refuse(
    'content_type_unsupported',
    `The file does not match its Content-Type. Allowed types: ${DOCUMENT_TYPES.join(', ')}.`,
  );
}

/** Encrypts and stores a document for the business's verification. */
export async function addDocument(
  tx: Tx,
  ref: AccountRef & { readonly secretKey: Buffer },
  document: NewDocument,
): Promise<DocumentRow | Refusal> {
  const fileName = readName(document.fileName.replaceAll(/[/\\]/g, ' '), 'file_name');
  if (isRefusal(fileName)) return fileName;
  const wrong = checkBytes(document);
  if (wrong !== null) return wrong;
  const { accountId, now } = ref;
  const account = await lockOwnAccount(tx, accountId);
  if (account.kyb_status === 'approved') {
    return refuse('unexpected_state', 'The business is already verified.');
  }
  if ((await selectDocuments(tx, accountId)).length >= MAX_DOCUMENTS) {
    return refuse(
      'unexpected_state',
      `A business can upload at most ${MAX_DOCUMENTS} documents. Remove one first.`,
    );
  }
  const id = newId('document', now);
  const row: DocumentRow = {
    id,
    account_id: accountId,
    kind: document.kind,
    file_name: fileName,
    content_type: document.contentType,
    size: document.bytes.length,
    sha256: createHash('sha256').update(document.bytes).digest('hex'),
    uploaded_by: actorId(ref.actor),
    created: now,
  };
  const content = encrypt(ref.secretKey, document.bytes.toString('base64'), id);
  await kybDocuments.insert(tx, { ...row, content });
  await recordAccountChange(tx, ref, {
    action: 'kyb.document_added',
    objectId: id,
    after: { kind: row.kind, file_name: fileName, size: row.size, sha256: row.sha256 },
  });
  return row;
}

/** Returns the file's bytes as they were uploaded. */
export async function readDocument(
  sql: Sql,
  filter: { readonly accountId: string; readonly id: string; readonly secretKey: Buffer },
): Promise<{ readonly row: DocumentRow; readonly bytes: Buffer } | Refusal> {
  const row = await selectDocumentContent(sql, filter);
  if (row === undefined) return resourceMissing('document');
  return { row, bytes: Buffer.from(decrypt(filter.secretKey, row.content, row.id), 'base64') };
}

export async function removeDocument(tx: Tx, ref: AccountRef, id: string): Promise<null | Refusal> {
  const { accountId } = ref;
  const account = await lockOwnAccount(tx, accountId);
  if (account.kyb_status === 'pending' || account.kyb_status === 'approved') {
    return refuse('unexpected_state', 'A submitted document cannot be removed.');
  }
  const row = await deleteDocument(tx, { accountId, id });
  if (row === undefined) return resourceMissing('document');
  await recordAccountChange(tx, ref, {
    action: 'kyb.document_removed',
    objectId: id,
    before: { kind: row.kind, file_name: row.file_name, sha256: row.sha256 },
  });
  return null;
}
