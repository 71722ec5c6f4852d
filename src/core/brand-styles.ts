/** WCAG 2.2, relative luminance. `color`: six hex digits. */
function luminance(color: string): number {
  const [red = 0, green = 0, blue = 0] = [0, 2, 4].map((at) => {
    const part = Number.parseInt(color.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** Black or white, whichever reads better on that color: always at least 4.5 to 1. */
export function inkOn(color: string): 'ffffff' | '000000' {
  const light = luminance(color);
  return 1.05 / (light + 0.05) >= (light + 0.05) / 0.05 ? 'ffffff' : '000000';
}

const STYLE = /^([0-9a-f]{6}|none)-([0-9a-f]{32}|none)$/;

/**
 * The styles that a brand's file holds, made of its name alone: whatever has the class `branded`
 * gets color and logo. The logo is decoration: the merchant's name stands beside it as text.
 * @returns null: nothing has that name.
 */
export function brandStyles(style: string): string | null {
  const [, color, logo] = STYLE.exec(style) ?? [];
  if (color === undefined) return null;
  const band =
    color === 'none'
      ? ''
      : `.branded{background:#${color};color:#${inkOn(color)};border-radius:12px;` +
        'text-align:center;padding:var(--brand-padding,12px 16px)}';
  const picture =
    logo === 'none'
      ? ''
      : '.branded::before{content:"";display:block;block-size:var(--brand-logo,48px);' +
        'min-inline-size:var(--brand-logo-width,6rem);margin-block-end:var(--brand-gap,8px);' +
        `background:url("${logo}.png") center/contain no-repeat;print-color-adjust:exact}`;
  // Browsers print no backgrounds unless told to: white on white could not be read.
  const paper = '@media print{.branded{background:none;color:#000;padding:0}}';
  return `${band}${picture}${paper}`;
}

/** Where the styles are, from the root of the service. */
export function brandPath(style: string): string {
  return `brand/${style}.css`;
}

/** The page with the brand's styles, so that it is painted with them at once. */
export function withBrand(html: string, style: string | null): string {
  if (style === null) return html;
  return html.replace('</head>', `<link rel="stylesheet" href="${brandPath(style)}">\n</head>`);
}
