import { t } from '../../ui/text/t.ts';
import { CARD, type Words } from './tag-files.ts';

/** Resolution of the card: 300 dots per inch. */
const DOTS_PER_POINT = 300 / 72;
const MARGIN = 20;
const FONT = 'system-ui, sans-serif';

export interface CardWords {
  readonly shop: string;
  readonly terminal: string;
  readonly url: string;
  readonly isTest: boolean;
}

interface Line {
  readonly text: string;
  /** Distance from the top of the card to the middle of the line, in points. */
  readonly at: number;
  readonly size: number;
  readonly weight: 400 | 700;
  /** Maximum number of lines; a long name may take two. */
  readonly lines: number;
}

function linesOf({ shop, terminal, url, isTest }: CardWords): readonly Line[] {
  return [
    { text: shop, at: 66, size: 24, weight: 700, lines: 2 },
    { text: t('dashboard.tag.scan_or_hold'), at: 332, size: 13, weight: 400, lines: 1 },
    { text: terminal, at: 356, size: 11, weight: 700, lines: 1 },
    { text: url, at: 378, size: 8, weight: 400, lines: 1 },
    ...(isTest
      ? [
          {
            text: t('dashboard.tag.test'),
            at: 400,
            size: 9,
            weight: 700,
            lines: 1,
          } as const,
        ]
      : []),
  ];
}

/**
 * Breaks a text into as few lines as possible, at most `lines`. A word that is too long stays
 * whole.
 */
function broken(context: CanvasRenderingContext2D, { text, lines }: Line, width: number): string[] {
  const fits = (some: string) => context.measureText(some).width <= width;
  const wrapped: string[] = [];
  let line = '';
  for (const word of text.split(/\s+/)) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (fits(longer) || line === '' || wrapped.length === lines - 1) line = longer;
    else {
      wrapped.push(line);
      line = word;
    }
  }
  return [...wrapped, line];
}

function drawLine(context: CanvasRenderingContext2D, line: Line): void {
  const width = CARD.width - 2 * MARGIN;
  const font = (size: number) => `${line.weight} ${size}px ${FONT}`;
  context.font = font(line.size);
  const parts = broken(context, line, width);
  const widest = Math.max(...parts.map((part) => context.measureText(part).width));
  const size = line.size * Math.min(1, width / widest);
  context.font = font(size);
  const lineHeight = size * 1.2;
  for (const [index, part] of parts.entries()) {
    const y = line.at + (index - (parts.length - 1) / 2) * lineHeight;
    context.fillText(part, CARD.width / 2, y);
  }
}

/** Draws everything on a card except the code, with the browser's fonts. */
export function drawWords(words: CardWords): Words {
  const canvas = document.createElement('canvas');
  canvas.width = Math.round(CARD.width * DOTS_PER_POINT);
  canvas.height = Math.round(CARD.height * DOTS_PER_POINT);
  const { width, height } = canvas;
  const context = canvas.getContext('2d', { willReadFrequently: true });
  if (context === null) throw new Error('This browser cannot create images');
  context.fillStyle = '#fff';
  context.fillRect(0, 0, width, height);
  context.scale(DOTS_PER_POINT, DOTS_PER_POINT);
  context.fillStyle = '#000';
  context.textAlign = 'center';
  context.textBaseline = 'middle';
  for (const line of linesOf(words)) drawLine(context, line);
  const { data } = context.getImageData(0, 0, width, height);
  // For black on white, each color channel equals the gray value.
  const gray = Uint8Array.from({ length: width * height }, (_, index) => data[index * 4] ?? 255);
  return { width, height, gray };
}
