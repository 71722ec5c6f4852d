import type { ReactNode } from 'react';
import { encode } from 'uqr';
import './qr.css';

export interface QrProps {
  readonly 'data-name'?: string;
  readonly value: string;
  /** The target of the code, for screen readers. */
  readonly label: string;
}

/** Draws a QR code, always dark on light with a quiet zone, which many scanners require. */
export function Qr({ value, label, ...names }: QrProps): ReactNode {
  const { data, size } = encode(value, { ecc: 'M', border: 4 });
  const path = data
    .flatMap((row, y) => row.map((dark, x) => (dark ? `M${x} ${y}h1v1h-1z` : '')))
    .join('');
  return (
    <svg className="qr" viewBox={`0 0 ${size} ${size}`} role="img" aria-label={label} {...names}>
      <rect width={size} height={size} fill="#fff" />
      <path d={path} fill="#000" shapeRendering="crispEdges" />
    </svg>
  );
}
