import { entropyToMnemonic, mnemonicToEntropy } from '@scure/bip39';
import { wordlist } from '@scure/bip39/wordlists/english';
import { mnemonicToAccount } from 'viem/accounts';
import { randomBytes, toHex } from '../data/bytes.ts';
import type { Secrets } from './key-vault.ts';

/** Recovery phrases (BIP-39). This module has the word list, and loads only when one is used. */

export const PHRASE_WORDS = 12;
/** Twelve words stand for 128 bits and a checksum. */
const ENTROPY_BYTES = 16;

const WORDS: ReadonlySet<string> = new Set(wordlist);

/** Derives the first account (m/44'/60'/0'/0/0) of a phrase without a passphrase. */
function secretsOf(entropy: Uint8Array): Secrets {
  const account = mnemonicToAccount(entropyToMnemonic(entropy, wordlist));
  const { privateKey } = account.getHdKey();
  if (privateKey === null) throw new Error('The phrase yields no key.');
  return { privateKey: toHex(privateKey), entropy };
}

/** Creates a wallet's key from a new phrase. */
export function newSecrets(): Secrets {
  return secretsOf(randomBytes(ENTROPY_BYTES));
}

export function wordsOf(entropy: Uint8Array): readonly string[] {
  return entropyToMnemonic(entropy, wordlist).split(' ');
}

export type ReadPhrase =
  | { readonly is: 'phrase'; readonly secrets: Secrets }
  | { readonly is: 'wrong_count'; readonly count: number }
  /** `at` counts from 1. */
  | { readonly is: 'unknown_word'; readonly word: string; readonly at: number }
  /** All words exist, but not in this order: the last one contains a checksum. */
  | { readonly is: 'wrong_checksum' };

/** Reads typed or pasted words. Numbers before them, as on a printed sheet, are ignored. */
export function readPhrase(text: string): ReadPhrase {
  const parts = text
    .normalize('NFKD')
    .toLowerCase()
    .split(/[\s,]+/u);
  const words = parts.filter((part) => part !== '' && !/^\d+[.):]?$/.test(part));
  const wrong = words.findIndex((word) => !WORDS.has(word));
  const word = words[wrong];
  if (word !== undefined) return { is: 'unknown_word', word, at: wrong + 1 };
  if (words.length !== PHRASE_WORDS) return { is: 'wrong_count', count: words.length };
  let entropy: Uint8Array;
  try {
    entropy = mnemonicToEntropy(words.join(' '), wordlist);
  } catch {
    return { is: 'wrong_checksum' };
  }
  return { is: 'phrase', secrets: secretsOf(entropy) };
}
