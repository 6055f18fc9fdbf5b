// Loaded into a lead before its own program: kills it at one moment of the end of its team, `TOOLCREW_KILL_AT`.

const fs = require('node:fs');
const { syncBuiltinESMExports } = require('node:module');

const { renameSync, writeFileSync, rmSync } = fs;
const at = process.env.TOOLCREW_KILL_AT;

function strike(moment) {
  if (moment === at) process.kill(process.pid, 'SIGKILL');
}

fs.renameSync = (from, to) => {
  const isPutAway = String(to).includes('/.tool/teams/archive/');
  if (isPutAway) strike('before it is put away');
  renameSync(from, to);
  if (isPutAway) strike('when it is put away');
};
fs.writeFileSync = (path, ...rest) => {
  writeFileSync(path, ...rest);
  if (String(path).endsWith('/report.txt')) strike('when its report is written');
};
fs.rmSync = (path, ...rest) => {
  if (String(path).endsWith('/end')) strike('when all was said');
  rmSync(path, ...rest);
};
syncBuiltinESMExports();
