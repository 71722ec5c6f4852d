import { type SigningKey, signerOf } from '#settlement/signer.ts';

interface HeldKeys {
  readonly relayerKeys: readonly SigningKey[];
  readonly registrarKey: SigningKey | null;
}

/**
 * A thief of both keys registers a shop and settles to it, so no process holds both.
 * @param worker as the worker's settings name them; `registrar`: as the registrar's do.
 * @throws Error if one process holds both kinds, or one key is of both.
 */
export function describeKeysApart(worker: HeldKeys, registrar: HeldKeys): string {
  if (worker.registrarKey !== null) {
    throw new Error('the worker holds the registrar key: name it in registrar.env alone');
  }
  if (registrar.relayerKeys.length > 0) {
    throw new Error('the registrar holds relayer keys: name them in worker.env alone');
  }
  const { registrarKey } = registrar;
  const addresses = worker.relayerKeys.map((key) => signerOf(key).address);
  if (registrarKey !== null && addresses.includes(signerOf(registrarKey).address)) {
    throw new Error('the registrar key is also a relayer key: grant the role to a new address');
  }
  return 'worker and registrar hold different keys';
}
