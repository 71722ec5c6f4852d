import { getAddress, verifyMessage } from 'viem';
import { type Refusal, refuse } from '#core/answer.ts';
import { newId } from '#core/ids.ts';
import { networkOf } from '#core/mode.ts';
import { toJsonAtoms } from '#core/money.ts';
import type { Tx } from '#db/database.ts';
import { type ChipRow, chips, selectChips } from '#payers/chip-queries.ts';
import { lockPayer, type PayerRow } from '#payers/payer-queries.ts';
import type { Hex } from '#settlement/requests.ts';

/** The same limit as for passes and cards. */
const MAX_CHIPS = 16;

/**
 * The text that a chip signs (EIP-191) to prove its owner. It names the wallet, so others cannot
 * use it, and nothing that could be paid.
 */
export function chipProof(payer: Pick<PayerRow, 'address' | 'livemode'>, address: string): string {
  return [
    'Tapline: this chip belongs to this wallet.',
    `Chip: ${getAddress(address)}`,
    `Wallet: ${getAddress(payer.address)}`,
    `Network: ${networkOf(payer.livemode)}`,
  ].join('\n');
}

export interface NewChip {
  readonly address: string;
  readonly signature: Hex;
  readonly label: string;
  readonly perPaymentLimit: bigint | null;
  readonly blocked: boolean;
}

/** Registers a chip for the first payer who presents it. Locks the payer. */
export async function registerChip(
  tx: Tx,
  payer: PayerRow,
  made: NewChip & { readonly now: Date },
): Promise<ChipRow | Refusal> {
  const { signature, blocked, now, label, perPaymentLimit: limit } = made;
  const address = getAddress(made.address);
  const message = chipProof(payer, address);
  const isOfChip = await verifyMessage({ address, message, signature }).catch(() => false);
  if (!isOfChip) {
    return refuse(
      'signature_invalid',
      'This chip did not sign that it belongs to this wallet. Sign the text of `GET /chips/proof`.',
      'signature',
    );
  }
  await lockPayer(tx, payer.id);
  if ((await selectChips(tx, payer.id)).length >= MAX_CHIPS) {
    return refuse('unexpected_state', `At most ${MAX_CHIPS} chips. Delete one first.`);
  }
  const chip = {
    ...{ id: newId('chip', now), payer_id: payer.id, livemode: payer.livemode, address, label },
    ...{ per_payment_limit: limit, blocked_at: blocked ? now : null, created: now },
  };
  const row = await chips.upsert(tx, chip, 'on conflict (livemode, address) do nothing');
  // Otherwise a thief could remove the chip's limit by registering it to another wallet.
  return row ?? refuse('unexpected_state', 'This chip is registered already.');
}

export function renderChip(chip: ChipRow) {
  const limit = chip.per_payment_limit;
  return {
    id: chip.id,
    object: 'chip',
    livemode: chip.livemode,
    network: networkOf(chip.livemode),
    address: chip.address,
    label: chip.label,
    per_payment_limit: limit === null ? null : toJsonAtoms(limit),
    blocked: chip.blocked_at !== null,
    created: chip.created.toISOString(),
  };
}
