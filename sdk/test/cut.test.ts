import { test } from 'node:test';
import { cutSales } from './cut-sales.ts';

// Tests some bytes only, because every byte would take a minute on a busy machine: see
// test/long/sdk-cut.test.ts.
test('one sale is one intent, wherever in request and response the connection ends', (t) =>
  cutSales(t, 5));
