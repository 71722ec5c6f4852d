import { StartError } from '#core/start-error.ts';
import { readCodeSize } from '#settlement/chain/code-size.ts';
import { type Rpc, RpcUnavailable } from '#settlement/chain/rpc.ts';
import { isPresentEdition } from '#settlement/contract/contract-edition.ts';
import type { NetworkConfig } from '#settlement/networks.ts';
import type { Hex } from '#settlement/requests.ts';

/** @throws StartError: nothing, or another contract, is at an address. @throws RpcUnavailable */
export async function requireContracts(
  { config, rpc }: { readonly config: NetworkConfig; readonly rpc: Rpc },
  setting: string,
): Promise<void> {
  const { settlement, usdc } = config;
  for (const address of [settlement, usdc]) {
    const code = await rpc.call('eth_getCode', [address, 'latest']);
    if (code === '0x') {
      if ((await readCodeSize(rpc, address)) > 0n) {
        throw new RpcUnavailable('a node does not give the code of a contract that is there');
      }
      throw new StartError(`there is no contract at ${address} on the chain of ${setting}`);
    }
    if (address !== settlement || isPresentEdition(code as Hex)) continue;
    throw new StartError(
      `the contract at ${settlement} on the chain of ${setting} is no settlement contract of ` +
        'this release: deploy one with npm run chain -- deploy',
    );
  }
}
