import { type SigningKey, signerOf } from '#settlement/remote-signer.ts';

interface HeldKeys {
  readonly relayerKeys: readonly SigningKey[];
  readonly registrarKey: SigningKey | null;
}

/**
 * Checks that no process holds both kinds of keys, because a thief of both could register a shop
 * and settle payments to it.
 * @param worker The keys in the worker's settings.
 * @param registrar The keys in the registrar's settings.
 * @returns a line that confirms it.
 * @throws Error if one process holds both kinds, or one key has both roles.
 */
export function requireSeparateKeys(worker: HeldKeys, registrar: HeldKeys): string {
  if (worker.registrarKey !== null) {
    throw new Error('the worker holds the registrar key: set it in registrar.env only');
  }
  if (registrar.relayerKeys.length > 0) {
    throw new Error('the registrar holds relayer keys: set them in worker.env only');
  }
  const { registrarKey } = registrar;
  const addresses = worker.relayerKeys.map((key) => signerOf(key).address);
  if (registrarKey !== null && addresses.includes(signerOf(registrarKey).address)) {
    throw new Error('the registrar key is also a relayer key: grant the role to a new address');
  }
  return 'worker and registrar hold different keys';
}
