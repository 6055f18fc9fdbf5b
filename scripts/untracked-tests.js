// Keeps node:test from tracking each promise back to its test, which takes up to half of the time of the engine's tests.
// An error that no test catches then fails the whole process, not one test. Plain JavaScript: Node loads it before the tests.

import hooks from 'node:async_hooks';

const { createHook } = hooks;

/** node:test is the first to ask for a hook, and gets one that does nothing. */
hooks.createHook = () => {
  hooks.createHook = createHook;
  return createHook({});
};

/** node:test prints only the message. */
function printWhole(error) {
  process.stderr.write(`no test caught: ${error instanceof Error ? error.stack : error}\n`);
}

process.on('uncaughtExceptionMonitor', printWhole);
process.on('unhandledRejection', printWhole);
