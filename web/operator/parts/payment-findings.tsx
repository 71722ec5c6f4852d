import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { fromRoot } from '../../data/root-path.ts';
import type { ReadAnyPaymentResponse } from '../../data/types/operator.ts';
import { Notice } from '../../ui/notice.tsx';
import { Time } from '../../ui/time.tsx';
import { FINDING_WORDS } from './finding-words.ts';

type Finding = ReadAnyPaymentResponse['findings'][number];

function Said({ finding: { code, since, about } }: { readonly finding: Finding }): ReactNode {
  const { tone, title, say, todo, page } = FINDING_WORDS[code];
  return (
    <Notice tone={tone}>
      <strong>{title}</strong>
      <p>{say}</p>
      {todo === undefined ? null : <p>{todo}</p>}
      <p className="small">
        {since === null ? null : <Time at={since} shape="exact" />}
        {about === null ? null : <span className="id"> {about}</span>}
      </p>
      {page === undefined ? null : (
        <p>
          <Link href={page[1]}>{page[0]}</Link>
        </p>
      )}
    </Notice>
  );
}

export function Findings({ findings }: { readonly findings: readonly Finding[] }): ReactNode {
  const { href } = fromRoot('docs/operate#a-payment-that-hangs');
  return (
    <section className="stack" aria-label="Status">
      {findings.map((finding) => (
        <Said key={`${finding.code} ${finding.about}`} finding={finding} />
      ))}
      <p className="soft small">
        <a href={href} target="_blank" rel="noreferrer">
          What to do about a stuck payment
        </a>
      </p>
    </section>
  );
}
