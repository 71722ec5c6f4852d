import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { fromRoot } from '../../data/root-path.ts';
import { Skeleton } from '../../ui/skeleton.tsx';
import { paragraphOf } from './runbook-paragraph.ts';

const GUIDE = 'docs/operate';

async function readGuide(): Promise<string> {
  const answer = await fetch(fromRoot(`${GUIDE}.md`));
  if (!answer.ok) throw new Error(`cannot load the guide: HTTP ${answer.status}`);
  return answer.text();
}

export function Runbook({ kind }: { readonly kind: string }): ReactNode {
  const [isOpen, setIsOpen] = useState(false);
  const { href } = fromRoot(`${GUIDE}#${kind}`);
  return (
    <details className="said" onToggle={(event) => setIsOpen(event.currentTarget.open)}>
      <summary>{kind}</summary>
      {isOpen ? <Paragraph kind={kind} /> : null}
      <a href={href} target="_blank" rel="noreferrer">
        In the guide
      </a>
    </details>
  );
}

function Paragraph({ kind }: { readonly kind: string }): ReactNode {
  const { data, error } = useQuery({
    queryKey: ['runbook'],
    queryFn: readGuide,
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (error !== null) return <p className="soft">The guide could not be loaded.</p>;
  if (data === undefined) return <Skeleton />;
  return <p>{paragraphOf(data, kind) ?? 'This release’s guide does not cover it.'}</p>;
}
