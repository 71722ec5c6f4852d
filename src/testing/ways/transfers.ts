import assert from 'node:assert/strict';
import { Secret, TOTP } from 'otpauth';
import { caller, type Reply } from '#testing/api-client.ts';
import { PersonClient } from '#testing/person-client.ts';
import { persist } from '#testing/restore-ground.ts';
import type { WaysWorld } from '#testing/ways/world.ts';

/** Signs in as the shop's owner, with both factors. */
export async function openOffice({ world, url, till }: WaysWorld): Promise<PersonClient> {
  const person = world.sandbox.dashboard;
  const client = new PersonClient(`${url(0)}/dashboard/v1`);
  await client.post('/session', person);
  const begun = await client.post('/me/totp', { current_password: person.password });
  const totp = new TOTP({ secret: Secret.fromBase32(String(begun.body.secret)) });
  const confirmed = await client.post('/me/totp/confirm', { code: totp.generate() });
  assert.equal(confirmed.status, 200, `${till.account}: ${confirmed.text}`);
  return client;
}

interface Refund {
  readonly payment: string;
  readonly amount: number;
}

type RefundBy = (at: WaysWorld & { office: PersonClient }, refund: Refund) => Promise<Reply>;

const keyOf = ({ payment }: Refund) => `refund ${payment}`;

/** The ways to refund a payment, by where someone requests the refund. */
export const REFUNDS: Readonly<Record<'API' | 'till' | 'dashboard', RefundBy>> = {
  API: ({ url, till }, refund) => {
    const merchant = caller(`${url(0)}/v1`, till.secretKey);
    return persist(() => merchant.post('/refunds', refund, keyOf(refund)));
  },
  till: ({ url, till }, refund) => {
    const terminal = caller(`${url(0)}/device/v1`, till.deviceKey);
    return persist(() => terminal.post('/refunds', refund, keyOf(refund)));
  },
  dashboard: async ({ till, office }, refund) => {
    const headers = { 'Idempotency-Key': keyOf(refund) };
    return office.post(`/accounts/${till.account}/test/refunds`, refund, headers);
  },
};

/** Withdraws money to the merchant's settlement wallet. */
export async function withdraw(
  { till }: WaysWorld,
  office: PersonClient,
  amount: number,
): Promise<void> {
  const headers = { 'Idempotency-Key': `withdraw ${amount}` };
  const asked = await office.post(
    `/accounts/${till.account}/test/withdrawals`,
    { amount },
    headers,
  );
  assert.ok(asked.status < 300, asked.text);
}
