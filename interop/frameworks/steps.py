"""How a client program tells what came of its steps, one JSON line for each."""

import asyncio
import json
import os
import traceback


async def run(steps):
    """Does the steps, functions that give what was said, in their order."""
    for name, step in steps.items():
        try:
            said = await asyncio.wait_for(step(), 30)
            print(json.dumps({'step': name, 'ok': True, 'said': str(said)}), flush=True)
        except BaseException as e:  # noqa: BLE001 - SDKs raise groups and cancellations
            if os.environ.get('A2A_INTEROP_DEBUG'):
                traceback.print_exc()
            print(json.dumps({'step': name, 'ok': False, 'said': f'{type(e).__name__}: {e}'}), flush=True)
