// Runs under whatever Node started npm, so it is plain JavaScript without newer syntax.
// Vitrine runs on the Node that the npm package `node` puts in node_modules/.bin; npm's scripts find it first.
const major = Number(process.versions.node.split('.')[0]);
if (major < 24) {
  console.error(
    `Vitrine needs Node 24, and this is ${process.versions.node}: the runtime that it brings is missing, because npm did ` +
      'not run the install script of the package `node`. Run `npm rebuild node --ignore-scripts=false`, or use Node 24.',
  );
  process.exit(1);
}
