import { isCovered, PDF_FONTS, pdfText } from '#apis/pay/receipt-fonts.ts';
import { cellsOf } from '#apis/pay/receipt-plain-text.ts';
import { visualRuns } from '#apis/pay/visual-runs.ts';

/** Font A of receipt printers, in dots: a line has 384 for 32 characters, or 576 for 48. */
const CELL = { width: 12, height: 28 };
const BASELINE = 21;
const FONT_SIZE = 20;
/** Lines at which a dot's row is measured. */
const SAMPLES = 4;
/** Share of a dot that a letter covers, from which it is printed. */
const THRESHOLD = 0.4;
/** Straight parts of a curve. Letters are 20 dots high, so more would not show. */
const CURVE_PARTS = 5;

interface Point {
  readonly x: number;
  readonly y: number;
}

interface Edge {
  readonly from: Point;
  readonly to: Point;
}

const FONTS = new Map(PDF_FONTS.map(({ name, font }) => [name, font]));

/** True if the fonts have every letter of the text. */
export function canDraw(text: string): boolean {
  return text.split('\n').every((line) => isCovered(pdfText(line)));
}

/**
 * Draws a receipt's lines for a printer that lacks their letters, as a bitmap in the format PBM.
 * Each line is 28 dots high, and its words stay in their columns. Call it only if `canDraw`.
 */
export function receiptDrawing(text: string, columns: number): Buffer {
  const lines = text.split('\n');
  const [width, height] = [columns * CELL.width, lines.length * CELL.height];
  const rows = lines.map((line) => drawnLine(line, width));
  return Buffer.concat([Buffer.from(`P4\n${width} ${height}\n`), ...rows]);
}

function drawnLine(line: string, width: number): Buffer {
  const edges: Edge[] = [];
  for (const { 0: part, index } of line.matchAll(/\S+(?: \S+)*/g)) {
    const left = cellsOf(line.slice(0, index)) * CELL.width;
    edges.push(...edgesOf(part, { left, room: cellsOf(part) * CELL.width }));
  }
  const dots = Buffer.alloc((width / 8) * CELL.height);
  for (let y = 0; y < CELL.height; y++) {
    coverage(edges, y, width).forEach((share, x) => {
      if (share < THRESHOLD) return;
      const at = y * (width / 8) + (x >> 3);
      dots[at] = (dots[at] ?? 0) | (0x80 >> (x & 7));
    });
  }
  return dots;
}

/** Returns the outlines of a part of a line, no wider than its cells. */
function edgesOf(part: string, { left, room }: { left: number; room: number }): Edge[] {
  const edges: Edge[] = [];
  let pen = 0;
  for (const { text, name } of visualRuns(part, 'ltr')) {
    const font = FONTS.get(name);
    if (font === undefined) continue;
    const scale = FONT_SIZE / font.unitsPerEm;
    const { glyphs, positions } = font.layout(text);
    glyphs.forEach((glyph, at) => {
      const { xAdvance = 0, xOffset = 0, yOffset = 0 } = positions[at] ?? {};
      const shifted = ({ x, y }: Point): Point => ({
        x: pen + (x + xOffset) * scale,
        y: BASELINE - (y + yOffset) * scale,
      });
      for (const { from, to } of outline(glyph.path.commands)) {
        edges.push({ from: shifted(from), to: shifted(to) });
      }
      pen += xAdvance * scale;
    });
  }
  const squeeze = Math.min(1, room / pen);
  const shown = ({ x, y }: Point): Point => ({ x: left + x * squeeze, y });
  return edges.map(({ from, to }) => ({ from: shown(from), to: shown(to) }));
}

interface PathCommand {
  readonly command: string;
  readonly args: readonly number[];
}

/** Returns a glyph's closed outlines as straight edges. */
function outline(commands: readonly PathCommand[]): Edge[] {
  const edges: Edge[] = [];
  let [start, at]: [Point, Point] = [
    { x: 0, y: 0 },
    { x: 0, y: 0 },
  ];
  const lineTo = (to: Point) => {
    edges.push({ from: at, to });
    at = to;
  };
  for (const { command, args } of commands) {
    const points = pointsOf(args);
    const [first = start] = points;
    if (command === 'moveTo') [start, at] = [first, first];
    else if (command === 'closePath') lineTo(start);
    else for (const point of curve([at, ...points])) lineTo(point);
  }
  return edges;
}

function pointsOf(args: readonly number[]): Point[] {
  const points: Point[] = [];
  for (let at = 0; at < args.length; at += 2)
    points.push({ x: args[at] ?? 0, y: args[at + 1] ?? 0 });
  return points;
}

/** Returns points on a Bézier curve of any degree (de Casteljau); a line is one of degree 1. */
function curve(control: readonly Point[]): Point[] {
  const parts = control.length === 2 ? 1 : CURVE_PARTS;
  return Array.from({ length: parts }, (_, part) => {
    const share = (part + 1) / parts;
    let points = control;
    while (points.length > 1) {
      points = points.slice(1).map((to, at) => {
        const from = points[at] ?? to;
        return { x: from.x + (to.x - from.x) * share, y: from.y + (to.y - from.y) * share };
      });
    }
    return points[0] ?? { x: 0, y: 0 };
  });
}

/** Returns the share of each dot of a row that is inside the outlines (nonzero winding). */
function coverage(edges: readonly Edge[], row: number, width: number): Float64Array {
  const shares = new Float64Array(width);
  for (let sample = 0; sample < SAMPLES; sample++) {
    const y = row + (sample + 0.5) / SAMPLES;
    const crossings = edges
      .filter(({ from, to }) => from.y <= y !== to.y <= y)
      .map(({ from, to }) => ({
        x: from.x + ((y - from.y) / (to.y - from.y)) * (to.x - from.x),
        turn: from.y < to.y ? 1 : -1,
      }))
      .sort((one, other) => one.x - other.x);
    let winding = 0;
    crossings.forEach(({ x, turn }, at) => {
      winding += turn;
      if (winding !== 0) fill(shares, x, crossings[at + 1]?.x ?? x);
    });
  }
  return shares;
}

function fill(shares: Float64Array, from: number, to: number): void {
  const end = Math.min(to, shares.length);
  for (let x = Math.max(0, Math.floor(from)); x < end; x++) {
    const covered = Math.min(x + 1, to) - Math.max(x, from);
    shares[x] = (shares[x] ?? 0) + covered / SAMPLES;
  }
}
