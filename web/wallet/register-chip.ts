import { hashMessage, hexToBytes } from 'viem';
import { publicKeyToAddress } from 'viem/accounts';
import type { ChipsApi } from '../data/payer-chips.ts';
import { refusalText } from '../data/refusal-text.ts';
import type { Chip } from '../terminal/reader/chip-commands.ts';
import { needsClick, readChipAfterClick } from '../terminal/reader/read-chip-on-iphone.ts';
import { readNfc } from '../terminal/reader/read-nfc.ts';
import { signDigest } from '../terminal/reader/sign-by-chip.ts';
import type { ChipAsks } from '../terminal/screens/use-chip-asks.ts';
import { t } from '../ui/text/t.ts';

export interface NewChip {
  readonly label: string;
  readonly per_payment_limit: number | null;
}

export interface Registration {
  readonly api: Pick<ChipsApi, 'chipProof' | 'registerChip'>;
  readonly asks: ChipAsks;
  readonly chip: NewChip;
}

/** Returns the first chip held to this phone. */
function chipByNfc(until: AbortSignal): Promise<Chip | null | 'not_read'> {
  return new Promise((resolve) => {
    void readNfc((read) => resolve(read.is === 'chip' ? read.chip : null), until).then((reads) => {
      if (!reads) resolve('not_read');
    });
  });
}

function heldChip({ clicked }: ChipAsks, until: AbortSignal): Promise<Chip | null | 'not_read'> {
  return needsClick() ? readChipAfterClick(clicked, until) : chipByNfc(until);
}

export async function registerHeldChip(
  { api, asks, chip }: Registration,
  until: AbortSignal,
): Promise<string | null> {
  const held = await heldChip(asks, until).catch(() => 'left' as const);
  if (held === 'left') return t('wallet.chips.problem.left_early');
  if (held === 'not_read') return t('wallet.chips.problem.no_nfc');
  if (held === null) return t('wallet.chips.problem.cannot_sign');
  const address = publicKeyToAddress(`0x${held.publicKey}`);
  const proof = await api.chipProof(address);
  if (proof.is === 'refused') return refusalText(proof.error);
  if (proof.is !== 'done') return t('wallet.chips.problem.not_signed');
  const digest = hexToBytes(hashMessage(proof.value.message));
  const made = await signDigest({ chip: held, digest, askPin: asks.askPin }, until);
  if (made.is === 'left_early') return t('wallet.chips.problem.left_early');
  if (made.is === 'not_signed') return made.message ?? t('wallet.chips.problem.not_signed');
  const { signature } = made.signed;
  const saved = await api.registerChip({ address, signature, ...chip });
  if (saved.is === 'refused') return refusalText(saved.error);
  return saved.is === 'done' ? null : t('wallet.problem.unknown');
}
