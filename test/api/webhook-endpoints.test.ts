import assert from 'node:assert/strict';
import { describe } from 'node:test';
import type { Call, TestApi } from '#testkit/apis/api.ts';
import { addTestEndpoint, LOCAL_WEBHOOKS } from '#testkit/apis/api-objects.ts';
import {
  type Endpoint,
  testEndpoint,
  wrongBody,
  wrongIds,
  wrongParameter,
} from '#testkit/apis/endpoint.ts';

const BASE = '/v1/webhook_endpoints';
const URL_OF_OURS = 'http://127.0.0.1:8080/hooks';
const NOBODY = 'we_01QzXo0KcV5sVQ2pWm8Tn3';

async function freshEndpoint({ db, merchant }: TestApi): Promise<void> {
  await db.query('delete from webhook_endpoints where account_id = $1', [merchant.accountId]);
}

const onEndpoint = (suffix: string, more: Partial<Call>) => async (api: TestApi) => {
  await freshEndpoint(api);
  return { ...more, path: `${BASE}/${await addTestEndpoint(api, URL_OF_OURS)}${suffix}` };
};

const shared = { env: LOCAL_WEBHOOKS, replay: 'none', status: 200 } as const;
const read = { ...shared, scope: 'webhooks:read' } as const;
const write = { ...shared, scope: 'webhooks:write' } as const;

const endpoints: readonly Endpoint[] = [
  {
    ...read,
    name: `GET ${BASE}`,
    setUp: async (api) => {
      await addTestEndpoint(api, URL_OF_OURS);
    },
    good: async () => ({ path: BASE }),
    expect: ({ body }) => {
      assert.equal(body.data.length, 1);
      assert.equal(body.data[0]?.secret, undefined);
    },
    wrong: [wrongParameter('with a page size', 'limit', '1')],
    elsewhere: 'others',
  },
  {
    ...read,
    name: `GET ${BASE}/{id}`,
    good: onEndpoint('', {}),
    expect: ({ body }) => assert.equal(body.url, URL_OF_OURS),
    wrong: wrongIds((id) => `${BASE}/${id}`, NOBODY),
    elsewhere: 'missing',
  },
  {
    ...write,
    name: `PATCH ${BASE}/{id}`,
    good: onEndpoint('', { method: 'PATCH', body: { description: 'New', status: 'disabled' } }),
    expect: ({ body }) => {
      assert.equal(body.description, 'New');
      assert.equal(body.status, 'disabled');
      assert.equal(body.disabled_reason, 'requested_by_merchant');
    },
    wrong: [
      ...wrongIds((id) => `${BASE}/${id}`, NOBODY),
      wrongBody('with a state that does not exist', { status: 'asleep' }, 'status'),
      wrongBody('with a private address', { url: 'https://10.1.2.3/' }, 'url', 'url_not_allowed'),
      wrongBody(
        'with a version, which is fixed at creation',
        { api_version: '2026-09-28' },
        'api_version',
        'parameter_unknown',
      ),
    ],
    elsewhere: 'missing',
  },
  {
    ...write,
    name: `DELETE ${BASE}/{id}`,
    good: onEndpoint('', { method: 'DELETE' }),
    expect: ({ body }) => assert.equal(body.deleted, true),
    wrong: wrongIds((id) => `${BASE}/${id}`, NOBODY),
    elsewhere: 'missing',
  },
  {
    ...write,
    name: `POST ${BASE}/{id}/rotate_secret`,
    good: onEndpoint('/rotate_secret', { method: 'POST' }),
    expect: ({ body }) => assert.match(String(body.secret), /^whsec_/),
    wrong: wrongIds((id) => `${BASE}/${id}/rotate_secret`, NOBODY),
    elsewhere: 'missing',
  },
  {
    ...write,
    name: `POST ${BASE}/{id}/replay`,
    status: 202,
    good: onEndpoint('/replay', { body: { since: '2026-10-01T00:00:00.000Z' } }),
    expect: ({ body }) => assert.equal(body.status, 'running'),
    wrong: [
      ...wrongIds((id) => `${BASE}/${id}/replay`, NOBODY),
      wrongBody('without a beginning', { since: undefined }, 'since', 'parameter_missing'),
    ],
    elsewhere: 'missing',
  },
];

for (const endpoint of endpoints) {
  describe(endpoint.name, () => {
    testEndpoint(endpoint);
  });
}
