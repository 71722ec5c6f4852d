/** Computes the relative luminance that WCAG 2.2 defines. `color` is six hex digits. */
function luminance(color: string): number {
  const [red = 0, green = 0, blue = 0] = [0, 2, 4].map((at) => {
    const part = Number.parseInt(color.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/**
 * Returns black or white, whichever contrasts more with the color. The contrast is always at least
 * 4.5 to 1.
 */
export function inkOn(color: string): 'ffffff' | '000000' {
  const light = luminance(color);
  return 1.05 / (light + 0.05) >= (light + 0.05) / 0.05 ? 'ffffff' : '000000';
}

const STYLE = /^([0-9a-f]{6}|none)-([0-9a-f]{32}|none)$/;

/**
 * Returns a brand's style sheet. It depends only on the name, which contains the color and the
 * logo. Elements with the class `branded` get the color and the logo. The logo is decoration; the
 * merchant's name appears next to it as text.
 * @returns null if the name is not valid.
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
  // Browsers do not print backgrounds by default, and white text on white paper would be
  // unreadable.
  const paper = '@media print{.branded{background:none;color:#000;padding:0}}';
  return `${band}${picture}${paper}`;
}

/** Returns the relative URL of the brand's style sheet. */
export function brandPath(style: string): string {
  return `brand/${style}.css`;
}

/** Links the brand's style sheet in the page's HTML, so that the first paint already uses it. */
export function withBrand(html: string, style: string | null): string {
  if (style === null) return html;
  return html.replace('</head>', `<link rel="stylesheet" href="${brandPath(style)}">\n</head>`);
}
