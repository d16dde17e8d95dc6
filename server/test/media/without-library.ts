// Renders files in a Node that lacks packages: node without-library.ts PACKAGE,PACKAGE OUT_DIR [MIME PATH]...
import { registerHooks } from 'node:module';
import { renderFile } from '../../src/media/render-file.ts';

const [, , missing = '', outDir = '', ...files] = process.argv;
registerHooks({
  resolve(specifier, context, next) {
    const lacking = missing.split(',').find((name) => specifier === name || specifier.startsWith(`${name}/`));
    // A name that does not exist, so that Node fails as for a package that is not installed.
    return next(lacking === undefined ? specifier : `${lacking}-that-is-not-installed`, context);
  },
});
for (let at = 0; at < files.length; at += 2) {
  try {
    const { ladder } = await renderFile({ mime: files[at] ?? '', path: files[at + 1] ?? '' }, [], outDir);
    console.log(ladder.outcome);
  } catch (error) {
    console.log(error instanceof Error && 'code' in error ? error.code : error);
  }
}
