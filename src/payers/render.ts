import { networkOf } from '#core/mode.ts';
import { toJsonAtoms } from '#core/money.ts';
import type { PassRow, PayerRow } from '#payers/payer-queries.ts';
import type { PayerRequestRow } from '#payers/request-queries.ts';

function optionalAtoms(value: bigint | null): number | null {
  return value === null ? null : toJsonAtoms(value);
}

/** Renders the payer for the wallet's owner. */
export function renderPayer(payer: PayerRow) {
  return {
    id: payer.id,
    object: 'payer',
    livemode: payer.livemode,
    network: networkOf(payer.livemode),
    address: payer.address,
    status: payer.blocked_at === null ? 'active' : 'blocked',
    limits: {
      per_payment: optionalAtoms(payer.limit_per_payment),
      per_day: optionalAtoms(payer.limit_per_day),
      confirm_first_payment: payer.confirm_first_payment,
    },
    created: payer.created.toISOString(),
  };
}

function lastDeclined({ declined_at: at, decline_code: code }: PassRow) {
  return at === null ? null : { declined_at: at.toISOString(), decline_code: code };
}

/** Renders the pass, without its secret. */
export function renderPass(pass: PassRow, livemode: boolean) {
  return {
    id: pass.id,
    object: 'pass',
    livemode,
    network: networkOf(livemode),
    label: pass.label,
    status: pass.revoked_at === null ? 'active' : 'revoked',
    revoked_at: pass.revoked_at?.toISOString() ?? null,
    last_declined: lastDeclined(pass),
    created: pass.created.toISOString(),
  };
}

const REQUEST_OBJECTS = {
  enrolment: 'approval',
  faucet: 'faucet_grant',
  transfer: 'transfer',
} as const;

/**
 * The failure code of each kind of request, whatever the chain's reason was. A failed request has
 * moved or approved nothing.
 */
const FAILURES: Readonly<Record<PayerRequestRow['kind'], string>> = {
  enrolment:
    'The chain rejected the approval: the wallet used another one in the meantime, or this one ' +
    'arrived too late. Nothing was approved. Sign again.',
  faucet: 'The test token did not send the funds. Try again.',
  transfer:
    'The token contract did not accept the transfer in time, or the transfer was canceled there. ' +
    'Nothing was sent. Sign again.',
};

export function renderPayerRequest(request: PayerRequestRow, livemode: boolean) {
  return {
    id: request.id,
    object: REQUEST_OBJECTS[request.kind],
    livemode,
    network: networkOf(livemode),
    status: request.status,
    failure_code: request.failure_code,
    failure_message: request.failure_code === null ? null : FAILURES[request.kind],
    tx_hash: request.tx_hash,
    created: request.created.toISOString(),
    updated: request.updated.toISOString(),
  };
}
