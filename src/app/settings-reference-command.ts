import { writeFile } from 'node:fs/promises';
import { envExample, settingsPage } from '#app/settings-reference.ts';

/** `npm run settings-reference` writes docs/settings.md and `.env.example` from `src/settings`. */
await writeFile('docs/settings.md', settingsPage());
await writeFile('.env.example', envExample());
