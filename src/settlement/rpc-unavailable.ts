import { Unavailable } from '#core/unavailable.ts';

/** No node gave an answer, or none that can be understood: what the chain holds is unknown. */
export class RpcUnavailable extends Unavailable {
  override name = 'RpcUnavailable';
}
