import { randomBytes } from 'node:crypto';
import { type CardKeys, writeSunMessage } from '#core/sun-message.ts';

/** The settings to write to a card's chip, from the response to `POST /cards`. */
export interface CardSettings {
  readonly url_template: string;
  readonly meta_read_key: string;
  readonly file_read_key: string;
}

const NXP = 0x04;

/** Returns a new chip's number. */
export function newUid(): string {
  return Buffer.concat([Buffer.from([NXP]), randomBytes(6)])
    .toString('hex')
    .toUpperCase();
}

/**
 * A simulated NTAG 424 DNA chip, written with a card's settings. Each tap increments its counter
 * and replaces the zeros in the URL template with the tap's message.
 */
export class CardChip {
  readonly #template: string;
  readonly #keys: CardKeys;
  readonly #uid: string;
  counter = 0;

  constructor(settings: CardSettings, uid = newUid()) {
    this.#template = settings.url_template;
    this.#keys = {
      metaRead: Buffer.from(settings.meta_read_key, 'hex'),
      fileRead: Buffer.from(settings.file_read_key, 'hex'),
    };
    this.#uid = uid;
  }

  /** Taps again. */
  tap(): string {
    this.counter++;
    const identity = { uid: this.#uid, counter: this.counter };
    const { piccData, mac } = writeSunMessage(identity, this.#keys, randomBytes(5));
    const hex = (bytes: Buffer) => bytes.toString('hex').toUpperCase();
    return this.#template
      .replace(`p=${'0'.repeat(32)}`, `p=${hex(piccData)}`)
      .replace(`c=${'0'.repeat(16)}`, `c=${hex(mac)}`);
  }
}
