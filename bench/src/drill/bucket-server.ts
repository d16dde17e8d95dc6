// The S3 service from npm as a process of its own, which a drill can kill: bucket-server.ts PORT DIRECTORY.
import { startFauxqs } from 'fauxqs';

const [port, dataDir = ''] = process.argv.slice(2);
await startFauxqs({ port: Number(port), dataDir, logger: false });
// Ends with the drill, even if that is killed.
process.stdin.on('end', () => process.exit()).resume();
console.log('listening');
