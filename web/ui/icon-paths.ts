import { icons } from '@iconify-json/lucide';

/** Runs in the build: converts a Lucide drawing to a single path. */

type Attributes = Readonly<Record<string, string>>;

const SHAPE = /<(path|rect|circle)\s([^>]*?)\/?>/g;

function attributesIn(text: string): Attributes {
  return Object.fromEntries(
    [...text.matchAll(/([\w-]+)="([^"]*)"/g)].map(([, name, value]) => [name, value]),
  );
}

function rectPath({ x = '0', y = '0', width, height, rx = '0' }: Attributes): string {
  const [w, h, r] = [Number(width), Number(height), Number(rx)];
  const corner = (dx: number, dy: number) => `a${r} ${r} 0 0 1 ${dx} ${dy}`;
  const [across, down] = [w - 2 * r, h - 2 * r];
  return (
    `M${Number(x) + r} ${y}h${across}${corner(r, r)}v${down}${corner(-r, r)}` +
    `h${-across}${corner(-r, -r)}v${-down}${corner(r, -r)}z`
  );
}

function circlePath({ cx, cy, r }: Attributes): string {
  const size = Number(r);
  const half = (dx: number) => `a${size} ${size} 0 1 0 ${dx} 0`;
  return `M${Number(cx) - size} ${cy}${half(2 * size)}${half(-2 * size)}`;
}

/** Makes a path's first step absolute, because it will follow another path. */
function ownPath({ d = '' }: Attributes): string {
  return d.startsWith('m') ? `M0 0${d}` : d;
}

function pathOf(name: string): string {
  const drawing = icons.icons[name];
  if (drawing === undefined) throw new Error(`Lucide has no drawing ${name}`);
  const shapes = [...drawing.body.matchAll(SHAPE)].map(([, shape, text = '']) => {
    const attributes = attributesIn(text);
    if (shape === 'rect') return rectPath(attributes);
    return shape === 'circle' ? circlePath(attributes) : ownPath(attributes);
  });
  // Only paths, rectangles and circles can be merged. Other elements would be lost.
  if (/<(?!\/?g\b|path|rect|circle|\/)/.test(drawing.body)) {
    throw new Error(`The drawing ${name} has a shape that nothing here reads`);
  }
  return shapes.join('');
}

/** Returns the path of each icon. @param names Icons by meaning: see icon-names.ts. */
export function iconPaths(names: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(names).map(([key, name]) => [key, pathOf(name)]));
}
