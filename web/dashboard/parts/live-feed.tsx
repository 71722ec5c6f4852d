import { type ReactNode, useEffect, useState } from 'react';
import { fromRoot } from '../../data/root.ts';
import { Time } from '../../ui/time.tsx';
import { useMerchant } from '../merchant.ts';
import { EVENT_TYPES } from './event-types.ts';
import { ObjectLink } from './object-link.tsx';

/** As many as a glance takes in. */
const SHOWN = 10;

interface Seen {
  readonly id: string;
  readonly type: string;
  readonly created: string;
}

/** What happens, while it happens. */
export function LiveFeed(): ReactNode {
  const { account, mode } = useMerchant();
  const [seen, setSeen] = useState<readonly Seen[]>([]);
  const path = `api/dashboard/v1/accounts/${account.id}/${mode}/feed`;
  useEffect(() => {
    setSeen([]);
    const source = new EventSource(fromRoot(path));
    const take = ({ data }: MessageEvent) => {
      const event = JSON.parse(String(data)) as Seen;
      setSeen((before) => [event, ...before].slice(0, SHOWN));
    };
    for (const type of EVENT_TYPES) source.addEventListener(type, take);
    return () => source.close();
  }, [path]);
  return (
    <section className="card stack">
      <h2>Now</h2>
      {seen.length === 0 ? (
        <p className="soft">What happens from now on appears here.</p>
      ) : (
        <ul className="stack stack-tight">
          {seen.map(({ id, type, created }) => (
            <li key={id} className="row">
              <strong>{type}</strong>
              <ObjectLink id={id} />
              <span className="soft small">
                <Time at={created} shape="exact" />
              </span>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
