import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asReleased, changesSince, withChanges } from '#app/api-changes.ts';

const BEFORE = ['POST /v1/things', 'POST /v1/things 201', 'GET /v1/things 200.data[].id string'];
const DOCUMENT = { paths: { '/v1/others': { get: { summary: 'List others' } } } };

function changes(...added: string[]): string {
  const shape = (promises: string[]) => ({
    promises: new Set(promises),
    demands: new Set<string>(),
  });
  return changesSince(shape(BEFORE), shape([...BEFORE, ...added]), DOCUMENT);
}

test('a new operation is named with its summary, without its fields', () => {
  const text = changes('GET /v1/others', 'GET /v1/others 200', 'GET /v1/others 200.id string');
  assert.match(text, /\| `GET \/v1\/others` \| List others \|/);
  assert.doesNotMatch(text, /new fields/);
});

test('a new parameter of an operation is named once, without members of new objects', () => {
  const text = changes(
    'POST /v1/things body.tip null or object',
    'POST /v1/things body.tip.shares array',
    'POST /v1/things body.tip.shares[] integer',
    'POST /v1/things query status string',
    'POST /v1/things query status = paid',
  );
  assert.match(text, /\| `POST \/v1\/things` \| `tip`, `status` \|/);
});

test('a new value of an existing parameter is named', () => {
  const before = { promises: new Set(['GET /v1/things', 'GET /v1/things query status string']) };
  const paid = { promises: new Set([...before.promises, 'GET /v1/things query status = paid']) };
  const demands = new Set<string>();
  const text = changesSince({ ...before, demands }, { ...paid, demands }, DOCUMENT);
  assert.match(text, /`status = paid`/);
});

test('a field of several responses is named once for its resource; errors are omitted', () => {
  const text = changes(
    'POST /v1/things 201.tip integer',
    'GET /v1/things 200.data[].tip integer',
    'POST /v1/things 409.error.code string',
  );
  assert.match(text, /\| `things` \| `tip` \|/);
  assert.doesNotMatch(text, /error/);
});

test('a new event is named; one with a new field is not', () => {
  const text = changes('event thing.made body object', 'GET /v1/things 200.data[].id integer');
  assert.match(text, /New event types: `thing\.made`\./);
  const known = { promises: new Set(['event thing.made body object']), demands: new Set<string>() };
  const more = {
    ...known,
    promises: new Set([...known.promises, 'event thing.made body.id string']),
  };
  assert.equal(changesSince(known, more, DOCUMENT), '');
});

test('released sections stay, and new ones are added above', () => {
  const first = withChanges('', changes('event thing.made body object'));
  const page = asReleased(first, 'v1.0.0, 2026-12-01', 'One thing.');
  assert.match(
    page,
    /## Not yet released\n\nNothing yet\.\n\n## v1\.0\.0, 2026-12-01\n\nOne thing\./,
  );
  const next = withChanges(page, 'Another.');
  assert.match(next, /## Not yet released\n\nAnother\.\n\n## v1\.0\.0/);
  assert.match(asReleased(next, 'v1.1.0', 'Another.'), /## v1\.1\.0[\s\S]*## v1\.0\.0/);
});
