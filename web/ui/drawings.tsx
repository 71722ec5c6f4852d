import type { ReactNode } from 'react';
import './drawings.css';

/** Drawings for empty states, in one style: two tones and one line width. */
const DRAWINGS = {
  /** A receipt with coins beside it. */
  sales: {
    soft: 'M34 12h44v54l-7-5-8 5-7-5-7 5-8-5-7 5z',
    line:
      'M34 12h44v54l-7-5-8 5-7-5-7 5-8-5-7 5zM44 26h24M44 36h24M44 46h14' +
      'M88 62a9 5 0 1 0 18 0a9 5 0 1 0-18 0M88 62v7a9 5 0 0 0 18 0v-7',
  },
  /** A clear desk in the morning. */
  calm: {
    soft: 'M40 54a20 20 0 0 1 40 0z',
    line: 'M40 54a20 20 0 0 1 40 0M18 54h84M30 66h60M60 16v8M33 27l5 5M87 27l-5 5',
  },
  /** A letter in flight. */
  post: {
    soft: 'M38 22h54v38H38z',
    line: 'M38 22h54v38H38zM38 24l27 21 27-21M14 32h14M20 42h10M14 52h14',
  },
  /** A magnifying glass over a list without a match. */
  search: {
    soft: 'M50 40a17 17 0 1 0 34 0a17 17 0 1 0-34 0',
    line: 'M50 40a17 17 0 1 0 34 0a17 17 0 1 0-34 0M79 53l14 14M22 24h18M22 40h16M22 56h22',
  },
} as const;

export type DrawingName = keyof typeof DRAWINGS;

/** Decorative, because the text below has the same meaning. */
export default function DrawnEmpty({ name }: { readonly name: DrawingName }): ReactNode {
  const { soft, line } = DRAWINGS[name];
  return (
    <svg viewBox="0 0 120 80" aria-hidden="true">
      <path className="empty-soft" d={soft} />
      <path className="empty-line" d={line} />
    </svg>
  );
}
