import { getAddress, hashMessage } from 'viem';
import { isRefusal, type Refusal, refuse } from '#core/answer.ts';
import { newId } from '#core/ids.ts';
import { networkOf } from '#core/mode.ts';
import { toJsonAtoms } from '#core/money.ts';
import type { Tx } from '#db/database.ts';
import { type ChipRow, chips, selectChips } from '#payers/chip-queries.ts';
import { lockPayer, type PayerRow } from '#payers/payer-queries.ts';
import type { ChainContext } from '#settlement/chain/chain-context.ts';
import { chainOrNull, checkSignature } from '#settlement/chain/check/signature-refusals.ts';
import type { Hex } from '#settlement/chain-requests.ts';

/** Maximum number of chips per payer, the same as for passes and cards. */
const MAX_CHIPS = 16;

/**
 * Returns the text that a chip signs (EIP-191) to prove its owner. The text names the wallet, so
 * that no other wallet can use the signature, and it authorizes no payment.
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

/** Registers a chip to the first payer who presents it. */
export async function registerChip(
  { db, chains }: Pick<ChainContext, 'db' | 'chains'>,
  payer: PayerRow,
  made: NewChip & { readonly now: Date },
): Promise<ChipRow | Refusal> {
  const { signature } = made;
  const signer = getAddress(made.address);
  const digest = hashMessage(chipProof(payer, signer));
  const checked = await checkSignature(
    chainOrNull(chains, payer.livemode),
    { signer, digest, signature, by: 'contract' },
    {
      code: 'signature_invalid',
      message:
        'The signature does not prove that this chip belongs to this wallet. Have the chip ' +
        'sign the text from `GET /chips/proof`.',
      param: 'signature',
    },
  );
  return isRefusal(checked) ? checked : db.transaction((tx) => insertChip(tx, payer, made));
}

/** Locks the payer. */
async function insertChip(
  tx: Tx,
  payer: PayerRow,
  made: NewChip & { readonly now: Date },
): Promise<ChipRow | Refusal> {
  const { blocked, now, label, perPaymentLimit: limit } = made;
  const address = getAddress(made.address);
  await lockPayer(tx, payer.id);
  if ((await selectChips(tx, payer.id)).length >= MAX_CHIPS) {
    return refuse(
      'unexpected_state',
      `A wallet can have at most ${MAX_CHIPS} chips. Delete one first.`,
    );
  }
  const chip = {
    ...{ id: newId('chip', now), payer_id: payer.id, livemode: payer.livemode, address, label },
    ...{ per_payment_limit: limit, blocked_at: blocked ? now : null, created: now },
  };
  const row = await chips.upsert(tx, chip, 'on conflict (livemode, address) do nothing');
  // A second registration is refused: a thief could remove the chip's limit by registering it to
  // another wallet.
  return row ?? refuse('unexpected_state', 'This chip is already registered.');
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
