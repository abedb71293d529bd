let isReady = false;

/**
 * Writes to standard output, which is opened when something is first written: a daemon says nothing there, and opening it
 * is a tenth of the time in which a cached configuration is put in place. A reader that has seen enough, as head has, is
 * no error, and nothing for a daemon to end of.
 */
export function writeOut(text: string): void {
  if (!isReady) {
    isReady = true;
    process.stdout.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
    });
  }
  process.stdout.write(text);
}
