import { test } from 'node:test';
import { cutSales } from '../../sdk/test/cut-sales.ts';

test('one sale is one intent, wherever the request or response is cut', (t) => cutSales(t, 1));
