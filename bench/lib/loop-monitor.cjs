// Preloaded into the process under test (node --require): appends to the file named by BIRDFEED_BENCH_LOOP one line
// "END LENGTH WAITED" per time that the event loop did not turn for 3 ms and more. END is milliseconds since the epoch;
// WAITED is the part of LENGTH during which the thread was ready to run and had no CPU (proc(5), schedstat): that is the
// machine's doing and not the program's.
//
// Ticking every millisecond keeps a CPU awake, so nothing else is measured in the same run.

const { appendFileSync, readFileSync } = require('node:fs');

const file = process.env.BIRDFEED_BENCH_LOOP;
const schedstat = `/proc/self/task/${process.pid}/schedstat`;
const waited = () => Number(readFileSync(schedstat, 'latin1').split(' ')[1]) / 1e6;
let last = performance.now();
let lastWaited = waited();

if (file !== undefined) {
  setInterval(() => {
    const now = performance.now();
    const nowWaited = waited();
    const length = now - last - 1;
    if (length >= 3) {
      appendFileSync(file, `${performance.timeOrigin + now} ${length} ${nowWaited - lastWaited}\n`);
    }
    last = performance.now();
    lastWaited = nowWaited;
  }, 1).unref();
}
