import { Unavailable } from '#core/unavailable.ts';

/** Thrown when no node gave a usable answer, so the state of the chain is unknown. */
export class RpcUnavailable extends Unavailable {
  override name = 'RpcUnavailable';
}
