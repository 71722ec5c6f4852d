import { hashMessage, hexToBytes } from 'viem';
import { publicKeyToAddress } from 'viem/accounts';
import type { ChipsApi } from '../data/payer-chips.ts';
import { type Chip, readNfc } from '../terminal/reader/nfc.ts';
import { asksByPress, readChipByPress } from '../terminal/reader/press.ts';
import { signDigest } from '../terminal/reader/sign-by-chip.ts';
import type { ChipAsks } from '../terminal/screens/chip-asks.tsx';

const NO_CHIP = 'That chip cannot sign. Nothing has changed.';
const LEFT = 'The chip was taken away too early. Hold it there until this window closes.';
const NOT_READ =
  'This browser cannot read chips right now. Allow NFC for this page, and try again.';
const NOT_SIGNED = 'The chip did not sign. Nothing has changed.';
const UNSURE = 'We don’t know yet whether it worked. Check the list before you try again.';

export interface NewChip {
  readonly label: string;
  readonly per_payment_limit: number | null;
}

export interface Registration {
  readonly api: Pick<ChipsApi, 'chipProof' | 'registerChip'>;
  readonly asks: ChipAsks;
  readonly chip: NewChip;
}

/** The first chip that is held here. */
function chipByNfc(until: AbortSignal): Promise<Chip | null | 'not_read'> {
  return new Promise((resolve) => {
    void readNfc((read) => resolve(read.is === 'chip' ? read.chip : null), until).then((reads) => {
      if (!reads) resolve('not_read');
    });
  });
}

function heldChip({ pressed }: ChipAsks, until: AbortSignal): Promise<Chip | null | 'not_read'> {
  return asksByPress() ? readChipByPress(pressed, until) : chipByNfc(until);
}

/** Has a chip say whose it is, and tells the service. @returns why not; null: it is registered. */
export async function registerHeldChip(
  { api, asks, chip }: Registration,
  until: AbortSignal,
): Promise<string | null> {
  const held = await heldChip(asks, until).catch(() => 'left' as const);
  if (held === 'left') return LEFT;
  if (held === 'not_read') return NOT_READ;
  if (held === null) return NO_CHIP;
  const address = publicKeyToAddress(`0x${held.publicKey}`);
  const asked = await api.chipProof(address);
  if (asked.is === 'refused') return asked.error.message;
  if (asked.is !== 'done') return NOT_SIGNED;
  const digest = hexToBytes(hashMessage(asked.value.message));
  const made = await signDigest({ chip: held, digest, askPin: asks.askPin }, until);
  if (made.is === 'left_early') return LEFT;
  if (made.is === 'not_signed') return made.message ?? NOT_SIGNED;
  const { signature } = made.signed;
  const saved = await api.registerChip({ address, signature, ...chip });
  if (saved.is === 'refused') return saved.error.message;
  return saved.is === 'done' ? null : UNSURE;
}
