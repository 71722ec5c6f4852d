import { type ReactNode, useState } from 'react';
import { Amount } from '../../ui/amount.tsx';
import { Button } from '../../ui/button.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Facts } from '../../ui/table.tsx';
import type { Hex } from '../bytes.ts';
import { type ChainNode, type ChainTruth, formatCoin, OtherChain, readChain } from '../chain.ts';
import type { ChainFacts } from '../signing.ts';
import { Refused } from './refused.tsx';

export interface ChainTruthProps {
  readonly node: ChainNode | null;
  readonly chain: ChainFacts;
  readonly address: Hex;
  readonly truth: ChainTruth | null;
  readonly onRead: (truth: ChainTruth) => void;
}

const idOf = (text: string) => <span className="id">{text}</span>;

const NODES: Readonly<Record<ChainNode['kind'], string>> = {
  browser_wallet: 'Your browser wallet’s node',
  public_node: 'The public node',
};

function otherChain({ kind }: ChainNode, { chainId }: ChainFacts): string {
  return kind === 'browser_wallet'
    ? `Your browser wallet is on another chain. Switch it to chain ${chainId}.`
    : `The public node is not on chain ${chainId}. Don’t trust its answers.`;
}

/** What the chain itself says, where there is somebody to ask. */
export function ChainTruthPart(props: ChainTruthProps): ReactNode {
  const { node, chain, address, truth, onRead } = props;
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  if (node === null) {
    return (
      <Notice tone="info">
        A browser with a wallet extension can ask that wallet’s node. In this browser, look up the
        token in a block explorer and read its allowance:
        <Facts
          facts={[
            ['Token', idOf(chain.usdc)],
            ['Owner', idOf(address)],
            ['Spender', idOf(chain.settlement)],
          ]}
        />
      </Notice>
    );
  }
  const ask = async () => {
    setBusy(true);
    setProblem(null);
    try {
      onRead(await readChain(node, chain, address));
    } catch (error) {
      setProblem(
        error instanceof OtherChain
          ? otherChain(node, chain)
          : `${NODES[node.kind]} did not answer.`,
      );
    }
    setBusy(false);
  };
  return (
    <>
      {truth === null ? null : (
        <Facts
          facts={[
            ['Can be taken', <Amount exact key="allowance" atoms={truth.allowance} />],
            ['In the wallet', <Amount exact key="balance" atoms={truth.balance} />],
            ['Gas balance', formatCoin(truth.coin)],
          ]}
        />
      )}
      {node.kind === 'public_node' ? (
        <p className="soft small">
          Read from <span className="id">{new URL(chain.rpcUrl ?? '').host}</span>, a node that is
          not this service’s own.
        </p>
      ) : null}
      <Refused problem={problem} />
      <div className="row">
        <Button busy={busy} onClick={ask}>
          {truth === null ? 'Ask the chain' : 'Ask the chain again'}
        </Button>
      </div>
    </>
  );
}
