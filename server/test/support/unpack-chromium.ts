// Unpacks the Chromium that npm brought, with the system libraries and fonts it needs on a bare machine, into the
// directory named by TMPDIR, which is where the package unpacks to. A process of its own, so that it alone sees it.
import { join } from 'node:path';
import chromium, { inflate } from '@sparticuz/chromium';

const packed = join(import.meta.dirname, '../../../node_modules/@sparticuz/chromium/bin');
await chromium.executablePath();
await inflate(join(packed, 'al2023.tar.br'));
