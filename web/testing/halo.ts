import type { Page } from 'playwright-core';
import { present } from '#core/assert.ts';
import { contentOf, recordsOf } from '../data/ndef.ts';
import type { Thing } from '../terminal/counter/virtual-nfc-field.ts';

/**
 * Returns the URL that a reader gets from the chip. It contains the response to the last command.
 */
function addressOf(chip: Thing): string {
  const [record] = recordsOf(present(chip.message(), 'a message')) ?? [];
  return contentOf(present(record, 'a record')) ?? '';
}

async function answerTo(chip: Thing, command: readonly number[]): Promise<number[]> {
  await chip.command?.(Uint8Array.from(command));
  const { searchParams } = new URL(addressOf(chip));
  return [...Buffer.from(searchParams.get('res') ?? '', 'hex')];
}

/** Simulates an iPhone, whose security-key dialog carries the chip's commands. */
export async function addChipDialog(page: Page, chip: Thing): Promise<void> {
  await page.exposeFunction('chipAnswers', (command: number[]) => answerTo(chip, command));
  await page.addInitScript(() => {
    Object.defineProperty(navigator, 'userAgent', { value: 'Mozilla/5.0 (iPhone) Safari' });
    const get = async ({ publicKey }: CredentialRequestOptions) => {
      // The dialog opens only after a click.
      if (!navigator.userActivation.isActive) throw new DOMException('', 'NotAllowedError');
      const [{ id } = { id: new Uint8Array() }] = publicKey?.allowCredentials ?? [];
      const { chipAnswers } = window as unknown as {
        chipAnswers: (command: number[]) => Promise<number[]>;
      };
      const answer = await chipAnswers([...new Uint8Array(id as ArrayBuffer)]);
      return { response: { signature: Uint8Array.from(answer).buffer } };
    };
    navigator.credentials.get = get as unknown as CredentialsContainer['get'];
  });
}

/** Simulates Chrome on Android with the chip held to the phone all the time. */
export async function addHeldChip(page: Page, chip: Thing): Promise<void> {
  await page.exposeFunction('chipShows', () => addressOf(chip));
  await page.exposeFunction('chipHears', (command: number[]) =>
    chip.command?.(Uint8Array.from(command)),
  );
  await page.addInitScript(() => {
    const { chipShows, chipHears } = window as unknown as {
      chipShows: () => Promise<string>;
      chipHears: (command: number[]) => Promise<void>;
    };
    class NDEFReader extends EventTarget {
      async scan({ signal }: { signal: AbortSignal }): Promise<void> {
        const url = await chipShows();
        const data = new DataView(new TextEncoder().encode(url).buffer);
        const records = [{ recordType: 'url', encoding: 'utf-8', data }];
        if (signal.aborted) return;
        this.dispatchEvent(Object.assign(new Event('reading'), { message: { records } }));
      }
      async write({ records }: { records: { data: Uint8Array }[] }): Promise<void> {
        await chipHears([...(records[0]?.data ?? [])]);
      }
    }
    Object.assign(window, { NDEFReader });
  });
}
