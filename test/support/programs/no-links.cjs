// Loaded into a program before its own: its file system has no hard links, as exFAT has none.

const fs = require('node:fs');
const { syncBuiltinESMExports } = require('node:module');

fs.linkSync = (from, to) => {
  throw Object.assign(new Error(`EPERM: operation not permitted, link '${from}' -> '${to}'`), { code: 'EPERM' });
};
syncBuiltinESMExports();
