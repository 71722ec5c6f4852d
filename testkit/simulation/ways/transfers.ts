import assert from 'node:assert/strict';
import { caller, type Reply } from '#testkit/apis/api-client.ts';
import type { PersonClient } from '#testkit/apis/person-client.ts';
import { persist } from '#testkit/simulation/restore-ground.ts';
import type { WaysWorld } from '#testkit/simulation/ways/world.ts';

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
  const path = `/accounts/${till.account}/test/withdrawals`;
  const reply = await office.post(path, { amount }, headers);
  assert.ok(reply.status < 300, reply.text);
}
