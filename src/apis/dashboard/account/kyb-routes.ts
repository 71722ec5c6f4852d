import { Readable } from 'node:stream';
import Type from 'typebox';
import { selectAccount } from '#accounts/account-queries.ts';
import {
  addDocument,
  DOCUMENT_KINDS,
  DOCUMENT_TYPES,
  MAX_DOCUMENT_BYTES,
  readDocument,
  removeDocument,
} from '#accounts/kyb-documents.ts';
import { type DocumentRow, selectDocuments, selectSubmission } from '#accounts/kyb-queries.ts';
import { saveKybDetails, submitKyb } from '#accounts/kyb-review.ts';
import { DocumentSchema, KybDetails, KybSchema } from '#apis/dashboard/account/account-schema.ts';
import { ACCOUNT, changeBy, type PersonRoute, personRoute } from '#apis/dashboard/person-route.ts';
import { Done } from '#apis/dashboard/person-schema.ts';
import { type Answer, answerWith, isRefusal } from '#core/answer.ts';
import { present } from '#core/assert.ts';
import type { Database } from '#db/database.ts';
import type { Stream } from '#http/route.ts';
import { oneOf, text } from '#http/schema.ts';
import type { ApiContext } from '#payments/api-context.ts';

const TAG = 'Verification';

function documentView(row: DocumentRow) {
  const { id, kind, file_name, content_type, size, sha256, created } = row;
  return { id, kind, file_name, content_type, size, sha256, created };
}

export async function kybView(db: Database, accountId: string): Promise<object | null> {
  const [account, submission, documents] = await Promise.all([
    selectAccount(db, accountId),
    selectSubmission(db, accountId),
    selectDocuments(db, accountId),
  ]);
  if (account === undefined) return null;
  return {
    account: accountId,
    status: account.kyb_status,
    version: submission?.version ?? 0,
    details: submission?.details ?? null,
    documents: documents.map(documentView),
    submitted_at: submission?.submitted_at ?? null,
    decided_at: submission?.decided_at ?? null,
    decision_reason: submission?.decision_reason ?? null,
  };
}

/** The account must exist. */
export async function answerKyb(db: Database, accountId: string): Promise<Answer> {
  return answerWith(200, present(await kybView(db, accountId), 'account'));
}

/**
 * Returns an uploaded file as a download only. Its content is untrusted: if a browser opened it, it
 * would run with this site's origin.
 */
export function fileAnswer(row: DocumentRow, bytes: Buffer): Stream {
  return {
    status: 200,
    stream: Readable.from([bytes]),
    headers: {
      'Content-Type': row.content_type,
      'Content-Length': String(bytes.length),
      'Content-Disposition': `attachment; filename*=UTF-8''${encodeURIComponent(row.file_name)}`,
      'X-Content-Type-Options': 'nosniff',
      'Content-Security-Policy': "default-src 'none'; sandbox",
    },
  };
}

function readRoute({ db }: ApiContext) {
  return personRoute({
    method: 'GET',
    path: `${ACCOUNT}/kyb`,
    operationId: 'readVerification',
    moves: 'nothing',
    tag: TAG,
    summary: 'Retrieve the business verification',
    access: 'admin',
    response: KybSchema,
    handle: async ({ caller }) => answerKyb(db, caller.tenant.accountId),
  });
}

const DetailsBody = Type.Object({
  version: Type.Integer({
    minimum: 0,
    description: 'The version that you last read; 0 for the first time.',
  }),
  details: KybDetails,
});

function saveRoute({ db }: ApiContext) {
  return personRoute<undefined, typeof DetailsBody>({
    method: 'PUT',
    path: `${ACCOUNT}/kyb`,
    operationId: 'saveVerification',
    moves: 'data',
    tag: TAG,
    summary: 'Save the details of the business',
    access: 'admin',
    // Staff read the details. No receipt shows them.
    settings: { details: 'inner' },
    body: DetailsBody,
    response: KybSchema,
    errors: ['version_conflict', 'unexpected_state'],
    handle: async (request) => {
      const { version, details } = request.body;
      const edit = { version, details: { ...details } };
      const row = await db.transaction((tx) => saveKybDetails(tx, changeBy(request), edit));
      if (isRefusal(row)) return row;
      return answerKyb(db, row.account_id);
    },
  });
}

function submitRoute({ db }: ApiContext) {
  return personRoute({
    method: 'POST',
    path: `${ACCOUNT}/kyb/submit`,
    operationId: 'submitVerification',
    moves: 'access',
    asks: 'never',
    tag: TAG,
    summary: 'Submit the verification to the network operator',
    access: 'admin',
    response: KybSchema,
    errors: ['unexpected_state'],
    handle: async (request) => {
      const row = await db.transaction((tx) => submitKyb(tx, changeBy(request)));
      if (isRefusal(row)) return row;
      return answerKyb(db, row.id);
    },
  });
}

const UploadQuery = Type.Object({
  kind: oneOf(DOCUMENT_KINDS, 'The kind of document.'),
  file_name: text(100, 'The name of the file.', 1),
});

function uploadRoute({ db, keys }: ApiContext) {
  return personRoute<typeof UploadQuery>({
    method: 'POST',
    path: `${ACCOUNT}/kyb/documents`,
    operationId: 'uploadVerificationDocument',
    moves: 'data',
    tag: TAG,
    summary: 'Upload a document: the file itself is the request body',
    description: 'PDF, PNG or JPEG, up to 5 MiB.',
    access: 'admin',
    query: UploadQuery,
    upload: { contentTypes: DOCUMENT_TYPES, maxBytes: MAX_DOCUMENT_BYTES },
    status: 201,
    response: DocumentSchema,
    errors: ['unexpected_state', 'body_too_large', 'content_type_unsupported'],
    handle: async (request) => {
      const { query, bytes, contentType } = request;
      const secretKey = keys.people;
      const document = { kind: query.kind, fileName: query.file_name, contentType, bytes };
      const row = await db.transaction((tx) =>
        addDocument(tx, { ...changeBy(request), secretKey }, document),
      );
      return isRefusal(row) ? row : answerWith(201, documentView(row));
    },
  });
}

function downloadRoute({ db, keys }: ApiContext) {
  return personRoute({
    method: 'GET',
    path: `${ACCOUNT}/kyb/documents/{id}`,
    operationId: 'downloadVerificationDocument',
    moves: 'nothing',
    tag: TAG,
    summary: 'Download the file of a document',
    access: 'admin',
    params: { id: 'document' },
    returns: 'The file, as it was uploaded.',
    sends: DOCUMENT_TYPES,
    handle: async ({ caller, params }) => {
      const { accountId } = caller.tenant;
      const secretKey = keys.people;
      const document = await readDocument(db, { accountId, id: params.id ?? '', secretKey });
      return isRefusal(document) ? document : fileAnswer(document.row, document.bytes);
    },
  });
}

function removeRoute({ db }: ApiContext) {
  return personRoute({
    method: 'DELETE',
    path: `${ACCOUNT}/kyb/documents/{id}`,
    operationId: 'removeVerificationDocument',
    moves: 'data',
    tag: TAG,
    summary: 'Remove a document that was not submitted',
    access: 'admin',
    params: { id: 'document' },
    response: Done,
    errors: ['unexpected_state'],
    handle: async (request) => {
      const id = request.params.id ?? '';
      const refused = await db.transaction((tx) => removeDocument(tx, changeBy(request), id));
      return refused ?? answerWith(200, { status: 'removed' });
    },
  });
}

export function kybRoutes(ctx: ApiContext): PersonRoute[] {
  return [
    readRoute(ctx),
    saveRoute(ctx),
    submitRoute(ctx),
    uploadRoute(ctx),
    downloadRoute(ctx),
    removeRoute(ctx),
  ];
}
