// Writes down how the tests of node:test end, beside the runner's own reporter.
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';

const isSet = (value) => value !== undefined && value !== false;

export default async function* report(events) {
  const folder = process.env.SEGUE_TEST_REPORT;
  const place = folder ? join(folder, `node-${process.pid}.jsonl`) : undefined;
  const names = [];
  for await (const { type, data } of events) {
    if (place === undefined || data === undefined) continue;
    if (type === 'test:start') {
      names.length = data.nesting;
      names[data.nesting] = data.name;
    } else if ((type === 'test:pass' || type === 'test:fail') && data.details?.type !== 'suite') {
      const isLeftOut = isSet(data.skip) || isSet(data.todo);
      const outcome = isLeftOut ? 'skipped' : type === 'test:pass' ? 'passed' : 'failed';
      const error = data.details?.error?.cause ?? data.details?.error;
      const reason = error === undefined ? '' : `${error?.name ?? ''}: ${error?.message ?? error}`.slice(0, 300);
      const value = { file: data.file ?? '', names: [...names.slice(0, data.nesting), data.name], outcome, reason };
      appendFileSync(place, `${JSON.stringify(value)}\n`);
    }
  }
  yield '';
}
