import type { ReactNode } from 'react';
import type { ReadContractsResponse } from '../../data/types/operator.ts';
import { formatUsdc } from '../../ui/format-usdc.ts';
import { Notice } from '../../ui/notice.tsx';
import { Status } from '../../ui/status.tsx';
import { Fact, FactList } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';

type Contract = ReadContractsResponse['data'][number];
type State = NonNullable<Contract['state']>;

const usdc = (atoms: number) => formatUsdc(BigInt(atoms));

function Paused({ is }: { readonly is: boolean }): ReactNode {
  return is ? <Status tone="bad">Paused</Status> : <Status tone="good">Running</Status>;
}

const hourly = ({ per_hour: most, used }: State['sales']) => `${usdc(used)} of ${usdc(most)}`;

export function ContractState({ contract }: { readonly contract: Contract }): ReactNode {
  const { network, former, state } = contract;
  const where = former ? `${network}, former contract` : network;
  return (
    <details className="card" aria-label={`State on ${where}`}>
      <summary>
        On {where} now <Short state={state} />
      </summary>
      {state === null ? (
        <p className="soft">No node answers.</p>
      ) : (
        <div className="stack">
          <FactList>
            <Fact name="Settling">
              <Paused is={state.settling_paused} />
            </Fact>
            <Fact name="Refunds">
              <Paused is={state.refunding_paused} />
            </Fact>
            <Fact name="Sales in this hour">{hourly(state.sales)}</Fact>
            <Fact name="Refunds in this hour">{hourly(state.outflow)}</Fact>
            <Fact name="Held">{usdc(state.held)}</Fact>
            <Fact name="Owed to merchants">{usdc(state.owed)}</Fact>
            <Fact name="Fees, not collected">{usdc(state.fees)}</Fact>
            <Fact name="Left over">{usdc(state.held - state.owed - state.fees)}</Fact>
            {state.roles.length > 0 ? null : (
              <Fact name="Admin">
                <span className="id">{state.admin}</span>
              </Fact>
            )}
            {state.roles.map((holder) => (
              <Fact
                key={`${holder.role} ${holder.account}`}
                name={ROLE_NAMES[holder.role] ?? holder.role}
              >
                <Holder {...holder} />
              </Fact>
            ))}
          </FactList>
          <Announced announced={state.announced} />
        </div>
      )}
    </details>
  );
}

/** Shows the state collapsed, because the proposals below are more important. */
function Short({ state }: Pick<Contract, 'state'>): ReactNode {
  if (state === null) return <Status tone="warn">No node answers</Status>;
  const isPaused = state.settling_paused || state.refunding_paused;
  return (
    <>
      <Paused is={isPaused} />{' '}
      {state.announced.length === 0 ? null : <Status tone="warn">Change announced</Status>}
    </>
  );
}

const ROLE_NAMES: Readonly<Record<string, string>> = {
  admin: 'Admin',
  operator: 'Operator',
  registrar: 'Registrar',
  guardian: 'Guardian',
  watch: 'Watchtower',
  steward: 'Steward',
  treasurer: 'Treasurer',
  proposer: 'Proposer',
  executor: 'Executor',
  canceller: 'Canceller',
  unknown: 'Unknown role',
};

function Holder({ account, since }: State['roles'][number]): ReactNode {
  return (
    <>
      <span className="id">{account}</span>{' '}
      {since === null ? null : (
        <span className="soft">
          since <Time at={since} />
        </span>
      )}
    </>
  );
}

function Announced({ announced }: Pick<State, 'announced'>): ReactNode {
  if (announced.length === 0)
    return <p className="soft">No operation is scheduled and no wallet is announced.</p>;
  return (
    <Notice tone="warn">
      <strong>Announced</strong>
      {announced.map(({ operation, says, by, applicable_at: from }) => (
        <p key={operation ?? says}>
          {says} From <Time at={from} />,{' '}
          {operation === null ? (
            <>
              by <span className="id">{by}</span>.
            </>
          ) : (
            <>
              operation <span className="id">{operation}</span>.
            </>
          )}
        </p>
      ))}
    </Notice>
  );
}
