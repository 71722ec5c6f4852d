import type { ReactNode } from 'react';
import { encode } from 'uqr';
import './qr.css';

export interface QrProps {
  readonly value: string;
  /** What one gets by scanning it. */
  readonly label: string;
}

/** Always dark on light, with its quiet zone: scanners read nothing else well. */
export function Qr({ value, label }: QrProps): ReactNode {
  const { data, size } = encode(value, { ecc: 'M', border: 4 });
  const path = data
    .flatMap((row, y) => row.map((dark, x) => (dark ? `M${x} ${y}h1v1h-1z` : '')))
    .join('');
  return (
    <svg className="qr" viewBox={`0 0 ${size} ${size}`} role="img" aria-label={label}>
      <rect width={size} height={size} fill="#fff" />
      <path d={path} fill="#000" shapeRendering="crispEdges" />
    </svg>
  );
}
