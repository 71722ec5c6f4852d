import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { declaredMerchantRoutes } from '#app/declared-routes.ts';
import { MERCHANT_ACCESS, merchantDocument } from '#app/merchant-document.ts';
import { merchantWebhooks } from '#app/merchant-webhooks.ts';
import { ERROR_CODES, statusOf } from '#core/error-codes.ts';
import { EVENT_TYPES } from '#events/event-types.ts';
import { errorsByStatus } from '#http/route-errors.ts';

const routes = declaredMerchantRoutes();
const document = merchantDocument(routes);

test('openapi.json matches the declared routes', () => {
  const file = path.join(import.meta.dirname, '../../openapi.json');
  assert.equal(readFileSync(file, 'utf8'), `${JSON.stringify(document, null, 2)}\n`);
});

test('every example matches its schema', () => {
  const ajv = new Ajv2020({ strict: false });
  addFormats.default(ajv);
  let checked = 0;
  const fits = (schema: unknown, example: unknown, what: string) => {
    checked++;
    assert.ok(ajv.validate(schema as object, example), `${what}: ${ajv.errorsText()}`);
  };
  for (const route of routes) {
    for (const { schema, example } of Object.values(route.responses)) {
      if (example !== undefined) fits(schema, example, route.operationId);
    }
    if (route.bodyExample !== undefined) fits(route.body, route.bodyExample, route.operationId);
  }
  for (const { type, schema, example } of merchantWebhooks()) fits(schema, example, type);
  assert.ok(checked > 50, `only ${checked} examples`);
});

test('every event type is among the webhooks', () => {
  const types = Object.keys(document.webhooks as object);
  assert.deepEqual(types.toSorted(), [...EVENT_TYPES].toSorted());
});

test('routes, scopes and operation ids are declared once, as behavior.md 3.5 names them', () => {
  const paths = routes.map(({ method, path: below }) => `${method} ${below}`);
  assert.equal(new Set(paths).size, paths.length);
  const ids = routes.map(({ operationId }) => operationId);
  assert.equal(new Set(ids).size, ids.length);
  for (const expected of SPECIFIED) assert.ok(paths.includes(expected), expected);
});

test('errors are under the status of their code', () => {
  for (const route of routes) {
    for (const [status, codes] of errorsByStatus(route, MERCHANT_ACCESS.errors)) {
      for (const code of codes) {
        assert.equal(statusOf(code), status);
        assert.ok(code in ERROR_CODES);
      }
    }
  }
});

const SPECIFIED = [
  'POST /payment_intents',
  'GET /payment_intents',
  'GET /payment_intents/{id}',
  'POST /payment_intents/{id}/cancel',
  'POST /payment_intents/{id}/confirm',
  'GET /payments',
  'GET /payments/{id}',
  'POST /refunds',
  'GET /refunds',
  'GET /refunds/{id}',
  'GET /terminals',
  'GET /terminals/{id}',
  'GET /balance',
  'GET /events',
  'GET /events/{id}',
  'GET /webhook_endpoints',
  'POST /webhook_endpoints',
  'GET /webhook_endpoints/{id}',
  'PATCH /webhook_endpoints/{id}',
  'DELETE /webhook_endpoints/{id}',
  'GET /webhook_endpoints/{id}/deliveries',
  'POST /webhook_endpoints/{id}/rotate_secret',
  'POST /webhook_endpoints/{id}/test',
  'GET /webhook_deliveries/{id}',
  'POST /webhook_deliveries/{id}/retry',
  'GET /idempotency_keys/{key}',
];
