"""How a client program tells what came of its steps, one JSON line for each."""

import asyncio
import json
import os
import traceback

# What frameworks print, from threads of theirs too, must not stand in the midst of a line.
told = os.fdopen(os.dup(1), 'w')
os.dup2(2, 1)


def tell(step, ok, said):
    print(json.dumps({'step': step, 'ok': ok, 'said': said}), file=told, flush=True)


async def run(steps):
    """Does the steps, functions that give what was said, in their order."""
    for name, step in steps.items():
        try:
            said = await asyncio.wait_for(step(), 30)
            tell(name, True, str(said))
        except BaseException as e:  # noqa: BLE001 - SDKs raise groups and cancellations
            if os.environ.get('A2A_INTEROP_DEBUG'):
                traceback.print_exc()
            tell(name, False, f'{type(e).__name__}: {e}')
