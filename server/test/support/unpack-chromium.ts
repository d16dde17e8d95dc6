// Unpacks Chromium from npm, with the system libraries and fonts that it needs on a bare machine, into the directory
// TMPDIR, where the package unpacks it. A separate process, so that TMPDIR changes only here.
import { join } from 'node:path';
import chromium, { inflate } from '@sparticuz/chromium';

const packed = join(import.meta.dirname, '../../../node_modules/@sparticuz/chromium/bin');
await chromium.executablePath();
await inflate(join(packed, 'al2023.tar.br'));
