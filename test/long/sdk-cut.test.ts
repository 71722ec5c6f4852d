import { test } from 'node:test';
import { cutSales } from '../sdk/cut-sales.ts';

test('one sale is one intent, at every byte of request and answer', (t) => cutSales(t, 1));
