// Renders a file in a Node that lacks a package: node without-library.ts PACKAGE MIME PATH OUT_DIR
import { registerHooks } from 'node:module';
import { renderFile } from '../../src/media/render-file.ts';

const [, , missing = '', mime = '', path = '', outDir = ''] = process.argv;
registerHooks({
  resolve(specifier, context, next) {
    const isMissing = specifier === missing || specifier.startsWith(`${missing}/`);
    // A name that does not exist, so that Node fails as for a package that is not installed.
    return next(isMissing ? `${missing}-that-is-not-installed` : specifier, context);
  },
});
try {
  const { ladder } = await renderFile({ path, mime }, [], outDir);
  console.log(ladder.outcome);
} catch (error) {
  console.log(error instanceof Error && 'code' in error ? error.code : error);
}
