// Asks Jest and Vitest for a report in a file, beside what they print. Other programs are left as they are.
'use strict';
const folder = process.env.SEGUE_TEST_REPORT;
const script = (process.argv[1] || '').replace(/\\/g, '/');
const is = (name) => new RegExp(`(^|/)${name}(\\.(js|cjs|mjs))?$`).test(script);
const has = (name) => process.argv.some((word) => word === name || word.startsWith(`${name}=`));
const add = (...words) => {
  const end = process.argv.indexOf('--');
  process.argv.splice(end < 0 ? process.argv.length : end, 0, ...words);
};
const isMain = require('node:worker_threads').isMainThread;
if (folder && isMain && is('jest') && !has('--json') && !has('--outputFile')) {
  add('--json', `--outputFile=${folder}/jest-${process.pid}.json`);
} else if (folder && isMain && is('vitest') && !has('--reporter') && !has('--outputFile')) {
  const file = `--outputFile.json=${folder}/vitest-${process.pid}.json`;
  add('--reporter=default', '--reporter=json', file);
}
