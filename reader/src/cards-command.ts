import { fstatSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { type CardEvent, type TwoCards, watchCards } from './pcsc/readers.ts';
import {
  type CardSettings,
  readSettings,
  type Written,
  writeCard,
} from './protocols/write-card.ts';
import { SettingError } from './till-settings.ts';

/** `tapline-reader cards write`: writes passes to blank chips. */

export interface WritingCards {
  readonly socket: string;
  /** The settings that the wallet shows once for a new card. The user pastes them here. */
  readonly input: NodeJS.ReadableStream;
  readonly say: (event: { readonly status: string; readonly uid?: string }, words: string) => void;
  readonly end: AbortController;
}

/** Longer than any settings, so that a file piped in by mistake is cut off. */
const LONGEST_INPUT = 4096;

export async function writeCards({ socket, input, say, end }: WritingCards): Promise<number> {
  say(
    { status: 'settings' },
    'Paste what the wallet or the dashboard shows for it, then press Enter.',
  );
  const settings = await pastedSettings(input);
  let code = 1;
  await watchCards({
    socket,
    signal: end.signal,
    converse: (card) => writeCard(card, settings),
    onEvent: (event: CardEvent<Written>) => {
      if (event.status === 'no_reader') return say(event, 'No reader is connected.');
      if (event.status === 'ready') return say(event, 'Hold the blank card on the reader.');
      say(shown(event.tap), wordsOf(event.tap));
      const isWritten = event.tap.status === 'written' || event.tap.status === 'already_written';
      if (!isWritten) return;
      code = 0;
      end.abort();
    },
  });
  return code;
}

/** @throws SettingError if the input is a file, because card keys must not be stored on disk. */
async function pastedSettings(input: NodeJS.ReadableStream): Promise<CardSettings> {
  if (input === process.stdin && fstatSync(0).isFile()) {
    throw new SettingError('Card keys are not read from a file. Paste them.');
  }
  const text = await firstLine(input);
  try {
    const settings = JSON.parse(text) as CardSettings;
    readSettings(settings);
    return settings;
  } catch (error) {
    const reason =
      error instanceof RangeError ? error.message : 'This is not the line that the wallet shows.';
    throw new SettingError(`${reason} Copy "For tapline-reader" from the wallet.`);
  }
}

/** Reads a line without echo, because terminals and their scrollback keep what they show. */
async function firstLine(input: NodeJS.ReadableStream): Promise<string> {
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const isTerminal = 'isTTY' in input && input.isTTY === true;
  const lines = createInterface({ input, output: silent, terminal: isTerminal, historySize: 0 });
  for await (const line of lines) {
    lines.close();
    return line.slice(0, LONGEST_INPUT);
  }
  throw new SettingError('Nothing was pasted.');
}

function shown(end: Written | TwoCards) {
  return 'uid' in end ? { status: end.status, uid: end.uid } : { status: end.status };
}

function wordsOf(end: Written | TwoCards): string {
  switch (end.status) {
    case 'written':
      return `Written and read back: chip ${end.uid}.`;
    case 'already_written':
      return `This card already has this pass: chip ${end.uid}.`;
    case 'not_blank':
      return 'This card is already in use. Nothing was changed. Use a blank card.';
    case 'not_a_chip_of_this_kind':
      return 'This is not an NTAG 424 DNA chip. Use a blank one.';
    case 'counterfeit':
      return 'Counterfeit chip: NXP has not signed it. Nothing was changed. Use another one.';
    case 'two_cards':
      return 'Hold only one card to the reader.';
    case 'gone':
      return 'The card was removed too early. Hold it to the reader again.';
    case 'failed':
      return `Not written: ${end.reason}. Hold the same card to the reader again.`;
  }
}
