import type { ReactNode } from 'react';

export function Sheet({
  title,
  children,
}: {
  readonly title: string;
  readonly children: ReactNode;
}): ReactNode {
  return (
    <main className="sheet stack">
      <title>{`${title} · Tapline`}</title>
      <img className="desk-logo" src="icons/tapline.svg" alt="" />
      <h1>{title}</h1>
      {children}
    </main>
  );
}
