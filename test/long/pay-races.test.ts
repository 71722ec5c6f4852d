/** The races of a tap, an agent token and two wallets at one intent, as often as chance needs. */
process.env.PAY_RACES ??= '100';
await import('../../src/apis/pay/pay-races.test.ts');
