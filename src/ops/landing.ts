import { createHash } from 'node:crypto';
import { STYLE } from '#ops/reference-style.ts';

/** What `/` shows until the web apps stand there: where everything is. */
export const LANDING_PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Tapline</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>Tapline</h1>
<p>A payment network for physical stores: tap, settle in USDC, signed webhooks. It is running.</p>
<ul>
<li><a href="/docs">API reference</a></li>
<li><a href="/openapi.json">openapi.json</a>, for tools</li>
<li><a href="/readyz">Readiness</a> of the database and the chains</li>
</ul>
</main>
</body>
</html>
`;

const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64');

/** Its own style and nothing else. */
export const LANDING_POLICY =
  `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; base-uri 'none'; ` +
  "form-action 'none'; frame-ancestors 'none'";
