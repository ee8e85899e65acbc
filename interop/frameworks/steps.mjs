// How a client program tells what came of its steps, one JSON line for each.

/** Does the steps, functions that give what was said, in their order. */
export async function run(steps) {
  for (const [step, does] of Object.entries(steps)) {
    try {
      tell({ step, ok: true, said: String(await within(30_000, does())) });
    } catch (e) {
      if (process.env.A2A_INTEROP_DEBUG) console.error(e);
      tell({ step, ok: false, said: `${e.name}: ${e.message}` });
    }
  }
  process.exit(0); // some frameworks keep connections open
}

/** What an error says that has to come. */
export async function refusal(promise) {
  try {
    return `no error: ${await promise}`;
  } catch (e) {
    return e.message;
  }
}

function tell(line) {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

function within(ms, promise) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error('nothing came in time')), ms);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}
